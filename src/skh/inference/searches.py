"""How `skh.fit` finds a maximum: a protocol, and the search that it uses by default."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from skh.inference.ascent import SCORING, SURFACE, TOO_NOISY, Ascent, Climber, Task
from skh.inference.fixed_particles import has_densities
from skh.inference.optimum import Optimum, optimum_of_one_run
from skh.inference.scoring import MISLED, Scoring
from skh.inference.surface import Surface


class Search(Protocol):
    """How `skh.fit` finds a maximum from one start: `Climbing`, `skh.EM`, `Scoring`, `Surface`."""

    def climb(self, task: Task, ascent: Ascent) -> Ascent:
        """Iterate at most ``task.most`` times, until ``ascent.outcome``."""
        ...

    def optimum(self, task: Task, ascent: Ascent) -> Optimum:
        """Tell the evidence around the best end, and how far it is off."""
        ...


@dataclass(frozen=True)
class Climbing:
    """The default search: maxima at fixed particles, or one for noisy evidence where it is that."""

    def climb(self, task: Task, ascent: Ascent) -> Ascent:
        """Climb until an optimum is reached."""
        if not ascent.search:
            ascent = Climber(task).climb(ascent)
        if (search := following(task, ascent)) is None:
            return ascent
        ascent = search.climb(task, ascent)
        if ascent.outcome == MISLED:
            best = max(ascent.steps, key=lambda step: step.log_evidence)
            z = task.bounds.free(best.parameters)
            ascent = Surface().climb(task, replace(ascent, z=z))
        return ascent

    def optimum(self, task: Task, ascent: Ascent) -> Optimum:
        """Tell it from one run, or as the search for noisy evidence does."""
        if ascent.search:
            return NOISY[ascent.search].optimum(task, ascent)
        return optimum_of_one_run(task, ascent)


NOISY: dict[str, Search] = {SCORING: Scoring(), SURFACE: Surface()}


def following(task: Task, ascent: Ascent) -> Search | None:
    """Return the search that goes on where fixed particles do not tell enough."""
    if ascent.search:
        return NOISY[ascent.search]
    if ascent.outcome != TOO_NOISY:
        return None
    return NOISY[SCORING if has_densities(task.problem.model(task.named(ascent.z))) else SURFACE]
