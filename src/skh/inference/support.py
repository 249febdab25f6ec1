r"""Densities of Gaussians whose noise does not reach all directions.

A position that is driven by its velocity alone has no density given the state before: x_{t+1} lies
in :math:`m(x_t) + \mathrm{range}(Q)`.  On that support it has one, in the coordinates E x along
it.  Derivatives with respect to parameters exist if the support stays where it is: neither the
range of Q nor the mean in the other directions, N m, may depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads scipy.special on first use

from skh._typing import Array
from skh.gaussians.linear_algebra import log_density, symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.units import correlations

NO_NOISE = 1e-11  # eigenvalue of the correlations below which a direction has no noise
SUPPORT_ROUNDING = 1e-8  # standard deviations by which rounding may move a support


@dataclass(frozen=True, eq=False)
class Support:
    """Coordinates along the support of the components of a mixture, and across it."""

    along: Array | None  # (r, d), None: the whole space
    across: Array  # (d - r, d)
    means: Array  # (K, d) of the mixture

    @classmethod
    def of(cls, p: GaussianMixture) -> Support:
        """Return the common support of the components of ``p``."""
        S = p.matrices if p.matrices.ndim == 2 else np.einsum("k,kij->ij", p.weights, p.matrices)
        sd, C = correlations(S)
        values, axes = np.linalg.eigh(symmetric(C))
        reached = values > NO_NOISE * max(float(values.max()), 0.0)
        if reached.all():
            return cls(None, np.empty((0, p.d)), p.means)
        scale = np.sqrt(np.maximum(p.covariance.diagonal(), np.finfo(float).tiny))
        sd = np.where(S.diagonal() > 0.0, sd, scale)
        return cls(axes[:, reached].T / sd, axes[:, ~reached].T / sd, p.means)

    def log_density(self, x: Array, means: Array, S: Array) -> Array:
        """``log N(x | means, S)`` along the support, for rows."""
        residual = x - means
        if self.along is None:
            return log_density(residual, S, "the covariance of model.transition")
        if len(self.along) == 0:
            return np.zeros(len(x))
        E = self.along
        S = symmetric(E @ S @ E.T)
        return log_density(residual @ E.T, S, "the covariance of model.transition")

    def check(self, p: GaussianMixture) -> None:
        """Raise ValueError if the support of ``p`` differs: its density has no derivative."""
        if self.along is None:
            return
        moved = np.abs((p.means - self.means) @ self.across.T).max(initial=0.0)
        spread = np.abs(self.across @ p.matrices @ self.across.T).max(initial=0.0)
        if moved > SUPPORT_ROUNDING or spread > SUPPORT_ROUNDING:
            raise ValueError(
                "the score needs transition noise in all directions that depend on theta: the "
                "next state has no noise in some direction and its mean or noise there changes "
                "with theta; add noise there, or keep such parameters fixed"
            )

    def log_mixture(self, p: GaussianMixture, x: Array) -> Array:
        """Log-density of a mixture such as the prior, at rows."""
        self.check(p)
        K = len(p)
        S = np.broadcast_to(p.matrices, (K, p.d, p.d))
        with np.errstate(divide="ignore"):
            logs = [np.log(p.weights[k]) + self.log_density(x, p.means[k], S[k]) for k in range(K)]
        return np.asarray(scipy.special.logsumexp(logs, axis=0))
