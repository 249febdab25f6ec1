r"""The kernel that needs no tuning: a metric that follows what the filter knows.

.. math:: \Lambda^{-1} = (u P)^{-1} + F

P is the covariance of the mixture and F the information that the coming observation is expected to
bring (`information`).  Up to the factor u this is the precision that the posterior will have:
directions that the likelihood sees are resolved as finely as it sees them and n points can, all
others only in their low moments, and every unit cancels.  Several `SCALES` of that metric are
averaged, because the length of a likelihood is known only roughly and a posterior may be narrower
in one place than in another.
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from skh._typing import Array
from skh.gaussians.linear_algebra import standard_deviations, symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.kernels.quadrature_weights import resolution

SCALES = (0.01, 0.1, 1.0, 10.0)
SMOOTHNESS = 1.0  # a_s = s^nu: a kernel like one of Matern's with this nu
UNSEEN_RANGE = (3.0, 10.0)  # u: how much wider than the mixture the metric is in unseen directions
COARSE_INFORMATION = 4.0  # information along an axis so small that it asks for no more points
DENSE_RESOLUTION = 0.04  # the resolution from which on points are dense enough for a smaller u
METRIC_JITTER = 1e-9  # of each coordinate's variance: keeps the metric of a flat mixture regular


def adaptive_kernel(p: GaussianMixture, n: int) -> GaussianKernel:
    """The kernel for n points of a mixture, given what is known of the observation to come.

    >>> p = GaussianMixture([1.0], [[0.0, 0.0]], np.diag([1.0, 1e-12]))
    >>> np.diag(automatic_kernel(p, 20).metric).round(15)
    array([1.e+01, 1.e-11])
    """
    L = covariance_factor(p)
    F = p.information if isinstance(p, Predictive) else None
    if F is None:
        return _kernel(unseen_factor(n, p.d) * symmetric(L @ L.T), n)
    seen, axes = np.linalg.eigh(symmetric(L.T @ F @ L))
    seen = resolvable_information(np.maximum(seen, 0.0), n)
    B = (L @ axes) / np.sqrt(1.0 / unseen_factor(n, p.d) + seen)
    return _kernel(symmetric(B @ B.T), n)


def resolvable_information(seen: Array, n: int) -> Array:
    """The information along each axis, in units of the mixture's own, that n points can resolve.

    An observation that brings s along an axis tells about sqrt(s) places apart, and along several
    axes the product of that.  Where these are many more than there are points, as with a very
    precise sensor, a kernel that fine sees only single points, and pulls them to the centres of the
    components.  So the sharpest axes are cut off at a common level: over the axes with more than
    c = `COARSE_INFORMATION`, the product of s / c is at most n^2 / 2.

    >>> [resolved(np.array(s), 50).round().tolist() for s in ([1e8, 1.0], [1e8, 1e8], [99.0, 99.0])]
    [[5000.0, 1.0], [141.0, 141.0], [99.0, 99.0]]
    """
    logs = np.log(np.maximum(np.sort(seen)[::-1] / COARSE_INFORMATION, 1.0))
    others = logs.sum() - logs.cumsum()  # of the axes after the first k
    level = ((log(n * n / 2) - others) / np.arange(1, len(logs) + 1)).max()
    return seen if level >= logs[0] else np.minimum(seen, COARSE_INFORMATION * exp(max(level, 0.0)))


def unseen_factor(n: int, d: int) -> float:
    """The factor u: few points for their dimension are best spent on what the likelihood sees.

    In one dimension nothing is unseen, and the likelihood alone sets the length.

    >>> unseen(20, 15), unseen(100, 2), unseen(100, 1)
    (10.0, 5.0, 10.0)
    """
    least, most = UNSEEN_RANGE
    if d == 1:
        return most
    return min(max(least, most * sqrt(resolution(n, d) / DENSE_RESOLUTION)), most)


def _kernel(metric: Array, n: int) -> GaussianKernel:
    # Between n points no finer structure can be seen; to ask for it pulls them to the centres.
    scales = [s for s in SCALES if s >= resolution(n, len(metric))] or [SCALES[-1]]
    return GaussianKernel(scales, metric, [s**SMOOTHNESS for s in scales])


def covariance_factor(p: GaussianMixture) -> Array:
    """A factor L with L L' = the covariance of ``p``, made regular without looking at units."""
    P = p.covariance
    sd = standard_deviations(P.diagonal(), p.means)
    correlation = P / np.outer(sd, sd) + METRIC_JITTER * np.eye(p.d)
    return np.asarray(sd[:, None] * np.linalg.cholesky(correlation))
