"""A test for being lost: observations fit worse than they used to."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

from skh import _checks

LARGEST_SHORTFALL = 4.0  # standard deviations that one observation counts: a single one is no alarm


@dataclass
class LostTest:
    """A cumulative sum (Page, 1954) of how far log-evidence falls below its usual values.

    The usual values are mean and deviation of the first ``learning`` increments, then averages
    over about ``memory`` of them while nothing is wrong.  It reports a belief that fits worse and
    worse.  It cannot report one that has been wrong since it began, or that fits as well as the
    right one would: for those, a second hypothesis has to be kept (see `Localiser`).

    >>> test = LostTest(learning=5)
    >>> usual = [test.update(value) for value in [1.0, 1.2, 0.9, 1.1, 0.8, 1.0, 1.1]]
    >>> any(usual), [test.update(-2.0) for _ in range(3)][-1]
    (False, True)
    """

    learning: int = 15
    memory: int = 50
    slack: float = 1.0  # standard deviations below the mean that are nothing unusual
    alarm: float = 5.0  # sum of standard deviations
    _mean: float = field(default=0.0, init=False)
    _square: float = field(default=0.0, init=False)
    _count: int = field(default=0, init=False)
    _sum: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        _checks.positive_int("learning", self.learning)
        _checks.positive_int("memory", self.memory)
        _checks.positive("slack", self.slack)
        _checks.positive("alarm", self.alarm)

    def update(self, increment: float) -> bool:
        """Add a log-evidence increment; return whether the belief fits badly by now."""
        if self._count >= self.learning:
            deviation = sqrt(self._square) or 1.0
            below = (self._mean - increment) / deviation
            self._sum = max(self._sum + min(below, LARGEST_SHORTFALL) - self.slack, 0.0)
        if self._sum < self.alarm / 2:  # learning only what is good would make all else unusual
            self._learn(increment)
        return self._sum > self.alarm

    def _learn(self, increment: float) -> None:
        """Average; with few of them over all, later over the last ones."""
        self._count += 1
        share = 1 / min(self._count, self.memory)
        off = increment - self._mean
        self._mean += share * off
        self._square = (1 - share) * (self._square + share * off**2)

    def reset(self) -> None:
        """Forget the sum, not what is usual."""
        self._sum = 0.0
