r"""Surrogates of likelihoods with a floor: a parabola near the best points.

Outlier mixtures, likelihood fields and clipped errors are flat far from their peaks, so that no
parabola explains all values.  But floors only lift a log-likelihood: the parabola of the peak is
close to it at the best points, and below it elsewhere.  `fit_envelope` fits a parabola again and
again, trusting a value the less, the more it lies above the previous fit.  Its curvature is that of
the information learned so far; few points then suffice to find the peak.

Where this fails, `zoom` guesses: a Gaussian about the best point, as wide as the distance to its
neighbours.  Each look puts points near the best one, so the next guess is narrower: a trust region.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skh._numba.likelihood_fit import relative_to_best
from skh._typing import Array
from skh.filtering.surrogates.parabola import (
    Parabola,
    Prior,
    Regression,
    fit_parabola,
    squares,
)

MAX_UNEXPLAINED = 0.3  # error of a parabola through all points over the spread of their values
MAX_UNEXPLAINED_NEAR = 1.0  # the same of an envelope, over the points that it explains
ENVELOPE_AMPLITUDES = (0.1, 1.0)  # tau: larger ones would allow any curvature
CAUTIOUS_VARIANCE = 0.01  # kappa where a free H was not positive semi-definite
LIFT_NOISE = 10.0  # noise of a value over a, per unit of log-likelihood above the envelope
NEAR_ENVELOPE = 0.3  # a value this far above the envelope, over 1 + its depth, is explained
REWEIGHTINGS = 6  # iterations
NEIGHBOURS = 2  # of the best point, in addition to d - 1, that give the width of a guess
LEAST_SQUARE = 1e-12  # squared width of a guess, whitened


def fit_surrogate(z: Array, log_likelihood: Array, expected: Prior | None) -> Parabola:
    """Fit a parabola through all points where that explains them, else near the best.

    ``expected`` is the prior of the information in the coordinates z, if any.
    """
    level = relative_to_best(log_likelihood)
    parabola = fit_parabola(z, level, expected)
    if parabola.unexplained < MAX_UNEXPLAINED:
        return parabola
    return fit_envelope(z, level, expected, int(level.argmax()))


def fit_envelope(z: Array, level: Array, expected: Prior | None, start: int) -> Parabola:
    """Fit a parabola that explains the points near ``start`` and lies below the others."""
    guess = zoom(z, start)
    prior = Prior(guess.H, np.sqrt(guess.H), 1.0) if expected is None else expected
    fit = _reweighted(prior, z, level, start)
    if fit.clamped:
        fit = _reweighted(replace(prior, kappa=CAUTIOUS_VARIANCE), z, level, start)
    near = level - fit(z) < NEAR_ENVELOPE * (1.0 - level)
    if fit.clamped or fit.left_out is None or near.sum() < z.shape[1] + 2:
        return guess
    error, spread = (level - fit.left_out)[near], float(np.var(level[near]))
    unexplained = float(np.sqrt(np.mean(error**2) / spread)) if spread > 0.0 else np.inf
    return (
        guess
        if unexplained > MAX_UNEXPLAINED_NEAR
        else replace(fit, unexplained=unexplained, floor=True)
    )


def _reweighted(prior: Prior, z: Array, level: Array, start: int) -> Parabola:
    """Fit again and again, with more noise where a value lies above the previous fit."""
    below, features = -0.5 * squares(z - z[start], prior.H0), prior.features(z)
    for _ in range(REWEIGHTINGS):
        size = np.hypot(1.0 - level, LIFT_NOISE * np.maximum(level - below, 0.0))
        fit = Regression(prior, z, level, size, ENVELOPE_AMPLITUDES, features)
        below = fit.values()
    return fit.parabola()


def zoom(z: Array, start: int) -> Parabola:
    """Guess: a Gaussian about a point, as wide as the distance to its neighbours."""
    H = np.eye(z.shape[1]) / guessed_variance(z, start)
    b = H @ z[start]
    return Parabola(float(-0.5 * z[start] @ b), b, H, None, np.inf, floor=True)


def guessed_variance(z: Array, start: int) -> float:
    """Mean squared distance of a point to its neighbours, per coordinate."""
    d = z.shape[1]
    square = np.sort(((z - z[start]) ** 2).sum(axis=1))[1 : d + NEIGHBOURS]
    return float(max(square.mean() / d, LEAST_SQUARE))
