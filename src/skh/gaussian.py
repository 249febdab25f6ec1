"""The Gaussian log-density, batched."""

from __future__ import annotations

from math import log, pi

import numpy as np

from skh._checks import Array


def log_density(residual: Array, covariance: Array) -> Array:
    """``log N(residual | 0, covariance)`` for residuals (..., m) and covariances (..., m, m).

    >>> log_density(np.zeros(1), np.eye(1)).round(4)
    np.float64(-0.9189)
    """
    L = np.linalg.cholesky(covariance)
    u = np.linalg.solve(L, residual[..., None])[..., 0]
    log_det = np.log(np.linalg.diagonal(L)).sum(-1)
    result: Array = -0.5 * (u**2).sum(-1) - log_det - 0.5 * residual.shape[-1] * log(2 * pi)
    return result
