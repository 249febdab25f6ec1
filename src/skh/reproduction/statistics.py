"""Statistics behind the verdicts: medians, ratios paired by batch, power laws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, nan
from typing import Any

import numpy as np
from scipy import stats

from skh._typing import Array
from skh.reproduction.engine.record import Record

NEARLY_ONE = 0.98
MMD_NOISE = 1e-8  # an MMD below this is rounding error


class MissingError(Exception):
    """The records that a statistic needs do not exist (yet)."""


def select(records: Sequence[Record], **where: Any) -> list[Record]:
    """The records with the given values of fields; a tuple means any of its values."""
    wanted = {k: v if isinstance(v, tuple) else (v,) for k, v in where.items()}
    found = [r for r in records if all(getattr(r, k) in v for k, v in wanted.items())]
    if not found:
        raise MissingError(", ".join(f"{k} = {v}" for k, v in where.items()))
    return found


def median(records: Sequence[Record], field: str) -> float:
    """The median of the absolute value of a field."""
    return float(np.median([abs(getattr(r, field)) for r in records]))


def medians(records: Sequence[Record], field: str, by: str = "n") -> dict[int, float]:
    """The median of a field for each value of another field, in increasing order."""
    groups: dict[int, list[float]] = defaultdict(list)
    for r in records:
        groups[getattr(r, by)].append(float(getattr(r, field)))
    return {key: float(np.median(groups[key])) for key in sorted(groups)}


def batches(records: Sequence[Record]) -> int:
    """The number of batches in the records."""
    return len({r.batch for r in records})


@dataclass(frozen=True)
class Ratio:
    """A geometric mean over batches with its 95% interval (Student's t on the logarithms)."""

    mean: float
    low: float
    high: float
    batches: int

    @property
    def below_one(self) -> bool | None:
        """Whether the ratio is below one; None if the interval contains one or is unknown."""
        if self.high < 1:
            return True
        return False if self.low > 1 else None

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}]"


def remark(ratios: Iterable[Ratio]) -> str:
    """A warning if a ratio is significantly below one, but only just."""
    if any(r.below_one and r.mean > NEARLY_ONE for r in ratios):
        return " (a ratio that near to one is significant, but of little use)"
    return ""


def log_ratios(a: Sequence[Record], b: Sequence[Record], field: str) -> Array:
    """The mean of log(a / b) in each batch, over records paired by the number of points."""
    of_b = {(r.batch, r.n): _positive(r, field) for r in b}
    logs: dict[int, list[float]] = defaultdict(list)
    for r in a:
        if (r.batch, r.n) in of_b:
            logs[r.batch].append(float(np.log(_positive(r, field) / of_b[r.batch, r.n])))
    if not logs:
        raise MissingError(f"no batch has both {a[0].rule} and {b[0].rule}")
    return np.array([np.mean(logs[batch]) for batch in sorted(logs)])


def _positive(record: Record, field: str) -> float:
    """The value of a positive field, bounded away from zero if it is an MMD."""
    found = float(getattr(record, field))
    return max(found, MMD_NOISE) if field == "mmd" else found


def ratio(a: Sequence[Record], b: Sequence[Record], field: str) -> Ratio:
    """The ratio of a field of ``a`` to that of ``b``, paired by batch."""
    return interval(log_ratios(a, b, field))


def difference(a: Array, b: Array) -> Ratio:
    """exp(mean(a) - mean(b)) of logarithms from independent batches (Welch's interval)."""
    if min(len(a), len(b)) < 2:
        return Ratio(exp(a.mean() - b.mean()), nan, nan, min(len(a), len(b)))
    low, high = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    return Ratio(exp(a.mean() - b.mean()), exp(low), exp(high), min(len(a), len(b)))


def interval(logs: Array) -> Ratio:
    """The geometric mean of ratios from their logarithms, one for each batch."""
    mean, n = float(logs.mean()), len(logs)
    if n < 2:
        return Ratio(exp(mean), nan, nan, n)
    half = float(stats.t.ppf(0.975, n - 1) * logs.std(ddof=1) / n**0.5)
    return Ratio(exp(mean), exp(mean - half), exp(mean + half), n)


def median_interval(values: Array) -> tuple[float, float]:
    """A distribution-free 95% interval for the median; infinite for fewer than six values."""
    k = int(stats.binom.ppf(0.025, len(values), 0.5))
    ordered = np.sort(np.concatenate([values, [-np.inf, np.inf]]))
    return float(ordered[k]), float(ordered[-1 - k])


@dataclass(frozen=True)
class Fit:
    """A power law y = c x^slope, and the R² of a straight line y = a + b x."""

    slope: float
    stderr: float
    r2: float

    def __str__(self) -> str:
        return f"exponent {self.slope:.2f} ± {self.stderr:.2f}, R² of a line {self.r2:.4f}"


def fit(points: dict[int, float]) -> Fit:
    """Fit a power law and a straight line to points (x, y)."""
    if len(points) < 3:
        raise MissingError(f"a slope needs three sizes, there are {len(points)}")
    x, y = np.array(list(points)), np.maximum(np.array(list(points.values())), MMD_NOISE)
    power: Any = stats.linregress(np.log(x), np.log(y))
    line: Any = stats.linregress(x, y)
    return Fit(float(power.slope), float(power.stderr), float(line.rvalue**2))
