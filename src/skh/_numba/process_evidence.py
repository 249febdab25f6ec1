r"""Gaussian processes with covariance 1 + exp(-|u - v|^2 / 2), given values with noise.

Points ``u`` are rows (n, d) in units of the length; values and covariances are divided by the
``size`` of each value's noise.  So values y have covariance :math:`\tau K + a^2 I`, for amplitudes
:math:`\tau` and noises a.  Reflections that make K tridiagonal, the first of which turns y to the
first axis, leave :math:`y' (\tau K + a^2 I)^{-1} y` and the determinant to one short recursion for
each pair of :math:`\tau` and a.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import set_exp, squared_distances, transposed
from skh._numba.simplex_qp import forward, leading_dot
from skh._numba.vectors import add_scaled, dot, fill, set_scaled, set_shifted

AT_ONCE = 256  # points whose covariances with all others stay in the cache
FACTORS = 8  # pivots whose product cannot overflow


@compiled
def scaled_covariances(u, size):
    """The covariances K of the points over the noise's size."""
    K, U = np.empty((len(u), len(u))), transposed(u)
    for i in range(len(u)):
        row = K[i]
        squared_distances(row, U, 0, row.size, u[i])
        set_exp(row, row, 1.0, 0.5)
        for j in range(row.size):
            row[j] = (1.0 + row[j]) / (size[i] * size[j])
    return K


@compiled
def tridiagonal(B):
    """Diagonal and squared other entries of B, made tridiagonal; the first axis stays."""
    n = len(B)
    diagonal, beside = np.empty(n), np.zeros(n)
    for k in range(n):
        diagonal[k] = B[k, k]
        v, w = B[k, k + 1 :], np.zeros(n - k - 1)
        beside[k] = dot(v, v)
        size = sqrt(beside[k])
        if size > 0.0:
            v[0] += size if v[0] >= 0.0 else -size
            scale = 1.0 / (size * abs(v[0]))
            for i in range(w.size):
                row, a = B[k + 1 + i, k + 1 :], scale * v[i]
                for j in range(w.size):
                    w[j] += a * row[j]
            add_scaled(w, v, -0.5 * scale * dot(w, v))
            for i in range(w.size):
                row, a, b = B[k + 1 + i, k + 1 :], v[i], w[i]
                for j in range(w.size):
                    row[j] -= a * w[j] + b * v[j]
    return diagonal, beside


@compiled
def process_evidence(u, y, size, amplitudes, noises):
    """The best pair of amplitude and squared noise, and its log evidence, which comes first."""
    n = len(u)
    B = np.empty((n + 1, n + 1))
    K = scaled_covariances(u, size)
    B[0, 0] = 0.0
    for i in range(n):
        B[0, 1 + i] = B[1 + i, 0] = y[i]
        for j in range(n):
            B[1 + i, 1 + j] = K[i, j]
    diagonal, beside = tridiagonal(B)
    best, tau, noise = -np.inf, 0.0, 1.0
    for amplitude in amplitudes:
        for a in noises:
            pivot, product, misfit = np.inf, 1.0, 0.0
            for i in range(n, 0, -1):  # Schur complements, which are a^2 or more
                pivot = amplitude * (diagonal[i] - amplitude * beside[i] / pivot) + a * a
                pivot = max(pivot, a * a)
                product *= pivot
                if i % FACTORS == 0:
                    misfit, product = misfit + log(product), 1.0
            evidence = -0.5 * (misfit + log(product) + beside[0] / pivot)
            if evidence > best:
                best, tau, noise = evidence, amplitude, a * a
    return best, tau, noise


@compiled
def conditioned(u, y, size, tau, noise):
    """Coefficients of y, errors left out, and W with W'W the inverse of the covariance of y."""
    n = len(u)
    L, W, alpha, left_out = scaled_covariances(u, size), np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for i in range(n):
        row = L[i]
        set_scaled(row, row, tau)
        pivot = row[i] + noise
        forward(L, i, row)
        row[i] = sqrt(max(pivot - leading_dot(row, row, i), noise))
        for k in range(i):
            add_scaled(W[i], W[k], -row[k])
        W[i, i] = 1.0
        set_scaled(W[i], W[i], 1.0 / row[i])
        add_scaled(alpha, W[i], dot(W[i], y))
        for k in range(i + 1):
            left_out[k] += W[i, k] ** 2
    for k in range(n):
        left_out[k] = alpha[k] / left_out[k]
    return alpha, left_out, W


@compiled
def given_values(x, u, size, alpha, W):
    """Means ``alpha' k`` and ``|W k|^2`` at rows of ``x``, for their covariances k with points u.

    The latter, times the amplitude, is the share of the variance that the values explain; rows of
    W may be left out.
    """
    n, X = len(u), transposed(x)
    mean, explained = np.zeros(len(x)), np.zeros(len(x))
    K, scratch = np.empty((n, AT_ONCE)), np.empty(AT_ONCE)
    for lo in range(0, len(x), AT_ONCE):
        hi = min(lo + AT_ONCE, len(x))
        sums, square = scratch[: hi - lo], explained[lo:hi]
        for k in range(n):
            row = K[k, : hi - lo]
            squared_distances(row, X, lo, hi, u[k])
            set_exp(row, row, 1.0 / size[k], 0.5)
            set_shifted(row, row, 1.0 / size[k])
            add_scaled(mean[lo:hi], row, alpha[k])
        for i in range(len(W)):
            fill(sums, 0.0)
            for k in range(i + 1):
                add_scaled(sums, K[k, : hi - lo], W[i, k])
            for j in range(sums.size):
                square[j] += sums[j] * sums[j]
    return mean, explained
