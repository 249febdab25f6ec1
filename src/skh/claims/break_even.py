"""When placing pays: the time that each rule needs for the same accuracy, by likelihood cost.

A step of a filter takes ``overhead(n) + cost * evaluations(n)`` seconds; cheap rules need many
particles for the accuracy that expensive rules reach with few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skh._typing import Array
from skh.claims.statistics import MissingError, medians, select
from skh.experiments.record import Record
from skh.experiments.runtime import FILTERING


@dataclass(frozen=True, eq=False)
class Curve:
    """Medians of one rule for growing n: error, seconds and evaluations per step."""

    rule: str
    n: Array
    rmse: Array
    overhead: Array
    evaluations: Array

    def needed(self, rmse: float) -> tuple[float, float, float] | None:
        """(n, overhead, evaluations) that reach an error; None where no measured n does.

        Interpolated between the measured n, on logarithmic scales.
        """
        best = np.log(np.minimum.accumulate(self.rmse))
        if best[-1] > np.log(rmse):
            return None
        k = int(np.argmax(best <= np.log(rmse)))
        if k == 0:
            return float(self.n[0]), float(self.overhead[0]), float(self.evaluations[0])
        part = (best[k - 1] - np.log(rmse)) / (best[k - 1] - best[k])
        columns = (self.n, self.overhead, self.evaluations)
        n, overhead, evaluations = (float(c[k - 1] ** (1 - part) * c[k] ** part) for c in columns)
        return n, overhead, evaluations

    def seconds(self, rmse: float, cost: Array) -> Array:
        """Time per step for that error at each cost of a likelihood; infinite if out of reach."""
        needed = self.needed(rmse)
        return np.full(cost.shape, np.inf) if needed is None else needed[1] + needed[2] * cost


def curves(records: Sequence[Record]) -> list[Curve]:
    """A curve for each rule, in the order of `_rank`."""
    cell = select(records, model=FILTERING)
    return [_curve(select(cell, rule=rule)) for rule in sorted({r.rule for r in cell}, key=_rank)]


def _rank(rule: str) -> int:
    return ("PF", "QMC", "SQMC", "SKH-FW", "SKH-FCFW").index(rule)


def _curve(records: Sequence[Record]) -> Curve:
    steps = records[0].steps
    rmse, seconds = medians(records, "rmse"), medians(records, "seconds")
    particles = medians(records, "n_particles")
    n = sorted(rmse)
    columns = ([column[k] for k in n] for column in (rmse, seconds, particles))
    error, time, evaluations = (np.array(c) for c in columns)
    return Curve(records[0].rule, np.array(n, float), error, time / steps, evaluations)


def targets(records: Sequence[Record]) -> list[tuple[int, float]]:
    """Accuracies to compare at: those that the plain PF has with these numbers of particles."""
    pf = medians(select(records, model=FILTERING, rule="PF"), "rmse")
    wanted = [n for n in pf if n in (100, 500, 2_000)]
    if not wanted:
        raise MissingError("the PF at N = 100, 500 or 2000")
    return [(n, pf[n]) for n in wanted]


def break_even(cheap: Curve, placing: Curve, rmse: float) -> float | None:
    """Seconds per likelihood evaluation from which ``placing`` is faster; None if never."""
    a, b = cheap.needed(rmse), placing.needed(rmse)
    if b is None:
        return None
    if a is None:
        return 0.0
    saved = a[2] - b[2]
    return max((b[1] - a[1]) / saved, 0.0) if saved > 0 else None
