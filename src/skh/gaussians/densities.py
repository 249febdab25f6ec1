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

from skh._numba.component_densities import (
    log_densities_along_axes,
    log_densities_skewed,
    mass_widths,
    set_centred_means,
    set_regular_densities,
    singular_roots,
)
from skh._typing import Array, Indices


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

    def ordered(self, order: Indices) -> LogDensities:
        """The same for the components in this order."""
        roots = self.roots if self.roots.shape[-1] == 1 else self.roots.take(order, axis=-1)
        means, heights = self.means.take(order, axis=1), self.heights.take(order)
        return self._replace(means=means, roots=roots, heights=heights)

    def coordinates(self, x: Array) -> Array:
        """Map rows ``x`` to the coordinates of the means."""
        return np.ascontiguousarray((x - self.origin) @ self.root.T)

    def at(self, z: Array) -> Array:
        """Log-densities ``(n, K)`` at rows ``z`` of `coordinates`."""
        out = np.empty((len(z), self.heights.size))
        if self.roots.ndim == 2:
            log_densities_along_axes(out, z, self.means, self.roots, self.heights)
        else:
            log_densities_skewed(out, z, self.means, self.roots, self.used, self.heights)
        return out


@lru_cache(maxsize=64)
def _ones(d: int) -> tuple[Array, NDArray[np.bool_]]:
    """Roots and used entries of components in coordinates of unit covariance; shared arrays."""
    return np.ones((d, 1)), np.ones((d, d), bool)
