r"""The adaptive kernel, with a metric that follows the mixture and the expected information.

.. math:: \Lambda^{-1} = (u P)^{-1} + F

P is the covariance of the mixture and F the expected information of the next observation
(`filtering.likelihood_information`).  Up to u this is the expected posterior precision: informed
directions are resolved as finely as the likelihood and n points allow, all others only in their low
moments, independently of units.  Several `SCALES` of that metric are averaged, since the width of
a likelihood is known only roughly and that of a posterior may vary in space.
"""

from __future__ import annotations

from functools import lru_cache
from math import isfinite, sqrt

import numpy as np

from skh._numba.metrics import set_expected_metric
from skh._numba.spreads import correlation_factor
from skh._typing import Array
from skh.gaussians.linear_algebra import identity, standard_deviations, symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.kernels.quadrature_weights import resolution

SCALES = (0.01, 0.1, 1.0, 10.0)
SMOOTHNESS = 1.0  # a_s = s^nu, as for a Matern kernel with this nu
UNSEEN_RANGE = (3.0, 10.0)  # of u: metric over covariance in directions without information
DENSE_RESOLUTION = 0.04  # resolution below which points are dense enough for a smaller u
METRIC_JITTER = 1e-9  # of each variance: keeps the metric of a degenerate mixture regular


def adaptive_kernel(p: GaussianMixture, n: int) -> GaussianKernel:
    """Return the kernel for n points of ``p``, from its covariance and information.

    >>> p = GaussianMixture([1.0], [[0.0, 0.0]], np.diag([1.0, 1e-12]))
    >>> np.diag(adaptive_kernel(p, 20).metric).round(15)
    array([1.e+01, 1.e-11])
    """
    L = covariance_factor(p)
    F = p.information if isinstance(p, Predictive) else None
    unseen = unseen_factor(n, p.d)
    if F is None:
        return _kernel(unseen * symmetric(L @ L.T), n)
    metric = np.empty(L.shape)
    set_expected_metric(metric, L, np.array(F), unseen, n)
    if not isfinite(metric.item(0)):
        raise np.linalg.LinAlgError(f"information must be finite, got {F}")
    return _kernel(metric, n)


@lru_cache(maxsize=64)
def unseen_factor(n: int, d: int) -> float:
    """The factor u, larger for fewer points: these are best spent on what the likelihood informs.

    >>> unseen_factor(20, 15), unseen_factor(100, 2), unseen_factor(100, 1)
    (10.0, 5.0, 10.0)
    """
    least, most = UNSEEN_RANGE
    if d == 1:  # the likelihood alone sets the length
        return most
    return min(max(least, most * sqrt(resolution(n, d) / DENSE_RESOLUTION)), most)


def _kernel(metric: Array, n: int) -> GaussianKernel:
    return _without_metric(n, len(metric)).with_metric(metric)


@lru_cache(maxsize=64)
def _without_metric(n: int, d: int) -> GaussianKernel:
    """Return the kernel for n points, with what all metrics share already computed."""
    # Scales finer than the spacing of n points would pull them to the component means.
    variances = [s for s in SCALES if s >= resolution(n, d)] or [SCALES[-1]]
    kernel = GaussianKernel(variances, weights=[s**SMOOTHNESS for s in variances])
    for name in ("variances", "scales", "finest_variance"):
        getattr(kernel, name)
    return kernel


def covariance_factor(p: GaussianMixture) -> Array:
    """Return L with L L' = the covariance of ``p``, regularised independently of units."""
    P = p.covariance
    L = np.empty(P.shape)
    if correlation_factor(L, P, p.means, METRIC_JITTER):
        return L
    sd = standard_deviations(P.diagonal(), p.means)
    correlation = P / np.outer(sd, sd) + METRIC_JITTER * identity(p.d)
    return np.asarray(sd[:, None] * np.linalg.cholesky(correlation))
