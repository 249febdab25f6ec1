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
from skh._typing import RNG, Array, Indices
from skh.gaussians.linear_algebra import apply, eigh, factorize, regularized_root, transpose
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.adaptive import METRIC_JITTER
from skh.rules.ancestor_sampling import sample_ancestors
from skh.rules.base import Rule, WeightedPoints, check_call, checked_points
from skh.rules.parts import place_in_parts
from skh.rules.wrappers import Wrapper

MIN_VARIANCE_SHARE = 0.1  # least eigenvalue of C, for degenerate points
POINTS_PER_AXIS = 4  # of d + 1, for a part: fewer random points may have less variance than that
SINGULAR_SHARE = 1e-12  # of the mixture's variance: components as narrow as that are singular


@dataclass(frozen=True)
class Matched(Wrapper):
    """Points of another rule, moved to the mean and covariance of the mixture.

    Both are exact for more than d points that are not degenerate.  The covariance of n <= d points
    has rank n - 1; they get the total variance of the mixture, in its own units.  Points do not
    move along directions in which their component has no spread (a mode number, a known parameter),
    and parts of the mixture that are far apart are matched one by one (`rules.parts`).

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
        if parts := place_in_parts(self, p, n, rng, p.covariance, POINTS_PER_AXIS * (p.d + 1)):
            return parts
        points = checked_points(self.rule(p, n, rng=rng), p)
        x = match_moments(p, points)
        return WeightedPoints(x, points.w, sample_ancestors(p, x, rng))


def match_moments(p: GaussianMixture, points: WeightedPoints) -> Array:
    """Move points by the least linear map to the moments of ``p``, on the support of ``p``."""
    if not p.covariance.any():  # the state is known
        return points.x
    L, white = regularized_root(p.covariance, p.means, METRIC_JITTER)
    z = white @ (points.x - p.mean).T
    moved = np.asarray(matched(z, points.w) - z).T
    return points.x + apply(_free_axes(p, white, points.component), moved) @ L.T


def matched(z: Array, w: Array) -> Array:
    """Move columns ``z`` (d, n) with weights ``w`` to mean zero and unit covariance."""
    d, n = z.shape
    z = z - (z @ w)[:, None]
    variances, axes = eigh((w * z) @ z.T)
    if n > d:
        scales = 1.0 / np.sqrt(np.maximum(variances, MIN_VARIANCE_SHARE))
    else:  # rank n - 1
        total = variances.sum()
        scales = np.full(d, np.sqrt(d / total) if total > 0.0 else 1.0)
    return np.asarray((axes * scales) @ axes.T @ z)


def _free_axes(p: GaussianMixture, white: Array, component: Indices) -> Array:
    """Projections to the directions in which components have a spread, in units of ``p``."""
    root = white @ factorize(p.matrices)[1]  # less rounding than white S white'
    variances, axes = eigh(root @ transpose(root))
    free = (axes * (variances > SINGULAR_SHARE)[..., None, :]) @ transpose(axes)
    return free[component] if free.ndim == 3 else free
