"""The time per step that each rule needs for a given accuracy, by the cost of a likelihood.

A step of a filter takes ``overhead(n) + cost * evaluations(n)`` seconds; cheap rules need many
particles for the accuracy that expensive rules reach with few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skh._typing import Array
from skh.reproduction.engine.record import Record
from skh.reproduction.runtime.tasks import FILTERING
from skh.reproduction.statistics import MissingError, medians, select

RULES = ("PF", "QMC", "SQMC", "SKH-FW", "SKH-FCFW")


@dataclass(frozen=True, eq=False)
class Curve:
    """Medians of one rule for increasing n: error, and seconds and evaluations per step."""

    rule: str
    n: Array
    rmse: Array
    overhead: Array
    evaluations: Array

    def needed(self, rmse: float) -> tuple[float, float, float] | None:
        """(n, overhead, evaluations) at which an error is reached; None if it never is.

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
        """Time per step for an error at each cost of a likelihood; infinite if never reached."""
        needed = self.needed(rmse)
        return np.full(cost.shape, np.inf) if needed is None else needed[1] + needed[2] * cost


def curves(records: Sequence[Record]) -> list[Curve]:
    """A curve for each rule in the records."""
    cell = select(records, model=FILTERING)
    rules = sorted({r.rule for r in cell}, key=RULES.index)
    return [_curve(select(cell, rule=rule)) for rule in rules]


def _curve(records: Sequence[Record]) -> Curve:
    found = [medians(records, field) for field in ("rmse", "seconds", "n_particles")]
    error, time, evaluations = (np.array(list(column.values())) for column in found)
    n = np.array(list(found[0]), float)
    return Curve(records[0].rule, n, error, time / records[0].steps, evaluations)


def targets(records: Sequence[Record]) -> list[tuple[int, float]]:
    """The errors to compare at: those of the PF with certain numbers of particles."""
    pf = medians(select(records, model=FILTERING, rule="PF"), "rmse")
    wanted = [n for n in pf if n in (100, 500, 2_000)]
    if not wanted:
        raise MissingError("the PF at N = 100, 500 or 2000")
    return [(n, pf[n]) for n in wanted]


def break_even_cost(cheap: Curve, placing: Curve, rmse: float) -> float | None:
    """Seconds per likelihood evaluation above which ``placing`` is faster; None if it never is."""
    a, b = cheap.needed(rmse), placing.needed(rmse)
    if b is None:
        return None
    if a is None:
        return 0.0
    saved = a[2] - b[2]
    return max((b[1] - a[1]) / saved, 0.0) if saved > 0 else None
