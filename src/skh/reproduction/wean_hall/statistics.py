"""Which starts anywhere, and which kidnapped robots, found the right place."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from skh._typing import Array
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.statistics import reference_positions
from skh.reproduction.statistics import MissingError, select
from skh.reproduction.wean_hall.tasks import ANYWHERE, KIDNAPPED

NEAR = 0.5  # metres from the references
LAST = 0.25  # share of the moments, at the end, that count
MOSTLY = 0.9  # share of those that must be near
Cell = tuple[str, str, int]  # model, rule, n


def log_of(model: str) -> str:
    """The log whose references a run is compared with."""
    return "log 3" if model == KIDNAPPED else model.removeprefix(ANYWHERE)


def is_start(r: Record) -> bool:
    """Whether a record belongs to a start anywhere or a kidnapped robot."""
    return r.model.startswith(ANYWHERE) or r.model == KIDNAPPED


def tracking(records: Sequence[Record]) -> list[Record]:
    """The records of runs with a known start."""
    return [r for r in records if not is_start(r)]


def cells(records: Sequence[Record], model: str) -> list[Cell]:
    """The rules and numbers of points that were tried."""
    return list(dict.fromkeys((r.model, r.rule, r.n) for r in records if r.model == model))


def distances(records: Sequence[Record], cell: Cell) -> dict[int, tuple[Array, Array]]:
    """Times, and distances to the references, of each seed."""
    model, rule, n = cell
    reference = reference_positions(select(records, model=log_of(model)))
    found: dict[int, list[tuple[float, float]]] = {}
    for r in select(records, model=model, rule=rule, n=n):
        if not isnan(r.time) and r.time in reference:
            apart = float(np.hypot(*(np.array([r.x, r.y]) - reference[r.time])))
            found.setdefault(r.seed, []).append((r.time, apart))
    if not found:
        raise MissingError(f"runs of {rule} on {model}, and their references")
    columns = {seed: np.array(sorted(of_seed)).T for seed, of_seed in found.items()}
    return {seed: (times, apart) for seed, (times, apart) in columns.items()}


def right(records: Sequence[Record], cell: Cell) -> Array:
    """Whether each seed is near the references at most of the last moments."""
    found = []
    for _, apart in distances(records, cell).values():
        last = apart[int(len(apart) * (1 - LAST)) :]
        found.append(np.mean(last < NEAR) >= MOSTLY)
    return np.array(found)


def evaluations(records: Sequence[Record], cell: Cell) -> Array:
    """Likelihood evaluations of each seed."""
    model, rule, n = cell
    runs = [r for r in select(records, model=model, rule=rule, n=n) if isnan(r.time)]
    return np.array([r.likelihood_evaluations for r in runs])
