"""Bayesian regression on given features, for many amplitudes and noises at once."""

from __future__ import annotations

from math import log

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.vectors import add_scaled

LEAST_FREEDOM = 1e-15  # share of a value that its fit leaves as residual; less is rounding


@compiled
def most_evident(U, sigma, Vt, y, size, amplitudes, noises):
    """Regress y on features U diag(sigma) V', by the amplitude and noise of most evidence.

    Return that evidence, the coefficients, and ``size`` times the error at each point without its
    value, by the smoother's diagonal.
    """
    (n, m), beyond = U.shape, 0.0
    rest, v, kept = np.empty(n), np.empty(m), np.empty(m)
    for k in range(m):
        v[k] = 0.0
        for i in range(n):
            v[k] += U[i, k] * y[i]
    for i in range(n):
        rest[i] = y[i]  # beyond all features
        for k in range(m):
            rest[i] -= U[i, k] * v[k]
        beyond += rest[i] ** 2
    least, tau, noise = np.inf, 0.0, 1.0
    for j in range(amplitudes.size * noises.size):
        amplitude, a2 = amplitudes[j // noises.size], noises[j % noises.size] ** 2
        misfit = beyond / a2 + (n - m) * log(a2)
        for k in range(m):
            variance = amplitude * sigma[k] ** 2 + a2
            misfit += v[k] ** 2 / variance + log(variance)
        if misfit < least:
            least, tau, noise = misfit, amplitude, a2
    for k in range(m):
        variance = tau * sigma[k] ** 2 + noise
        kept[k] = noise / variance  # share of v that the fit leaves as residual
        sigma[k] = tau * sigma[k] / variance * v[k]
    for i in range(n):
        free, outside = 0.0, 1.0
        for k in range(m):
            square = U[i, k] ** 2
            rest[i] += U[i, k] * kept[k] * v[k]
            free += square * kept[k]
            outside -= square
        rest[i] *= size[i] / max(free + max(outside, 0.0), LEAST_FREEDOM)
    theta = np.zeros(Vt.shape[1])
    for k in range(m):
        add_scaled(theta, Vt[k], sigma[k])
    return -0.5 * least, theta, rest
