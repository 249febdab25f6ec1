"""The file of a search, written after each iteration, from which an interrupted one goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from skh._typing import RNG, Array
from skh.files.atomic import as_path
from skh.files.container import SavedFileError, read_file, write_file
from skh.files.digests import digest
from skh.files.trees import Encoder
from skh.filtering.observations import is_missing
from skh.filtering.saving import content
from skh.inference.ascent import Ascent, Step
from skh.inference.bounds import Bounds
from skh.inference.problem import Problem


@dataclass
class FitFile:
    """The searches from all starts, and where they are kept, if anywhere."""

    path: Path | None
    settings: dict[str, Any]
    seed: int
    ascents: list[Ascent]

    @classmethod
    def of(
        cls,
        path: str | PathLike[str] | None,
        problem: Problem,
        bounds: Bounds,
        starts: Sequence[Array],
        most: int,
        rng: RNG,
    ) -> FitFile:
        """Begin the searches, or take them from the file if it exists."""
        begun = [Ascent(z) for z in starts]
        if path is None:
            return cls(None, {}, problem.seed, begun)
        where, settings = as_path("file", path), described_search(problem, bounds, starts, most)
        if not where.exists():
            kept = cls(where, settings, problem.seed, begun)
            kept.save()  # so that a path that cannot be written is known at once
            return kept
        state = content(read_file(where, "fit"), "settings", "seed", "ascents")
        refuse_other_search(where, state, settings, None if rng is None else problem.seed)
        return cls(where, settings, state["seed"], [restored(row) for row in state["ascents"]])

    @property
    def iterations(self) -> int:
        """Number of iterations of all searches."""
        return sum(len(ascent.steps) for ascent in self.ascents)

    def keep(self, k: int, ascent: Ascent) -> None:
        """Keep an iteration of the search from start ``k``."""
        self.ascents[k] = ascent
        if self.path is not None:
            self.save()

    def save(self) -> None:
        """Write the file."""
        encoder = Encoder()
        rows = [{f.name: getattr(a, f.name) for f in fields(Ascent)} for a in self.ascents]
        state = {"settings": self.settings, "seed": self.seed, "ascents": rows}
        write_file(self.path, "fit", encoder.encode(state), encoder.arrays())


def restored(row: dict[str, Any]) -> Ascent:
    """Return a search as it was saved."""
    return Ascent(**{**row, "steps": tuple(Step(*step) for step in row["steps"])})


def described_search(
    problem: Problem, bounds: Bounds, starts: Sequence[Array], most: int
) -> dict[str, Any]:
    """Return what must be the same in a search that goes on."""
    series = [None if is_missing(y) else y for y in problem.ys]
    return {
        "parameters": ", ".join(bounds.names),
        "start": np.array(starts).tolist(),
        "bounds": np.array([bounds.low, bounds.high]).tolist(),
        "n": problem.n,
        "rule": repr(problem.rule),
        "max_iterations": most,
        "ys": digest(tuple(series)),
    }


def refuse_other_search(
    path: Path, state: dict[str, Any], settings: dict[str, Any], seed: int | None
) -> None:
    """Raise `SavedFileError` for a search that was begun with other arguments."""
    for name, value in settings.items():
        if state["settings"].get(name) != value:
            raise SavedFileError(
                f"{path} is of a search with other {name}: pass the same, or another file"
            )
    if seed is not None and seed != state["seed"]:
        raise SavedFileError(f"{path} is of a search with another rng: pass the same seed")
