"""Rules around other rules: `Measured`; see also `matched`, `smoothed` and `refined`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skh import _checks
from skh._typing import RNG
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel, check_kernel, mmd
from skh.rules.base import (
    Rule,
    WeightedPoints,
    check_call,
    checked_points,
    important_first,
    uses_information,
)


class Wrapper:
    """Base class of rules around another ``rule``, with its properties."""

    rule: Rule

    @property
    def uses_information(self) -> bool:
        """Whether the inner rule uses it."""
        return uses_information(self.rule)

    @property
    def important_first(self) -> bool:
        """Whether the inner rule's first points are the most important ones."""
        return important_first(self.rule)


@dataclass(frozen=True)
class Measured(Wrapper):
    """The points of ``rule`` with their MMD in ``kernel``.

    >>> import skh
    >>> p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    >>> rule = skh.Measured(skh.MonteCarlo(), skh.GaussianKernel(1.0))
    >>> rule(p, 10, rng=0).mmd > 0
    True
    """

    rule: Rule
    kernel: GaussianKernel

    def __post_init__(self) -> None:
        _checks.rule("rule", self.rule)
        check_kernel("kernel", self.kernel)

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """Return the points of the rule with their ``mmd``."""
        n, rng = check_call(p, n, rng)
        points = checked_points(self.rule(p, n, rng=rng), p)
        return replace(points, mmd=mmd(self.kernel, p, points.x, points.w))
