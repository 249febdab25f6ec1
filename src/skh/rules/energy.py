"""The squared MMD to a mixture as a function of the positions of weighted points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh._numba.curvature import inverse_curvatures
from skh._numba.displacements import displace, move_few
from skh._numba.lbfgs import descend
from skh._numba.mmd_energy import energy, squared_mmd
from skh._typing import Array
from skh.gaussians.hilbert_curve import hilbert_order
from skh.gaussians.linear_algebra import read_only, whitener
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.kernels.interpolation import in_cells
from skh.kernels.mean_map import AlignedMeanMap
from skh.kernels.quadrature_weights import protected_weights
from skh.kernels.scale_groups import scale_groups

MAX_AT_ONCE = 122  # points whose curvatures are factorised together
SINGLE_DIMENSIONS = 2, 3  # in one, points can lower the MMD to the rounding of single precision
MAX_EXTENT = 1e3  # of points in single precision, relative to the narrowest scale
NEIGHBOUR_BITS = 20  # of keys that find neighbours
NOTHING = np.empty(())  # in place of a table: its type says so to the compiler

MeanMap = tuple[Array, Array, Array, Array, Array]  # bumps, a table of their sum and its box


class Energy:
    """Squared MMD to a mixture up to its constant, in the kernel's coordinates.

    In one dimension, and in two for more than `MAX_AT_ONCE` points, the mean map is interpolated
    where that pays.  For so many points descent is in single precision.
    """

    def __init__(self, kernel: GaussianKernel, p: GaussianMixture) -> None:
        self.kernel, self._p = kernel, p
        self._groups = scale_groups(kernel.scales)
        self._attraction = Attraction.of(kernel, p)
        self._interpolates = False

    def __call__(self, X: Array, w: Array) -> tuple[float, Array]:
        """Return the energy and its gradient at points (d, n)."""
        G, X = np.empty(X.shape), self._attraction.turned(X)
        value = float(energy(G, X, w, self._groups, *self._slopes_of_mean_map(X, self._groups)))
        return value, self._attraction.turned_back(G)

    def value(self, X: Array, w: Array) -> float:
        """Return the energy alone, in less than half the time."""
        X = self._attraction.turned(X)
        return float(squared_mmd(X, w, self._groups, *self._mean_map(X)))

    def move(
        self, x: Array, w: Array, iterations: int, free: Array | None, grid: float
    ) -> tuple[Moved, float]:
        """Move rows ``x`` by some iterations of L-BFGS; return the energy there, too.

        ``free`` (n, d, d) projects the displacement of each point to the axes it may move along;
        displacements are rounded to a ``grid``.
        """
        a, (n, d), start, x = self._attraction, x.shape, self.kernel.coordinates_of(x), read_only(x)
        P = np.empty((0, d, d)) if free is None else np.array(free)
        turned = P if free is None else a.turned_axes(P)
        onto = P, self.kernel.axes_of_unit_metric(d), grid
        displacement, end, x_end = np.empty((d, n)), np.empty((d, n)), np.empty((n, d))
        to = displacement, end, x_end, start, x
        if n <= MAX_AT_ONCE:
            of = self._groups, *self._mean_map(start), a.axes
            square = move_few(*to, w, *of, iterations, turned, *onto)
        else:
            end[:] = self._descend(start, w, iterations, turned)
            displace(*to, *onto)
            square = self.value(end, w)
        return Moved(displacement, end, x_end), float(square)

    def _descend(self, X: Array, w: Array, iterations: int, free: Array) -> Array:
        """Return ``X`` after some iterations, with neighbours next to each other."""
        X = self._attraction.turned(X)
        order, moved = hilbert_order(X.T, NEIGHBOUR_BITS), np.empty(X.shape)
        X = X.take(order, axis=1)
        near, far = inverse_curvatures(X, self._groups)
        sums = self._groups_of_sums(X)
        mean_map = self._slopes_of_mean_map(X, sums)
        free = free[order[: len(free)]]
        moved[:, order] = descend(X, w[order], sums, *mean_map, near, far, iterations, free)
        return self._attraction.turned_back(moved)

    def _groups_of_sums(self, X: Array) -> NDArray[np.floating]:
        """Scales of the kernel, in single precision if that will do."""
        most = MAX_EXTENT * float(self.kernel.variances.min()) ** 0.5
        single = len(X) in SINGLE_DIMENSIONS and float(np.ptp(X, axis=1).max()) < most
        return self._groups.astype(np.float32) if single else self._groups

    def _mean_map(self, X: Array) -> MeanMap:
        """Bumps, and a table of their sum around the points of the first call or nothing."""
        a, (d, n) = self._attraction, X.shape
        pays = d == 1 or (d == 2 and n > MAX_AT_ONCE) or self._interpolates
        self._interpolates = pays and a.aligned is not None
        table = a.aligned.table(X) if self._interpolates and a.aligned else None
        return a.A, a.b, a.heights, *(table or (NOTHING, NOTHING))

    def _slopes_of_mean_map(
        self, X: Array, groups: NDArray[np.floating]
    ) -> tuple[Array, Array, Array, NDArray[np.floating], Array]:
        """`_mean_map` for sums with their slopes: in the plane by cells, in single precision."""
        A, b, heights, table, box = self._mean_map(X)
        if table.ndim < 2:
            return A, b, heights, table, box
        if groups.itemsize == 4:
            return A, b, heights, in_cells(table, box, A), box
        return A, b, heights, NOTHING, NOTHING

    def weights(self, X: Array, ridge: float, min_ess: float) -> Array:
        """Optimal weights of the points ``X``."""
        x = self.kernel.from_coordinates(X)
        K, c = self.kernel.gram(x, x), self.kernel.mean_map_at(self._p, X)
        return protected_weights(K, c, ridge, min_ess)


class Moved(NamedTuple):
    """Where points are moved to."""

    displacement: Array  # (d, n), in the kernel's coordinates
    end: Array  # (d, n), in the kernel's coordinates
    x: Array  # (n, d)


@dataclass(eq=False, slots=True)
class Attraction:
    """Mean map of a mixture, as `_numba.mmd_energy` takes it."""

    A: Array  # (d, d, S K), or (d, S K) where it is diagonal
    b: Array  # (d, S K)
    heights: Array  # (S K,)
    axes: Array  # rows: common axes of all components, in which A is diagonal; else the identity
    aligned: AlignedMeanMap | None = None  # if there are such axes

    def turned(self, X: Array) -> Array:
        """Rotate points to the axes."""
        return self.axes @ X

    def turned_back(self, X: Array) -> Array:
        """The inverse of `turned`."""
        return self.axes.T @ X

    def turned_axes(self, P: Array) -> Array:
        """Rotate projections (n, d, d) to the axes."""
        return self.axes @ P @ self.axes.T

    @classmethod
    def of(cls, kernel: GaussianKernel, p: GaussianMixture) -> Attraction:
        """Build it for ``p`` in the kernel's coordinates."""
        if p.covariances.ndim == 3:
            return cls._skewed(kernel, kernel.mixture(p))
        aligned = kernel.aligned_mean_map(p)
        return cls(aligned.A, aligned.b, aligned.heights, aligned.axes, aligned)

    @classmethod
    def _skewed(cls, kernel: GaussianKernel, p: GaussianMixture) -> Attraction:
        """Build it for one full matrix per component."""
        s = kernel.variances[:, None, None, None]
        W, determinant = whitener(np.eye(p.d) + p.covariances / s)  # (S, K, d, d)
        A = W / np.sqrt(s)
        b = np.einsum("skij,kj->isk", A, p.means)
        heights = kernel.scales[1][:, None] * determinant * p.weights
        return cls(
            np.ascontiguousarray(np.moveaxis(A, (2, 3), (0, 1))).reshape(p.d, p.d, -1),
            np.ascontiguousarray(b).reshape(p.d, -1),
            heights.ravel(),
            np.eye(p.d),
        )
