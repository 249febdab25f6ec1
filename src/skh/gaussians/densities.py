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

from math import log, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh._numba.cholesky import invert_triangles, semidefinite_factors, widen_masses
from skh._numba.component_densities import log_densities_along_axes, log_densities_skewed
from skh._typing import Array

EPSILON = float(np.finfo(float).eps)
MASS_WIDTH = 1e-10  # least delta, relative to the mixture's standard deviations
POINT_ROUNDING = 64 * EPSILON  # error of a point on a support, relative to its coordinates
MIN_WIDTH = 1e-140  # its inverse, times another one, must not overflow
CONSTANT = 1e-12  # a spread this small, relative to the values, is rounding


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
        d = means.shape[1]
        width, finest = mass_widths(means, variances)
        common, roots, log_det = np.eye(d), np.ones((d, 1)), np.zeros(())
        if covariances.ndim < 2:
            sd = _deviations(covariances, width, finest)
            roots, log_det = np.ascontiguousarray(1.0 / sd.T), -np.log(sd).sum(axis=1)
        elif covariances.ndim == 2:
            W, log_det = _inverse_roots(covariances[None], width, finest)
            common = W[0]
        else:
            W, log_det = _inverse_roots(covariances, width, finest)
            roots = np.ascontiguousarray(W.transpose(1, 2, 0))
        with np.errstate(divide="ignore"):  # log of weight zero
            heights = np.log(weights) + log_det - 0.5 * d * log(2 * pi)
        centred = np.ascontiguousarray(common @ (means - mean).T)
        used = (roots != 0.0).any(axis=-1)
        return cls(mean, common, centred, roots, used, heights)

    def coordinates(self, x: Array) -> Array:
        """Map rows ``x`` to the coordinates of the means."""
        return np.ascontiguousarray((x - self.origin) @ self.root.T)

    def at(self, z: Array) -> Array:
        """Log-densities ``(n, K)`` at rows ``z`` of `coordinates`."""
        if self.roots.ndim == 2:
            along = log_densities_along_axes(z, self.means, self.roots, self.heights)
            return np.asarray(along)
        return np.asarray(log_densities_skewed(z, self.means, self.roots, self.used, self.heights))


def mass_widths(means: Array, variances: Array) -> tuple[Array, Array]:
    """Return the deltas, and the least standard deviations that points can resolve.

    >>> mass_widths(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([1.0, 0.0]))[0]
    array([1.e-10, 5.e-12])
    """
    size, sd = np.abs(means).max(axis=0), np.sqrt(variances)
    varies = sd > CONSTANT * size
    offset = np.divide(size, sd, out=np.zeros(len(sd)), where=varies).max()
    share = max(MASS_WIDTH, POINT_ROUNDING * float(offset))
    constant = np.where(size > 0.0, CONSTANT * size, share)
    width = np.maximum(np.where(varies, share * sd, constant), MIN_WIDTH)
    return width, np.maximum(EPSILON * size, MIN_WIDTH)


def _deviations(variances: Array, width: Array, finest: Array) -> Array:
    """Standard deviations along the axes, (K, d) or (1, d), of spherical components."""
    sd = np.sqrt(np.atleast_1d(variances))[:, None]
    return np.where(sd > 0.0, np.maximum(sd, finest), width)


def _inverse_roots(S: Array, width: Array, finest: Array) -> tuple[Array, Array]:
    """Inverse roots W of covariances (K, d, d), and the logarithms of their determinants."""
    L, order, rank = semidefinite_factors(np.ascontiguousarray(S))
    axes = np.arange(S.shape[-1])
    free = L[:, axes, axes] > 0.0
    widen_masses(L, order, rank, width)
    L[:, axes, axes] = np.where(free, np.maximum(L[:, axes, axes], finest), L[:, axes, axes])
    W = np.empty(L.shape)
    invert_triangles(W, L, order)
    return W, -np.log(L[:, axes, axes]).sum(axis=1)
