"""Spreads and roots in a few coordinates, where calls of NumPy take longer than the sums."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.cholesky import cholesky, invert_lower
from skh._numba.compiling import compiled, strict

RELATIVE_ROUNDING = 1e-12  # a spread this small, relative to the values, is rounding
INSTEAD_OF_ZERO = 1e-6  # replaces spreads within rounding, relative to the values
MIN_DEVIATION = 1e-140  # its square times a jitter must not underflow


@compiled
def symmetric_part(S):
    """``(S + S') / 2``."""
    out = np.empty(S.shape)
    for i in range(len(S)):
        for j in range(i + 1):
            out[i, j] = out[j, i] = 0.5 * (S[i, j] + S[j, i])
    return out


@compiled
def deviations_or_tiny(variances, values):
    """`gaussians.linear_algebra.standard_deviations`."""
    sd = np.empty(variances.size)
    for j in range(sd.size):
        size = 0.0
        for i in range(len(values)):
            size = max(size, abs(values[i, j]))
        sd[j] = sqrt(max(variances[j], 0.0))
        if not sd[j] > RELATIVE_ROUNDING * size:
            sd[j] = INSTEAD_OF_ZERO * size if size > 0.0 else 1.0
        sd[j] = max(sd[j], MIN_DEVIATION)
    return sd


@compiled
def correlation_factor(L, P, values, jitter):
    """`cholesky` of P + ``jitter`` times the variances, by way of correlations; for P of values."""
    d, variances, C = len(P), np.empty(len(P)), np.empty(P.shape)
    for j in range(d):
        variances[j] = P[j, j]
    sd = deviations_or_tiny(variances, values)
    for i in range(d):
        for j in range(d):
            C[i, j] = P[i, j] / (sd[i] * sd[j])
        C[i, i] += jitter
    regular = cholesky(L, C)
    for i in range(d):
        for j in range(i + 1):
            L[i, j] *= sd[i]
    return regular


@compiled
def regular_root(P, values, jitter):
    """`gaussians.linear_algebra.regularized_root`."""
    d, variances = len(P), np.empty(len(P))
    for j in range(d):
        variances[j] = P[j, j]
    sd, L, T = deviations_or_tiny(variances, values), np.empty((1, d, d)), np.empty((1, d, d))
    for j in range(d):
        for i in range(j):
            L[0, i, j] = 0.0
        for i in range(j, d):
            entry = P[i, j] / sd[i] / sd[j] + (jitter if i == j else 0.0)
            for k in range(j):
                entry -= L[0, i, k] * L[0, j, k]
            L[0, i, j] = entry / L[0, j, j] if i > j else sqrt(entry)
    for i in range(d):
        for j in range(i + 1):
            L[0, i, j] *= sd[i]
    invert_lower(T, L)
    return L[0], T[0]


@strict
def set_moments(mean, covariance, weights, points):
    """Set mean (d,) and covariance (d, d) of weighted points (n, d); False if they overflow.

    Rounding is relative to differences of the points: a coordinate that all share has no variance.
    """
    d, finite, e = len(mean), True, np.empty(len(mean))
    for r in range(d):
        e[r] = 0.0
        for i in range(weights.size):
            e[r] += weights[i] * (points[i, r] - points[0, r])
        mean[r] = points[0, r] + e[r]
        for c in range(d):
            covariance[r, c] = 0.0
    for i in range(weights.size):
        for r in range(d):
            e[r] = points[i, r] - mean[r]
            for c in range(r + 1):
                covariance[r, c] += weights[i] * e[r] * e[c]
    for r in range(d):
        for c in range(r + 1):
            covariance[c, r] = covariance[r, c]
            finite &= covariance[r, c] - covariance[r, c] == 0.0
    return finite
