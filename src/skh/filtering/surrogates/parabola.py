r"""Parabolas fitted to log-likelihoods.

.. math:: \log\hat o(z) = c + b^\top z - z^\top H z / 2, \qquad H \ge 0,

in coordinates z in which the predictive mixture has mean zero and unit covariance.  Bayesian
regression: values have a noise :math:`a (1 + \text{depth below the best})`, since a parabola is
only an approximation and must be best near the maximum.  A priori the parabola is a Gaussian
process with mean :math:`-z^\top H_0 z / 2` and covariance

.. math:: \tau \bigl((1 + s)^2 / 2 + (1 + s) q + \kappa q^2 / 2\bigr),
          \qquad q = z^\top S z', \quad s = \operatorname{tr} S.

Without knowledge :math:`H_0 = 0`, S is a multiple of I, and :math:`\kappa = 1`.  Information F
about the state, told by the model or learned, is the expected curvature: then :math:`H_0 = F`, S is
about F, and either H is F (:math:`\kappa = 0`) or it may differ from F by about 70 per cent.  One
singular value decomposition of the features of a prior gives the marginal likelihood for every
noise a and amplitude :math:`\tau`, and the leave-one-out errors; the best combination is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from skh._numba.evidence import most_evident
from skh._numba.likelihood_fit import UNEXPECTED_SHARE
from skh._numba.parabolas import (
    quadratic_coefficients,
    quadratic_features,
    relative_to_noise,
    values_of_parabola,
)
from skh._numba.vectors import mean_square, variance
from skh._typing import Array
from skh.filtering.likelihood_information import median
from skh.filtering.surrogates.target import Target
from skh.gaussians.bump import Bump
from skh.gaussians.linear_algebra import eigh, regularized_root, symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.adaptive import METRIC_JITTER

# a: noise of a log-likelihood over 1 + its depth below the best
NOISES = np.array([1e-6, 1e-3, 0.03, 0.3])
AMPLITUDES = tuple(4.0**k for k in range(-4, 5))  # tau, without unit
VARIANCE_OF_INFORMATION = 0.25  # kappa where F is known: H is F within about 70 %
RELEARNED = 3  # fits without information whose S is the curvature of the previous fit
LEAST_SPREAD = 1e-300  # variance of log-likelihoods, to divide by
TRIAL_POWER = 0.7  # of the surrogate in a trial: it may be too narrow
REGRESSION_RIDGE = 1e-6  # of c and b where H was clamped, relative to the features' unit


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates z = T (x - mean) in which a mixture has mean zero and unit covariance."""

    mean: Array
    L: Array  # x = mean + L z
    T: Array

    @classmethod
    def of(cls, p: GaussianMixture) -> Whitening:
        """Coordinates for the mixture ``p``."""
        return cls(p.mean, *regularized_root(p.covariance, p.means, METRIC_JITTER))

    def __call__(self, x: Array) -> Array:
        """Coordinates of the rows of ``x``."""
        return np.asarray((x - self.mean) @ self.T.T)

    def bump(self, parabola: Parabola) -> Bump:
        """Return the exponential of a parabola in z as a function of x."""
        H = symmetric(self.T.T @ parabola.H @ self.T)
        return Bump.known(parabola.c, parabola.b @ self.T, H, self.mean)


@dataclass(frozen=True, eq=False)
class Parabola:
    """A parabola fitted to log-likelihoods, relative to the largest of them.

    ``left_out`` (n,) is the fit at each point without its value, None if it was only guessed, and
    ``unexplained`` the root mean square of those errors over the spread of the values.  A parabola
    of the best points alone has a ``floor``: the others lie above it.
    """

    c: float
    b: Array
    H: Array
    left_out: Array | None
    unexplained: float
    clamped: bool = False  # H had negative eigenvalues
    floor: bool = False

    def __call__(self, z: Array) -> Array:
        """Values at the rows of z."""
        return np.asarray(values_of_parabola(z, self.c, self.b, self.H))

    def target(
        self, p: GaussianMixture, frame: Whitening, m: int, sure: bool, rng: np.random.Generator
    ) -> Target:
        """Return p times the exponential of the parabola, or of a flatter one if not ``sure``."""
        return self.product(p, frame, 1.0 if sure else TRIAL_POWER)

    def product(self, p: GaussianMixture, frame: Whitening, power: float = 1.0) -> Target:
        """Return p times a power of the exponential of the parabola."""
        bump = frame.bump(self).power(power)
        q, log_norm = p.times(bump)
        return Target(q, bump.log, log_norm)


