r"""Parabolas fitted to log-likelihoods: surrogates :math:`\hat o` of a likelihood o.

.. math:: \log\hat o(z) = c + b^\top z - z^\top H z / 2, \qquad H \ge 0,

in coordinates z in which the predictive mixture has mean zero and unit covariance.  Bayesian
regression: values are known up to a noise :math:`a (1 + \text{depth below the best})`, since a
parabola is only an approximation and must be best near the maximum.  The prior is a Gaussian
process with covariance

.. math:: \tau \bigl((1 + s)^2 / 2 + (1 + s) q + \kappa q^2 / 2\bigr),
          \qquad q = z^\top S z', \quad s = \operatorname{tr} S,

around :math:`-z^\top H_0 z / 2`.  Without knowledge :math:`H_0 = 0`, S is a multiple of I and
:math:`\kappa = 1`; with information F about the state, :math:`H_0` is F and S about F.  After rows
and columns are divided by 1 + depth, one eigendecomposition gives the marginal likelihood and the
leave-one-out errors for every noise a and amplitude :math:`\tau`; the best combination is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skh._typing import Array
from skh.filtering.likelihood_information import UNEXPECTED_SHARE, relative_to_best
from skh.gaussians.bump import Bump
from skh.gaussians.linear_algebra import symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.adaptive import covariance_factor

NOISES = (1e-3, 0.03, 0.3)  # a: noise of a log-likelihood over 1 + its depth below the best
AMPLITUDES = tuple(4.0**k for k in range(-4, 5))  # tau
RELATIVE_VARIANCE = 0.25  # kappa where the information is known: H is F within about 70 %
JITTER = 1e-13  # least noise variance, relative to the largest prior variance


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates z = T (x - mean) in which a mixture has mean zero and unit covariance."""

    mean: Array
    L: Array  # x = mean + L z
    T: Array

    @classmethod
    def of(cls, p: GaussianMixture) -> Whitening:
        """Coordinates for the mixture ``p``."""
        L = covariance_factor(p)
        return cls(p.mean, L, np.asarray(np.linalg.inv(L), dtype=np.float64))

    def __call__(self, x: Array) -> Array:
        """Coordinates of the rows of ``x``."""
        return np.asarray((x - self.mean) @ self.T.T)

    def bump(self, c: float, b: Array, H: Array) -> Bump:
        """Return the bump exp(c + b'z - z'Hz/2) as a function of x."""
        return Bump._known(c, b @ self.T, symmetric(self.T.T @ H @ self.T), self.mean)


@dataclass(frozen=True, eq=False)
class Parabola:
    """A parabola fitted to log-likelihoods, relative to the largest of them."""

    c: float
    b: Array
    H: Array
    left_out: Array  # (n,): the fit at each point without its value
    unexplained: float  # rms of leave-one-out errors over the spread of the values

    def __call__(self, z: Array) -> Array:
        """Values at the rows of z."""
        return np.asarray(self.c + z @ self.b - 0.5 * ((z @ self.H) * z).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Prior:
    """Gaussian process over parabolas with mean -z' H0 z / 2."""

    H0: Array
    S: Array
    kappa: float

    def covariance(self, z: Array) -> Array:
        """Covariance of the values at the rows of z."""
        s, q = 1.0 + float(np.trace(self.S)), z @ self.S @ z.T
        return np.asarray(0.5 * s * s + s * q + 0.5 * self.kappa * q * q)

    def mean(self, z: Array) -> Array:
        """Mean of the values at the rows of z."""
        return np.asarray(-0.5 * ((z @ self.H0) * z).sum(axis=1))

    def coefficients(self, z: Array, alpha: Array) -> tuple[float, Array, Array]:
        """Return (c, b, H) of the posterior mean with these coefficients at the points."""
        s, zS = 1.0 + float(np.trace(self.S)), z @ self.S
        H = self.H0 - self.kappa * (zS.T * alpha) @ zS
        return float(0.5 * s * s * alpha.sum()), s * (alpha @ zS), symmetric(H)


def priors(d: int, level: Array, information: Array | None) -> list[Prior]:
    """Priors to choose from: no knowledge, and ``information`` (d, d) if it is known."""
    scale = max(-float(np.median(level)), 1.0) / d
    found = [Prior(np.zeros((d, d)), scale * np.eye(d), 1.0)]
    if information is not None:
        seen, axes = np.linalg.eigh(symmetric(information))
        seen = np.maximum(seen, 0.0)
        H0 = (axes * seen) @ axes.T
        S = H0 + UNEXPECTED_SHARE * max(float(seen.sum()), 1.0) / d * np.eye(d)
        found.append(Prior(H0, S, RELATIVE_VARIANCE))
    return found


def fit_parabola(z: Array, log_likelihood: Array, information: Array | None = None) -> Parabola:
    """Fit a parabola to values at points z (n, d); ``information`` is that expected in z."""
    level = relative_to_best(log_likelihood)
    d = z.shape[1]
    fits = [_fit(prior, z, level) for prior in priors(d, level, information)]
    return max(fits, key=lambda fit: fit[0])[1]()


def _fit(prior: Prior, z: Array, level: Array) -> tuple[float, Callable[[], Parabola]]:
    """Return the log marginal likelihood, and a function that gives the fit."""
    size = 1.0 - level
    y = (level - prior.mean(z)) / size
    lambdas, U = np.linalg.eigh(prior.covariance(z) / np.outer(size, size))
    lambdas = np.maximum(lambdas, 0.0)
    v = U.T @ y
    taus, noises = np.array(AMPLITUDES)[:, None], np.array(NOISES)
    floor = JITTER * lambdas[-1] * taus
    variances = taus[..., None] * lambdas + (noises**2 + floor)[..., None]
    evidence = -0.5 * (v * v / variances + np.log(variances)).sum(axis=-1)
    i, j = np.unravel_index(int(evidence.argmax()), evidence.shape)

    def solution() -> Parabola:
        weights = 1.0 / variances[i, j]
        alpha = U @ (weights * v)
        residual = alpha / (U * U @ weights)
        c, b, H = prior.coefficients(z, taus[i, 0] * alpha / size)
        lowest = np.linalg.eigvalsh(H)[0]
        if lowest < 0.0:
            c, b, H = clamped(z, level, H, size)
        error = residual * size
        spread = max(float(np.var(level)), 1e-300)
        unexplained = float(np.sqrt(np.mean(error**2) / spread))
        return Parabola(c, b, H, level - error, unexplained)

    return float(evidence[i, j]), solution


def clamped(z: Array, level: Array, H: Array, size: Array) -> tuple[float, Array, Array]:
    """Set negative curvatures to zero, and fit c and b again."""
    lambdas, axes = np.linalg.eigh(H)
    H = (axes * np.maximum(lambdas, 0.0)) @ axes.T
    values = (level + 0.5 * ((z @ H) * z).sum(axis=1)) / size
    features = np.column_stack([np.ones(len(z)), z]) / size[:, None]
    ridge = 1e-6 * np.eye(features.shape[1])
    solution = np.linalg.solve(features.T @ features + ridge, features.T @ values)
    return float(solution[0]), solution[1:], H
