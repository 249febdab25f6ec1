"""Compiled loops over all pairs of components, or of points and components."""

from __future__ import annotations

from math import exp as libm_exp
from math import sqrt

import numpy as np

from skh._compiled import _full_vectors, compiled, exp
from skh._compiled_checks import total


@compiled
def pair_sum(weights, means, S):
    """Sum over i, j of ``w_i w_j |B|^(-1/2) exp(-e' B^-1 e / 2)``.

    Here B = I + S_i + S_j and e = m_i - m_j.

    One Cholesky factorisation B = L L' per pair, in place, with the forward substitution u = L^-1
    e.
    """
    K, d = means.shape
    L, u = np.empty((d, d)), np.empty(d)
    result = 0.0
    for i in range(K):
        for j in range(i + 1):
            determinant, square = 1.0, 0.0
            for r in range(d):
                e = means[i, r] - means[j, r]
                for c in range(r + 1):
                    b = S[i, r, c] + S[j, r, c]
                    for k in range(c):
                        b -= L[r, k] * L[c, k]
                    if c == r:
                        # exactly, b >= 0: the pivots of I + (positive semi-definite) are >= 1
                        L[r, r] = sqrt(max(b, 0.0) + 1.0)
                    else:
                        L[r, c] = b / L[c, c]
                        e -= L[r, c] * u[c]
                u[r] = e / L[r, r]
                determinant *= L[r, r]
                square += u[r] * u[r]
            twice = 1.0 if i == j else 2.0
            result += twice * weights[i] * weights[j] * libm_exp(-0.5 * square) / determinant
    return result


@compiled
def add_along_axis(q, b, x, c, s, t):
    """One axis: ``b /= 1 + s + t`` and ``q += (x - c)^2 / (1 + s + t)``."""
    for j in range(q.size):
        e, inverse = x[j] - c, 1.0 / (1.0 + s[j] + t)
        b[j] *= inverse
        q[j] += e * e * inverse


@compiled
def set_pair_bumps(q, b, weights):  # pragma: no cover - intrinsic
    """``q <- weights sqrt(b) exp(-q / 2)``."""
    _full_vectors()  # type: ignore[call-arg] # an intrinsic
    for j in range(q.size):
        q[j] = weights[j] * sqrt(b[j]) * exp(-0.5 * q[j])


@compiled
def pair_sum_along_axes(weights, X, S):
    """`pair_sum` for the columns of ``X`` where S_i is diagonal, given as a column of ``S``."""
    d, K = X.shape
    scratch, result = np.empty((2, K)), 0.0
    for i in range(K):
        q, b = scratch[0, : i + 1], scratch[1, : i + 1]
        q[:] = 0.0
        b[:] = 1.0
        for r in range(d):
            add_along_axis(q, b, X[r], X[r, i], S[r], S[r, i])
        set_pair_bumps(q, b, weights)
        result += weights[i] * (2.0 * total(q) - q[i])  # i with itself once, others twice
    return result


@compiled
def squares_along_axes(x, means, precisions):
    """``sum_j precisions[k, j] (x[i, j] - means[k, j])^2`` for all i and k, ``(n, K)``."""
    n, (K, d) = len(x), means.shape
    out = np.zeros((n, K))
    for i in range(n):
        for k in range(K):
            for j in range(d):
                out[i, k] += precisions[k, j] * (x[i, j] - means[k, j]) ** 2
    return out
