r"""What the likelihood sees: the Fisher information of an observation, learned while filtering.

A filter that has just evaluated :math:`\ell_i = \log p(y_t | x_i)` knows more than weights: how
sharply the likelihood falls off, and in which directions.  A function f is fitted to these values
(`fit_log_likelihood`), and the mean of its curvature under the posterior,

.. math:: F = -E[\nabla^2 f],

is the Fisher information in the state: zero along every direction that the observation does not
see.

Where there are hardly more particles than dimensions many functions fit, and which of them is taken
decides.  f is a Gaussian process that expects the likelihood to change as it did before: the
information S learned so far (plus a little in every direction, for what was not yet seen) is the
metric of its covariance.  So each step asks only what the steps before did not explain, and a
likelihood that sees few directions has them found within a few steps, although no single step has
enough particles to do so (compare the recursive feature machines of Radhakrishnan et al., 2024).
Whether f is a parabola or anything smooth is decided at each step by the marginal likelihood: a
parabola needs far fewer particles, and is exactly right for Gaussian observations.

A model that knows better says so: ``observation_metric(t, x)`` returns F at each row of x,
``(n, d, d)`` or one ``(d, d)``, for instance :math:`H^\top R^{-1} H`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # loads its parts when they are first used

from skh._typing import Array
from skh.gaussians.linear_algebra import standard_deviations, symmetric
from skh.gaussians.mixture import GaussianMixture

POOLING_WINDOW = 30  # steps over which evidence is pooled
HEAD_START = 3.0  # a step counts so many times as much as those before: they knew less
MAX_FITTED = 100  # particles that f is fitted to: the heaviest
MAX_CENTRES = 16  # particles at which its curvature is taken: the heaviest of these
MAX_DEPTH = 30.0  # log-likelihoods this far below the best are all alike: gone
ACCURACY = 0.05  # of f, relative to the depth below the best (plus one)
UNEXPECTED_SHARE = 0.01  # information expected in any direction, relative to the mean over all
SQUARED_LENGTH = 0.3  # over which f departs from a parabola, relative to the state's spread
DEPTH_LIMIT = 1e12  # keeps what is squared finite
MIN_INFORMATION = 1e-3  # information in all directions together that is expected at least
REGRESSION_JITTER = 1e-12  # of the regression, relative to its variance


def model_information(
    observation_metric: Callable[[int, Array], Array], t: int, p: GaussianMixture
) -> Array:
    """The information that the model knows, (d, d): its mean over the components of ``p``."""
    n, d = p.means.shape
    F = np.asarray(observation_metric(t, p.means), dtype=np.float64)
    if F.shape not in ((d, d), (n, d, d)) or not np.isfinite(F).all():
        raise ValueError(
            f"model.observation_metric at t={t} must return finite numbers of shape "
            f"({d}, {d}) or ({n}, {d}, {d}), got shape {F.shape}"
        )
    return symmetric(F if F.ndim == 2 else np.einsum("k,kij->ij", p.weights, F))


@dataclass(frozen=True, eq=False)
class LearnedInformation:
    """The information learned up to a step, as a function of its likelihoods."""

    x: Array  # (n, d): the particles of the last step with an observation
    w: Array  # (n,): their weights before it
    log_likelihood: Array  # (n,)
    pooled: Array | None = None  # (d, d): the information of the steps before, if there were any
    steps: int = 0  # how many there were

    @cached_property
    def matrix(self) -> Array:
        """The pooled information, (d, d), symmetric but not necessarily positive."""
        F = self._of_this_step()
        if self.pooled is None:
            return F
        share = max(HEAD_START / (self.steps + HEAD_START), 1.0 / POOLING_WINDOW)
        return (1.0 - share) * self.pooled + share * F

    def then(
        self, x: Array, w: Array, log_likelihood: Array, pooled: Array | None
    ) -> LearnedInformation:
        """The same after one more step.

        ``pooled`` is this `matrix` where the rule has used it; None leaves this step out.
        """
        if pooled is None:
            return LearnedInformation(x, w, log_likelihood, self.pooled, self.steps)
        return LearnedInformation(x, w, log_likelihood, pooled, self.steps + 1)

    def _of_this_step(self) -> Array:
        level = relative_to_best(self.log_likelihood)
        posterior = self.w * np.exp(np.maximum(level, -MAX_DEPTH))
        heaviest = np.argsort(-posterior, kind="stable")[:MAX_FITTED]
        T, L = self._whitening()
        z = (self.x[heaviest] - self.w @ self.x) @ T.T
        S = expected_information(
            np.zeros_like(L) if self.pooled is None else L.T @ self.pooled @ L, level
        )
        share = posterior[heaviest[:MAX_CENTRES]]
        F = fit_log_likelihood(z, level[heaviest], S).information(share / share.sum())
        return symmetric(T.T @ F @ T)

    def _whitening(self) -> tuple[Array, Array]:
        """The map to coordinates in which the particles have unit covariance, and its inverse."""
        d = self.x.shape[1]
        centred = self.x - self.w @ self.x
        P = (self.w * centred.T) @ centred
        sd = standard_deviations(P.diagonal(), self.x)
        root = np.linalg.cholesky(P / np.outer(sd, sd) + 1e-3 * np.eye(d))
        return np.linalg.inv(root) / sd, sd[:, None] * root


def relative_to_best(log_likelihood: Array) -> Array:
    """Log-likelihoods less the highest; impossible particles are as deep as the deepest other."""
    with np.errstate(over="ignore"):
        level = np.maximum(log_likelihood - log_likelihood.max(), -DEPTH_LIMIT)
    possible = np.isfinite(log_likelihood)
    return np.asarray(np.where(possible, level, level[possible].min(initial=0.0)))


def expected_information(before: Array, level: Array) -> Array:
    """The information to expect: as before, but no direction excluded, and enough for ``level``.

    A likelihood of information S falls by about trace(S) / 2 over the spread of the particles.  One
    that falls by more was not expected, and would hardly be learned from if S were not raised.
    """
    d = len(before)
    seen, axes = np.linalg.eigh(symmetric(before))
    seen = np.maximum(seen, 0.0)
    total = max(float(seen.sum()), -float(np.median(level)), MIN_INFORMATION)
    if seen.sum() <= MIN_INFORMATION:
        return np.asarray(total / d * np.eye(d))
    seen *= total / seen.sum()
    return np.asarray((axes * (seen + UNEXPECTED_SHARE * total / d)) @ axes.T)


@dataclass(frozen=True, eq=False)
class LogLikelihoodFit:
    """A function that takes given values at points z: a parabola plus ``bumps``."""

    S: Array  # (d, d): the metric
    moved: Array  # (m, d): the points times S
    alpha: Array  # (m,): coefficients of the covariances with the points
    bumps: Array | None  # (m, m): the covariances of what is no parabola
    length2: float  # of a bump, in the metric

    def information(self, share: Array) -> Array:
        """Minus the mean second derivative at the first points, which have these shares."""
        F = -(self.moved.T * self.alpha) @ self.moved
        if self.bumps is None:
            return F
        U, V = self.moved[: len(share)], self.moved
        W = share[:, None] * self.bumps[: len(share)] * self.alpha / self.length2
        cross = U.T @ W @ V
        square = (U.T * W.sum(axis=1)) @ U + (V.T * W.sum(axis=0)) @ V - cross - cross.T
        return np.asarray(F + W.sum() * self.S - square / self.length2)


def fit_log_likelihood(z: Array, values: Array, S: Array) -> LogLikelihoodFit:
    """The parabola, or the smooth function, that explains values <= 0 better.

    The deeper a value the less exact it need be: what counts is the likelihood near its top.
    """
    zS, total = z @ S, float(np.trace(S))
    q = zS @ z.T
    parabola = 0.5 * (1.0 + total + q) ** 2
    square = np.maximum(q.diagonal()[:, None] + q.diagonal() - 2.0 * q, 0.0)
    length2 = SQUARED_LENGTH * total
    bumps = (1.0 + total) ** 2 * np.exp(-0.5 * square / length2)
    noise = (ACCURACY * (1.0 - values)) ** 2 + REGRESSION_JITTER * parabola.diagonal().max()
    plain, plain_evidence = regression(parabola, noise, values)
    bumpy, bumpy_evidence = regression(parabola + bumps, noise, values)
    if bumpy_evidence > plain_evidence:
        return LogLikelihoodFit(S, zS, bumpy, bumps, length2)
    return LogLikelihoodFit(S, zS, plain, None, length2)


def regression(covariance: Array, noise: Array, values: Array) -> tuple[Array, float]:
    """The coefficients of a Gaussian process, and the logarithm of its marginal likelihood."""
    linalg = scipy.linalg
    factor, lower = linalg.cho_factor(covariance + np.diag(noise), lower=True, check_finite=False)
    alpha = linalg.cho_solve((factor, lower), values, check_finite=False)
    return alpha, float(-0.5 * values @ alpha - np.log(factor.diagonal()).sum())
