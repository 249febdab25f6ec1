"""Compiled sums over all pairs of components: the squared norm of a mean map."""

from __future__ import annotations

from math import exp as libm_exp
from math import sqrt

import numpy as np

from skh._compiled import compiled, exp, squared_distances


@compiled
def pair_sum(weights, means, S):
    """Sum over i, j of ``w_i w_j |B|^(-1/2) exp(-e' B^-1 e / 2)``.

    Here B = I + S_i + S_j and e = m_i - m_j.

    One Cholesky factorisation B = L L' per pair, in place, with the forward substitution u = L^-1
    e.
    """
    K, d = means.shape
    L, u = np.empty((d, d)), np.empty(d)
    total = 0.0
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
            total += twice * weights[i] * weights[j] * libm_exp(-0.5 * square) / determinant
    return total


@compiled
def pair_sum_of_balls(weights, X, v):  # pragma: no cover - intrinsic
    """`pair_sum` for the columns of ``X`` where S_i = v_i I: B is a number, no matrix."""
    d, K = X.shape
    q, part, total = np.empty(K), np.empty(K), 0.0
    for i in range(K):
        squared_distances(q, X, 0, K, X[:, i])
        for j in range(K):
            b = 1.0 / (1.0 + v[i] + v[j])
            height = sqrt(b) if d % 2 else 1.0
            for _ in range(d // 2):
                height *= b
            part[j] = weights[j] * height * exp(-0.5 * b * q[j])
        total += weights[i] * part.sum()
    return total
