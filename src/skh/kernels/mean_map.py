r"""Mean maps of Gaussian mixtures as sums of Gaussian bumps, in coordinates of unit metric.

Each component and scale adds a bump :math:`h \exp(-|A x - b|^2 / 2)` with the inverse root A of
:math:`\Sigma_i + \sigma^2 I`: one for all components, diagonal in common axes, or one for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skh._numba.gaussian_sums import add_aligned_gaussians, add_gaussians, add_skewed_gaussians
from skh._runtime.threads import in_threads
from skh._typing import Array
from skh.gaussians.linear_algebra import whitener
from skh.gaussians.mixture import GaussianMixture


class AlignedMeanMap(NamedTuple):
    """Mean map of components with common axes, for all scales."""

    axes: Array  # (d, d), one per row
    A: Array  # (d, S K): the diagonals, in these axes
    b: Array  # (d, S K)
    heights: Array  # (S K,)

    @classmethod
    def of(
        cls, axes: Array, weights: Array, means: Array, S: Array, scales: Array
    ) -> AlignedMeanMap:
        """Build it from means (K, d) and variances (K, d) or (1, d) along the axes."""
        variances, heights = 0.5 / scales[0], scales[1][:, None]
        total = variances[:, None, None] + S
        (K, d), s = means.shape, len(variances)
        A = np.broadcast_to(1.0 / np.sqrt(total), (s, K, d)).reshape(-1, d).T
        determinant = np.prod(total / variances[:, None, None], axis=2) ** -0.5
        b = A * np.tile(means.T, s)
        return cls(axes, np.ascontiguousarray(A), b, (heights * determinant * weights).ravel())

    def __call__(self, X: Array) -> Array:
        """Evaluate the mean map at the columns of ``X``."""
        out = np.zeros(X.shape[1])
        add = in_threads(add_aligned_gaussians, out.size)
        add(out, self.axes @ X, self.A, self.b, self.heights)
        return out


def _bumps(p: GaussianMixture, variance: float) -> tuple[Array, Array, Array]:
    """A, heights, rates of ``sum_i heights[i] exp(-rates[i] |A (x - means[i])|^2)``, one scale."""
    S = p.covariances / variance
    if S.ndim <= 1:
        b = np.broadcast_to(1 + S, p.weights.shape)
        return np.eye(p.d), p.weights * b ** (-p.d / 2), 0.5 / (variance * b)
    W, determinant = whitener(np.eye(p.d) + S)
    return W / variance**0.5, p.weights * determinant, np.full(len(p), 0.5)


def add_mean_map(out: Array, p: GaussianMixture, X: Array, variance: float, weight: float) -> None:
    """Add ``weight`` times the mean map of ``p`` for one scale at the columns of ``X``."""
    if p.covariances.ndim < 3:
        A, heights, rates = _bumps(p, variance)
        if p.covariances.ndim == 2:  # one matrix for all: whiten the points once
            X = A @ X
        add = in_threads(add_gaussians, out.size)
        add(out, X, p.means @ A.T, weight * heights, rates)
        return
    W, determinant = whitener(np.eye(p.d) + p.covariances / variance)
    A, heights = W / variance**0.5, weight * p.weights * determinant
    in_threads(add_skewed_gaussians, out.size)(out, X, p._means, heights, A)
