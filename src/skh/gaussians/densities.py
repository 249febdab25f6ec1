r"""Log-densities of all components of a mixture at many points, singular components included.

A component that is regular up to rounding has its exact density.  A singular one has none; it has
that of :math:`\mathcal N(\mu, \Sigma + \mathrm{diag}(\delta)^2)` in the limit of small
:math:`\delta`.  All components have the same :math:`\delta`, a tiny share of the mixture's standard
deviations: among components with the same support the usual densities on that support decide, and
a point off all supports goes to the nearest component in units of the mixture.  The share grows
with the distance of the mixture from the origin, so that points that lie on a support up to
rounding count as on it.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh._numba.ancestors import choose_components, coordinates, mark_far
from skh._numba.component_densities import (
    log_densities_along_axes,
    log_densities_skewed,
    mass_widths,
    set_centred_means,
    set_regular_densities,
    singular_roots,
)
from skh._typing import Array, Indices
from skh.gaussians.linear_algebra import read_only


class LogDensities(NamedTuple):
    """``log(weights[k] N(x | means[k], covariances[k]))``, prepared for many points x."""

    origin: Array  # (d,), subtracted from all points: rounding errors are relative to what is left
    root: Array  # (d, d), applied to all points: the common inverse root, or the identity
    means: Array  # (d, K), in these coordinates
    roots: Array  # (d, 1) or (d, K): inverse deviations along axes; (d, d, K): inverse roots
    used: NDArray[np.bool_]  # (d, d): entries of the inverse roots that are not always zero
    heights: Array  # (K,)

    @classmethod
    def of(
        cls, weights: Array, means: Array, covariances: Array, mean: Array, variances: Array
    ) -> LogDensities:
        """Prepare the components of a mixture with this ``mean`` and these ``variances``."""
        d, mean, variances = len(mean), mean.copy(), variances.copy()  # writable, for Numba
        if covariances.ndim == 1:
            return cls._spherical(weights, means, covariances, mean, variances)
        S = np.array(covariances if covariances.ndim else covariances * np.eye(d), ndmin=3)
        centred, heights, W = np.empty((d, len(means))), np.empty(len(means)), np.empty(S.shape)
        if not set_regular_densities(centred, heights, W, weights, means, S, mean, variances):
            L, W = singular_roots(means, S, variances)
            set_centred_means(centred, heights, weights, means, L, W, mean)
        if len(W) == 1:
            return cls(mean, W[0], centred, *_ones(d), heights)
        roots = np.ascontiguousarray(W.transpose(1, 2, 0))
        return cls(mean, np.eye(d), centred, roots, (roots != 0.0).any(axis=-1), heights)

    @classmethod
    def _spherical(
        cls, weights: Array, means: Array, covariances: Array, mean: Array, variances: Array
    ) -> LogDensities:
        """Prepare components with a variance each, the same in all directions."""
        d, (width, finest) = len(mean), mass_widths(means, variances)
        sd = np.sqrt(covariances)[:, None]
        sd = np.where(sd > 0.0, np.maximum(sd, finest), width)
        with np.errstate(divide="ignore"):  # log of weight zero
            heights = np.log(weights) - np.log(sd).sum(axis=1) - 0.5 * d * log(2 * pi)
        centred, roots = (np.ascontiguousarray(a.T) for a in (means - mean, 1.0 / sd))
        return cls(mean, np.eye(d), centred, roots, np.ones((d, 1), bool), heights)

    def at(self, x: Array) -> Array:
        """Log-densities ``(n, K)`` at rows ``x``."""
        z, out = coordinates(read_only(x), *self[:2]), np.empty((len(x), self.heights.size))
        if self.roots.ndim == 2:
            log_densities_along_axes(out, z, self.means, self.roots, self.heights)
        else:
            log_densities_skewed(out, z, *self[2:])
        return out

    def choose(self, x: Array, order: Indices, u: Array, rows: int) -> Indices:
        """Choose a component for each row of ``x`` by inverse transform of ``u`` (n,) in an order.

        Some ``rows`` are done at once: the whole matrix (n, K) may not fit in memory.
        """
        chosen = np.empty(len(x), np.intp)
        choose_components(chosen, u, order, rows, read_only(x), *self)
        return chosen

    def far(self, square: float, x: Array, component: Indices) -> NDArray[np.bool_] | None:
        """Whether rows have a larger squared Mahalanobis distance to all components.

        ``component`` (n,) is tried first.  None if none has; for regular components.
        """
        far = np.empty(len(x), np.bool_)
        return far if mark_far(far, square, component, read_only(x), *self) else None


@lru_cache(maxsize=64)
def _ones(d: int) -> tuple[Array, NDArray[np.bool_]]:
    """Roots and used entries of components in coordinates of unit covariance; shared arrays."""
    return np.ones((d, 1)), np.ones((d, d), bool)
