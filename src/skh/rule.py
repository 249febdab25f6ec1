"""The one seam of the library: a rule turns a mixture into n weighted points.

Step 3 of Algorithm 2 is replaceable, and nothing else in a particle filter knows by what it was
replaced.  Your own rule is any callable with this signature::

    def antithetic(p, n, *, rng=None):
        rng = np.random.default_rng(rng)
        z = rng.standard_normal((n // 2, p.d))
        component = p.choose(rng.random(n // 2))
        x = np.concatenate([p.place(component, z), p.place(component, -z)])
        return skh.WeightedPoints(x, np.full(len(x), 1 / len(x)), np.tile(component, 2))
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Protocol

from skh._checks import RNG, Array, Indices
from skh.kernel import GaussianKernel, mmd
from skh.mixture import GaussianMixture


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points ``x`` (n, d) with weights ``w`` (n,) on the simplex: an approximation of a mixture.

    ``component`` (n,) tells which component of the mixture each point was drawn from; in a particle
    filter that is its ancestor.  ``mmd`` is the distance to the mixture where the rule knows it,
    and NaN where it does not (a random rule has no kernel to measure it with: see `Measured`).
    """

    x: Array
    w: Array
    component: Indices
    mmd: float = nan

    def __len__(self) -> int:
        """Number of points."""
        return len(self.w)


class Rule(Protocol):
    """Anything that makes ``n`` weighted points of a mixture; optimising rules may return fewer."""

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """At most ``n`` points that stand for ``p``."""
        ...


@dataclass(frozen=True)
class Measured:
    """The same points as ``rule`` gives, with their MMD measured by ``kernel``.

    >>> import skh
    >>> p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    >>> rule = skh.Measured(skh.MonteCarlo(), skh.GaussianKernel(1.0))
    >>> rule(p, 10, rng=0).mmd > 0
    True
    """

    rule: Rule
    kernel: GaussianKernel

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """The points of the rule, with ``mmd`` filled in."""
        points = self.rule(p, n, rng=rng)
        distance = mmd(self.kernel, p, points.x, points.w)
        return WeightedPoints(points.x, points.w, points.component, distance)
