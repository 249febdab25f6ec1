"""How `skh.fit` finds a maximum: a protocol, and the search that it uses by default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from skh._typing import Array
from skh.inference.ascent import SCORING, SURFACE, TOO_NOISY, Ascent, Climber
from skh.inference.bounds import Bounds
from skh.inference.fixed_particles import has_densities
from skh.inference.optimum import Optimum, optimum_of_one_run
from skh.inference.problem import Problem
from skh.inference.scoring import MISLED, Scoring
from skh.inference.surface import Surface
from skh.inference.work import Work


class Search(Protocol):
    """How `skh.fit` finds a maximum from one start: `Climbing`, `skh.EM`, `Scoring`, `Surface`."""

    def climb(
        self,
        problem: Problem,
        bounds: Bounds,
        work: Work,
        ascent: Ascent,
        most: int,
        on_step: Callable[[Ascent], object],
    ) -> Ascent:
        """Iterate at most ``most`` times, reporting each iteration, until ``ascent.outcome``."""
        ...

    def optimum(self, problem: Problem, bounds: Bounds, ascent: Ascent, work: Work) -> Optimum:
        """Tell the evidence around the best end, and how far it is off."""
        ...


@dataclass(frozen=True)
class Climbing:
    """The default search: maxima at fixed particles, or one for noisy evidence where it is that."""

    def climb(
        self,
        problem: Problem,
        bounds: Bounds,
        work: Work,
        ascent: Ascent,
        most: int,
        on_step: Callable[[Ascent], object],
    ) -> Ascent:
        """Climb until an optimum is reached."""
        if not ascent.search:
            ascent = Climber(problem, bounds, work, most, on_step=on_step).climb(ascent)
        if (search := following(problem, bounds, ascent)) is None:
            return ascent
        ascent = search.climb(problem, bounds, work, ascent, most, on_step)
        if ascent.outcome == MISLED:
            best = replace(ascent, z=best_point(bounds, ascent))
            ascent = Surface().climb(problem, bounds, work, best, most, on_step)
        return ascent

    def optimum(self, problem: Problem, bounds: Bounds, ascent: Ascent, work: Work) -> Optimum:
        """Tell it from one run, or as the search for noisy evidence does."""
        if ascent.search:
            return NOISY[ascent.search].optimum(problem, bounds, ascent, work)
        return optimum_of_one_run(problem, bounds, ascent, work)


NOISY: dict[str, Search] = {SCORING: Scoring(), SURFACE: Surface()}


def following(problem: Problem, bounds: Bounds, ascent: Ascent) -> Search | None:
    """Return the search that goes on where fixed particles do not tell enough."""
    if ascent.search:
        return NOISY[ascent.search]
    if ascent.outcome != TOO_NOISY:
        return None
    return NOISY[SCORING if has_densities(problem.model(bounds.named(ascent.z))) else SURFACE]


def best_point(bounds: Bounds, ascent: Ascent) -> Array:
    """Return where the evidence was largest."""
    best = max(ascent.steps, key=lambda step: step.log_evidence)
    return bounds.free(best.parameters)
