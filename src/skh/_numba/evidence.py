"""Bayesian regression on given features, for many amplitudes and noises at once."""

from __future__ import annotations

from math import log

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.vectors import add_scaled, dot, fill

LEAST_FREEDOM = 1e-15  # share of a value that its fit leaves as residual; less is rounding


@compiled
def most_evident(U, sigma, y, amplitudes, noises):
    """Regress y on features U diag(sigma) V', by the amplitude and noise of most evidence.

    Return that evidence, V' times the coefficients, and the error at each point without its value,
    by the smoother's diagonal.
    """
    (n, m), rest = U.shape, y.copy()
    v, error = np.empty(m), np.empty(n)
    fill(v, 0.0)
    for i in range(n):
        add_scaled(v, U[i], y[i])
    for i in range(n):
        rest[i] -= dot(U[i], v)  # beyond all features
    beyond, least, tau, noise = dot(rest, rest), np.inf, 0.0, 1.0
    for amplitude in amplitudes:
        for a in noises:
            misfit = beyond / (a * a) + (n - m) * log(a * a)
            for k in range(m):
                variance = amplitude * sigma[k] ** 2 + a * a
                misfit += v[k] ** 2 / variance + log(variance)
            if misfit < least:
                least, tau, noise = misfit, amplitude, a * a
    kept = np.empty(m)  # share of v that the fit leaves as residual
    for k in range(m):
        variance = tau * sigma[k] ** 2 + noise
        kept[k] = noise / variance
        sigma[k] = tau * sigma[k] / variance * v[k]
    for i in range(n):
        error[i], free, outside = rest[i], 0.0, 1.0
        for k in range(m):
            square = U[i, k] ** 2
            error[i] += U[i, k] * kept[k] * v[k]
            free += square * kept[k]
            outside -= square
        error[i] /= max(free + max(outside, 0.0), LEAST_FREEDOM)
    return -0.5 * least, sigma, error
