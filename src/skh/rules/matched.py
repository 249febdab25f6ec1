r"""Move points so that they have exactly the mean and covariance of their mixture.

The points of any rule have these moments only approximately, and usually too little variance.  With
weakly informative observations this adds up: the cloud narrows at each step, and then follows the
observations too slowly.  In coordinates in which the mixture has mean zero and unit covariance, and
the points have mean m and covariance C, the map

.. math:: z \mapsto C^{-1/2} (z - m)

makes both moments exact, and of all such linear maps moves the points least (it is the optimal
transport between Gaussians with these moments).  Ancestors are sampled again (`sample_ancestors`).
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

MIN_VARIANCE_SHARE = 0.1  # least eigenvalue of C, for few or degenerate points


@dataclass(frozen=True)
class Matched(Wrapper):
    """Points of another rule, moved to the mean and covariance of the mixture.

    Fewer than d + 1 points, or nearly degenerate ones, match the covariance only in part.

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
        """Return ``n`` points of the rule, moved."""
        n, rng = check_call(p, n, rng)
        points = checked_points(self.rule(p, n, rng=rng), p)
        x = match_moments(p, points.x, points.w)
        return WeightedPoints(x, points.w, sample_ancestors(p, x, rng))


def match_moments(p: GaussianMixture, x: Array, w: Array) -> Array:
    """Move ``x`` with weights ``w`` by the least linear map to the moments of ``p``."""
    if not p.covariance.any():  # the state is known
        return x
    L = covariance_factor(p)
    z = np.linalg.solve(L, (x - w @ x).T)
    variances, axes = np.linalg.eigh((w * z) @ z.T)
    C_root = axes * np.sqrt(np.maximum(variances, MIN_VARIANCE_SHARE))
    return np.asarray(p.mean + (L @ np.linalg.solve(C_root @ axes.T, z)).T)
