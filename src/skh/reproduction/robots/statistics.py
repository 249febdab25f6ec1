"""Runs of one log by rule and N, and their errors to the truth and to the references."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from skh._typing import Array
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.runs import LANDMARK, PARTICLE_OF, PATH_OF, TRUTH
from skh.reproduction.robots.study import REFERENCE
from skh.reproduction.statistics import MissingError, select


def whole_runs(records: Sequence[Record]) -> list[Record]:
    """The records of whole runs, references included."""
    return [r for r in records if isnan(r.time)]


def moments(records: Sequence[Record]) -> list[Record]:
    """The records of estimated positions during runs, references included."""
    return [
        r
        for r in records
        if not isnan(r.time)
        and r.rule not in (TRUTH, LANDMARK)
        and not r.rule.startswith((PARTICLE_OF, PATH_OF))
    ]


def logs_of(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each log that has runs of any rule, in the order of the tasks."""
    names = dict.fromkeys(r.model for r in whole_runs(records) if r.rule != REFERENCE)
    return {name: [r for r in records if r.model == name] for name in names}


def sizes(records: Sequence[Record]) -> list[int]:
    """The numbers of particles, without those of the references."""
    found = sorted({r.n for r in whole_runs(records) if r.rule != REFERENCE})
    if not found:
        raise MissingError("a run of any rule")
    return found


def shown_size(records: Sequence[Record]) -> int:
    """The N with the most seeds; of several, the largest."""
    runs = [r.n for r in whole_runs(records) if r.rule != REFERENCE]
    return max(sizes(records), key=lambda n: (runs.count(n), n))


def of_runs(records: Sequence[Record], field: str, **where: object) -> Array:
    """A field of the selected whole runs of one log, one number per seed."""
    return np.array([getattr(r, field) for r in select(whole_runs(records), **where)])


def reference_positions(records: Sequence[Record]) -> dict[float, Array]:
    """The mean position of the references at each moment."""
    found: dict[float, list[tuple[float, ...]]] = {}
    for r in select(moments(records), rule=REFERENCE):
        found.setdefault(r.time, []).append(_place(r))
    return {time: np.mean(places, axis=0) for time, places in found.items()}


def distances(records: Sequence[Record], **where: object) -> dict[int, Array]:
    """Distances to the references at all moments, for each seed of the selected runs."""
    reference, found = reference_positions(records), dict[int, list[float]]()
    for r in select(moments(records), **where):
        if r.time in reference:
            distance = float(np.linalg.norm(np.array(_place(r)) - reference[r.time]))
            found.setdefault(r.seed, []).append(distance)
    return {seed: np.array(of_seed) for seed, of_seed in found.items()}


def reference_errors(records: Sequence[Record], **where: object) -> Array:
    """The median distance to the references over time, one number per seed."""
    return np.array([np.median(of_seed) for of_seed in distances(records, **where).values()])


def _place(r: Record) -> tuple[float, ...]:
    return (r.x, r.y) if isnan(r.z) else (r.x, r.y, r.z)
