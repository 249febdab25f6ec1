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
from skh.gaussians.linear_algebra import identity, whitener
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


def add_mean_map(
    out: Array, p: GaussianMixture, X: Array, variances: Array, weights: Array
) -> None:
    """Add the mean map of ``p`` for scales of these ``variances`` and ``weights`` at columns X."""
    add = _add_spherical if p.covariances.ndim < 2 else _add_whitened
    add(out, p, X, variances, weights)


def _add_spherical(
    out: Array, p: GaussianMixture, X: Array, variances: Array, weights: Array
) -> None:
    add = in_threads(add_gaussians, out.size)
    for variance, weight in zip(variances.tolist(), weights.tolist(), strict=True):
        b = np.broadcast_to(1 + p.covariances / variance, p.weights.shape)
        heights = weight * (p.weights * b ** (-p.d / 2))
        add(out, X, p._means, heights, 0.5 / (variance * b))


def _add_whitened(
    out: Array, p: GaussianMixture, X: Array, variances: Array, weights: Array
) -> None:
    """One matrix for all components, by which points are whitened, or one for each."""
    S = np.divide.outer(p.covariances, variances)
    W, determinants = whitener(identity(p.d) + np.moveaxis(S, -1, 0))
    for variance, weight, root, determinant in zip(
        variances.tolist(), weights.tolist(), W, determinants, strict=True
    ):
        A = root / variance**0.5
        if A.ndim == 3:
            heights = weight * p.weights * determinant
            in_threads(add_skewed_gaussians, out.size)(out, X, p._means, heights, A)
        else:
            heights, rates = weight * (p.weights * determinant), np.full(len(p), 0.5)
            in_threads(add_gaussians, out.size)(out, A @ X, p.means @ A.T, heights, rates)
