"""How far points may move: near the components of a mixture, along axes that a kernel resolves."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from skh._numba.component_densities import log_densities_along_axes, log_densities_skewed
from skh._runtime.lazy import lazy
from skh._typing import Array, Indices
from skh.gaussians.linear_algebra import eigh, inverse_root, symmetric, transpose
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.separation import RESOLVED_VARIANCE, all_resolved
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.rules.base import WeightedPoints
from skh.rules.smoothed import squared_bandwidth

GRID_SPACING = 2.0**-14  # of displacements, in units of the kernel's smallest length
FAR_FROM_COMPONENTS = 3.0  # distance from a component beyond sqrt(d), in its standard deviations
SINGULAR = 1e-6  # width of a singular component, in kernel lengths: below any displacement


class Support:
    """The components of a mixture, in the coordinates of a kernel centred at the mixture's mean."""

    def __init__(self, kernel: GaussianKernel, p: GaussianMixture) -> None:
        self._kernel, self._p = kernel, p
        self._finest = kernel.finest_variance
        self._resolved = all_resolved(p, kernel.finest(p.d))  # then nothing is singular

    @lazy
    def _covariances(self) -> Array:
        return self._kernel.mixture(self._p).matrices

    @lazy
    def _axes(self) -> tuple[Array, Array]:
        """Variances and axes of the components."""
        variances, axes = eigh(self._covariances)
        return np.asarray(variances), np.asarray(axes)

    @lazy
    def _means(self) -> Array:
        return self._kernel.coordinates_of(self._p.means - self._p.mean)

    @property
    def grid(self) -> float:
        """Step of displacements, much finer than the kernel.

        It cuts off rounding errors, which descent magnifies, so that results do not depend on
        units.  In a kernel far wider than the mixture no point moves.
        """
        return GRID_SPACING * sqrt(self._finest)

    def holds(self, points: WeightedPoints, displacement: Array, x: Array) -> bool:
        """Whether all points are near a component after their displacement (d, n) to ``x``."""
        if not self._resolved:
            return bool(self.near(points.x, displacement).all())
        far2 = (sqrt(self._p.d) + FAR_FROM_COMPONENTS) ** 2
        off = self._p.densities.far(far2, x, points.component)  # usually none
        return off is None or bool(self.near(points.x[off], displacement[:, off]).all())

    def near(self, x: Array, displacement: Array) -> NDArray[np.bool_]:
        """Whether each point is about as close to some component as draws are.

        Between many narrow components points may be as far off as their kernel-density estimate
        is wide (see `rules.smoothed`), but not along directions without any spread.
        """
        m = self._means
        X = self._kernel.coordinates_of(x - self._p.mean) + displacement
        there = self._projections(self._spread)
        between = squared_bandwidth(self._p) * symmetric((self._p.weights * m) @ m.T)
        variances, axes = self._axes
        negative = np.minimum(variances, 0.0)[..., None, :]  # rounding, in a kernel's coordinates
        S = (
            self._covariances
            - (axes * negative) @ transpose(axes)
            + there @ between @ there
            + SINGULAR**2 * self._finest * np.eye(len(m))
        )
        squares = squared_distances(X, m, S)
        return np.asarray(squares.min(axis=1) <= (np.sqrt(len(m)) + FAR_FROM_COMPONENTS) ** 2)

    @property
    def fixed(self) -> bool:
        """Whether all components are point masses."""
        return not (self._resolved or self._spread.any())

    @property
    def scattered(self) -> bool:
        """Whether means differ along axes without spread, as those of constant parameters do."""
        if self._resolved or self._spread.all():
            return False
        there = self._p.weights > 0.0
        m, limit = self._means[:, there], GRID_SPACING * self._finest**0.5
        fixed = self._projections(~self._spread)
        if fixed.ndim == 2:
            return bool(np.abs(fixed @ (m - m[:, :1])).max() > limit)
        own = zip(m.T, fixed[there], strict=True)
        return any(bool(np.abs(P @ (m - c[:, None])).max() > limit) for c, P in own)

    def spread_axes(self, component: Indices) -> Array | None:
        """Projections (n, d, d) to the axes along which each point's component has a spread.

        None if all components have a spread along all axes.
        """
        if self._resolved or self._spread.all():
            return None
        return self._projections_of(component, self._spread)

    def resolved_axes(self, component: Indices) -> Array:
        """Projections (n, d, d) to the axes of each point's component that the kernel resolves."""
        resolved = self._axes[0] >= RESOLVED_VARIANCE * self._finest
        return self._projections_of(component, resolved)

    @lazy
    def _spread(self) -> NDArray[np.bool_]:
        return np.asarray(self._axes[0] > SINGULAR**2 * self._finest)

    def _projections_of(self, component: Indices, kept: NDArray[np.bool_]) -> Array:
        projections = self._projections(kept)
        if projections.ndim == 3:
            return np.asarray(projections[component])
        return np.broadcast_to(projections, (len(component), *projections.shape))

    def _projections(self, kept: NDArray[np.bool_]) -> Array:
        axes = self._axes[1]
        return np.asarray((axes * kept[..., None, :]) @ transpose(axes))


def squared_distances(X: Array, means: Array, S: Array) -> Array:
    """Squared Mahalanobis distances of columns ``X`` to components, (n, K); S is (d, d) or more."""
    W, level, logs = (
        inverse_root(S),
        np.zeros(means.shape[1]),
        np.empty((X.shape[1], means.shape[1])),
    )
    if S.ndim == 3:
        roots, lower = np.ascontiguousarray(np.moveaxis(W, 0, -1)), np.tri(len(X), dtype=bool)
        log_densities_skewed(logs, np.ascontiguousarray(X.T), means, roots, lower, level)
    else:
        z = np.ascontiguousarray((W @ X).T)
        log_densities_along_axes(logs, z, W @ means, np.ones((len(X), 1)), level)
    return -2.0 * logs
