r"""Points with exactly the mean and the covariance of their mixture.

Points of any rule, random or placed, have the first two moments of the mixture only up to an error,
and usually a little too little variance.  Over one step that hardly matters.  In a filter whose
observations tell little at a time it adds up: each step narrows the cloud, and a cloud that is too
narrow follows the observations too slowly.  In coordinates in which the mixture has mean zero and
unit covariance, and the points have mean m and covariance C, the map

.. math:: z \mapsto C^{-1/2} (z - m)

makes both moments exact, and of all linear maps that do so it moves the points least (it is the
optimal transport between two Gaussians with these moments).  Ancestors are drawn anew, as for all
points that have moved (`sample_ancestors`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.adaptive import covariance_factor
from skh.rules.ancestor_sampling import sample_ancestors
from skh.rules.base import Rule, WeightedPoints, check_call, checked_points
from skh.rules.wrappers import Wrapper

MIN_VARIANCE_SHARE = 0.1  # with less of the variance, points are too few or too flat to stretch


@dataclass(frozen=True)
class Matched(Wrapper):
    """The points of another rule, moved so that their first two moments are those of the mixture.

    Fewer than d + 1 points, or nearly flat ones, keep some of the covariance they have.

    >>> import skh
    >>> p = skh.GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 1.0)
    >>> points = skh.Matched(skh.Stratified())(p, 20, rng=0)
    >>> mean = points.w @ points.x
    >>> mean.round(6), (points.w @ (points.x - mean) ** 2).round(6)
    (array([2.]), array([5.]))
    """

    rule: Rule

    def __post_init__(self) -> None:
        _checks.rule("rule", self.rule)

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """``n`` points of the rule, moved."""
        n, rng = check_call(p, n, rng)
        points = checked_points(self.rule(p, n, rng=rng), p)
        x = match_moments(p, points.x, points.w)
        return WeightedPoints(x, points.w, sample_ancestors(p, x, rng))


def match_moments(p: GaussianMixture, x: Array, w: Array) -> Array:
    """Points ``x`` with weights ``w`` after the least linear motion to the moments of ``p``."""
    if not p.covariance.any():  # a known state has no spread
        return x
    L = covariance_factor(p)
    z = np.linalg.solve(L, (x - w @ x).T)
    variances, axes = np.linalg.eigh((w * z) @ z.T)
    C_root = axes * np.sqrt(np.maximum(variances, MIN_VARIANCE_SHARE))
    return np.asarray(p.mean + (L @ np.linalg.solve(C_root @ axes.T, z)).T)
