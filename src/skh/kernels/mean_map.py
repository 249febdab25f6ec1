r"""Mean maps of Gaussian mixtures as sums of Gaussian bumps, in coordinates of unit metric.

Each component and scale adds a bump :math:`h \exp(-|A x - b|^2 / 2)` with the inverse root A of
:math:`\Sigma_i + \sigma^2 I`: one for all components, diagonal in common axes, or one for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skh._numba.chebyshev_on_line import set_values_on_line
from skh._numba.gaussian_sums import (
    add_aligned_gaussians,
    add_gaussians,
    add_skewed_gaussians,
    set_aligned_mean_map,
)
from skh._numba.pair_sums import pair_sum, pair_sum_along_axes
from skh._numba.pairs_once import squared_norm
from skh._numba.plane_table import values_in_plane
from skh._runtime.threads import in_threads
from skh._typing import Array
from skh.gaussians.linear_algebra import identity, whitener
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.interpolation import interpolated

ONE = np.ones(1)
MANY_IN_PLANE = 600  # components, whose pairs take longer than an interpolated mean map


@dataclass(eq=False, slots=True)
class AlignedMeanMap:
    """Mean map of components with common axes, for all scales."""

    axes: Array  # (d, d), one per row
    A: Array  # (d, S K): the diagonals, in these axes
    b: Array  # (d, S K)
    heights: Array  # (S K,)
    means: Array  # (K, d), of the components
    variances: Array  # (K, d), or (1, d) if equal
    scales: int = 1  # S
    _table: tuple[Array, Array] | tuple[()] | None = None  # see `table`

    @classmethod
    def of(
        cls, T: Array | None, weights: Array, means: Array, S: Array, scales: Array
    ) -> AlignedMeanMap:
        """Build it in coordinates T x from the components, which have no matrix each."""
        (K, d), bumps = means.shape, scales.shape[1] * len(means)
        shared, sizes = (S.copy(), ONE) if S.ndim == 2 else (np.eye(d), np.array(S, ndmin=1))
        axes, along, variances = np.empty((d, d)), np.empty((K, d)), np.empty((sizes.size, d))
        A, b, heights = np.empty((d, bumps)), np.empty((d, bumps)), np.empty(bumps)
        T = np.eye(d) if T is None else T
        components = T, shared, sizes, weights, means, scales
        set_aligned_mean_map(A, b, heights, axes, along, variances, *components)
        return cls(axes, A, b, heights, along, variances, scales.shape[1])

    def __call__(self, X: Array) -> Array:
        """Evaluate the mean map at the columns of ``X``."""
        out, table = np.zeros(X.shape[1]), self.table(X) if len(X) == 1 else ()
        if table:
            set_values_on_line(out, X, self.A, self.b, self.heights, *table)
            return out
        add = in_threads(add_aligned_gaussians, out.size)
        add(out, X, self.axes, self.A, self.b, self.heights)
        return out

    def table(self, X: Array) -> tuple[Array, Array] | tuple[()]:
        """Interpolate around the points of the first call; nothing where that does not pay."""
        if self._table is None:
            self._table = interpolated(self.A, self.b, self.heights, X, self.scales) or ()
        return self._table


class Bumps(NamedTuple):
    r"""Spherical bumps :math:`h_i \exp(-r_i |X - c_i|^2)`, and points to add them at."""

    X: Array  # (d, M)
    centres: Array  # (d, m)
    heights: Array  # (m,)
    rates: Array  # (m,)

    def add_to(self, out: Array) -> None:
        """Add all bumps at all points to ``out``, in order."""
        add = in_threads(add_gaussians, out.size)
        add(out, self.X, self.centres.T, self.heights, self.rates)


def spherical_bumps(
    p: GaussianMixture, X: Array, variances: Array, weights: Array
) -> list[Bumps] | None:
    """Mean map of ``p`` as a sum over all; None if it has one matrix per component.

    A matrix for all components whitens the points, once for each scale.
    """
    if p.covariances.ndim == 3:
        return None
    if p.covariances.ndim < 2:
        return [_of_spheres(p, X, variances, weights)]
    return [
        Bumps(
            A @ X,
            np.ascontiguousarray((p.means @ A.T).T),
            weight * (p.weights * determinant),
            np.full(len(p), 0.5),
        )
        for A, weight, determinant in _whitened(p, variances, weights)
    ]


def _of_spheres(p: GaussianMixture, X: Array, variances: Array, weights: Array) -> Bumps:
    centres = np.ascontiguousarray(np.tile(p.means.T, (1, len(variances))))
    heights, rates = [], []
    for variance, weight in zip(variances.tolist(), weights.tolist(), strict=True):
        b = np.broadcast_to(1 + p.covariances / variance, p.weights.shape)
        heights.append(weight * (p.weights * b ** (-p.d / 2)))
        rates.append(0.5 / (variance * b))
    return Bumps(X, centres, np.concatenate(heights), np.concatenate(rates))


def _whitened(
    p: GaussianMixture, variances: Array, weights: Array
) -> Iterator[tuple[Array, float, Array]]:
    """Inverse roots of the widened covariances, weights and determinants, scale by scale."""
    S = np.divide.outer(p.covariances, variances)
    W, determinants = whitener(identity(p.d) + np.moveaxis(S, -1, 0))
    for variance, weight, root, determinant in zip(
        variances.tolist(), weights.tolist(), W, determinants, strict=True
    ):
        yield root / variance**0.5, weight, determinant


def mean_map(p: GaussianMixture, X: Array, variances: Array, weights: Array) -> Array:
    """Mean map of ``p`` for scales of these ``variances`` and ``weights`` at the columns of X."""
    out = np.zeros(X.shape[1])
    bumps = spherical_bumps(p, X, variances, weights)
    if bumps is None:
        add = in_threads(add_skewed_gaussians, out.size)
        for A, weight, determinant in _whitened(p, variances, weights):
            add(out, X, p._means, weight * p.weights * determinant, A)
    for part in bumps or ():
        part.add_to(out)
    return out


def norm2(w: Array, means: Array, S: Array, scales: Array) -> float:
    """Squared norm of the mean map for components (K, d) of the same variances ``S`` (1, d).

    It is the mean map of the widened mixture, at the means; in the plane that is interpolated.
    """
    if means.shape[1] == 2 and len(w) >= MANY_IN_PLANE:
        wide = AlignedMeanMap.of(None, w, means, np.diag(2.0 * S[0]), scales)
        X = wide.means.T.copy()
        if table := wide.table(X):
            return float(w @ values_in_plane(X, wide.A, wide.b, wide.heights, *table))
    return float(squared_norm(w, means, S, scales))


def aligned_sum(w: Array, means: Array, S: Array, variance: float) -> float:
    """Squared norm of the mean map at one scale, for components with common axes."""
    X, V = np.ascontiguousarray(means.T), np.ascontiguousarray(S.T)
    return float(pair_sum_along_axes(w, X / variance**0.5, V / variance))


def one_by_one(p: GaussianMixture, variance: float) -> float:
    """The same for components with one full matrix each."""
    rows, columns = np.tril_indices(p.d)
    S = np.ascontiguousarray(p.covariances[:, rows, columns].T) / variance
    X = np.ascontiguousarray(p.means.T) / variance**0.5
    return float(pair_sum(p._weights, S, X))