@dataclass(frozen=True, eq=False)
class Prior:
    """Gaussian process over parabolas with mean -z' H0 z / 2."""

    H0: Array
    root: Array  # of S
    kappa: float

    def features(self, z: Array) -> Array:
        """Return features (n, m) of unit variance a priori."""
        return np.asarray(quadratic_features(z, self.root, self.kappa))

    def coefficients(self, theta: Array) -> tuple[float, Array, Array]:
        """Return (c, b, H) of the parabola with these coefficients of the features."""
        c, b, curvature = quadratic_coefficients(theta, self.root, self.kappa)
        return c, b, symmetric(self.H0 - curvature)


def squares(z: Array, H: Array) -> Array:
    """``z' H z`` for the rows of z."""
    return np.asarray(((z @ H) * z).sum(axis=1))


def uninformed(d: int, level: Array) -> Prior:
    """Prior without knowledge, scaled to the spread of the values."""
    scale = max(-median(level), 1.0) / d
    return Prior(np.zeros((d, d)), sqrt(scale) * np.eye(d), 1.0)


def informed(information: Array) -> Prior:
    """Prior with ``information`` (d, d) as the expected curvature."""
    d = len(information)
    seen, axes = eigh(symmetric(information))
    seen = np.maximum(seen, 0.0)
    expected = seen + UNEXPECTED_SHARE * max(float(seen.sum()), 1.0) / d
    return Prior((axes * seen) @ axes.T, axes * np.sqrt(expected), VARIANCE_OF_INFORMATION)


def fit_parabola(z: Array, level: Array, expected: Prior | None) -> Parabola:
    """Fit a parabola to values ``level`` <= 0 at points z, by the prior of most evidence.

    The ``expected`` one is that of the information known about the state.
    """
    size = 1.0 - level
    fits = [Regression(uninformed(z.shape[1], level), z, level, size)]
    if expected is None:
        for _ in range(RELEARNED):
            learned = informed(fits[-1].parabola().H)
            prior = Prior(fits[0].prior.H0, learned.root, 1.0)
            fits.append(Regression(prior, z, level, size))
    else:
        features, known = expected.features(z), replace(expected, kappa=0.0)
        fits += [
            Regression(known, z, level, size, features=features[:, : z.shape[1] + 1].copy()),
            Regression(expected, z, level, size, features=features),
        ]
    return max(fits, key=lambda fit: fit.evidence).parabola()


class Regression:
    """Bayesian regression of ``level`` on points z with noise of relative ``size``."""

    def __init__(
        self,
        prior: Prior,
        z: Array,
        level: Array,
        size: Array,
        amplitudes: Sequence[float] = AMPLITUDES,
        features: Array | None = None,
    ) -> None:
        self.prior, self.z, self.level, self.size = prior, z, level, size
        known = prior.features(z) if features is None else features
        A, y = relative_to_noise(known, z, level, prior.H0, size)
        U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
        # error: at each point without its value
        self.evidence, self.theta, self.error = most_evident(
            U, sigma, Vt, y, size, np.array(amplitudes), NOISES
        )

    def parabola(self) -> Parabola:
        """Return the posterior mean, with H clamped to be positive semi-definite."""
        c, b, H, clamped = self.coefficients()
        error = self.error
        if clamped:  # the regression's errors are not those of what is returned
            own = self.level - values_of_parabola(self.z, c, b, H)
            error = np.where(np.abs(own) > np.abs(error), own, error)
        unexplained = sqrt(mean_square(error) / max(variance(self.level), LEAST_SPREAD))
        return Parabola(c, b, H, self.level - error, unexplained, clamped)

    def coefficients(self) -> tuple[float, Array, Array, bool]:
        """Return (c, b, H) of the posterior mean, and whether H had to be clamped."""
        c, b, H = self.prior.coefficients(self.theta)
        if self.prior.kappa == 0.0:
            return c, b, H, False
        lambdas, axes = eigh(H)
        if lambdas[0] >= 0.0:
            return c, b, H, False
        H = (axes * np.maximum(lambdas, 0.0)) @ axes.T
        return *self._refitted(H), H, True

    def values(self) -> Array:
        """Values of the parabola at the points."""
        c, b, H, _ = self.coefficients()
        return np.asarray(values_of_parabola(self.z, c, b, H))

    def _refitted(self, H: Array) -> tuple[float, Array]:
        """Fit c and b again for given H."""
        values = (self.level + 0.5 * squares(self.z, H)) / self.size
        features = np.column_stack([np.ones(len(self.z)), self.z]) / self.size[:, None]
        gram = features.T @ features + REGRESSION_RIDGE * np.eye(features.shape[1])
        solution = np.linalg.solve(gram, features.T @ values)
        return float(solution[0]), np.asarray(solution[1:], dtype=np.float64)
