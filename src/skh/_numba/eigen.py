"""Eigenvalues and axes of small symmetric matrices, where a call of LAPACK takes longer."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled

SWEEPS = 60  # never reached: Jacobi's method converges quadratically
OFF_DIAGONAL = 2.0**-54  # off the diagonal, relative to it


@compiled
def rotate(S, V, p, q):
    """Make ``S[p, q]`` zero by a rotation in the plane of axes p and q; ``V`` has the axes."""
    slope = 0.5 * (S[q, q] - S[p, p]) / S[p, q]
    t = 1.0 / (abs(slope) + sqrt(1.0 + slope * slope))
    t = t if slope >= 0.0 else -t
    c = 1.0 / sqrt(1.0 + t * t)
    s, change = t * c, t * S[p, q]
    for k in range(len(S)):
        if k not in (p, q):
            a, b = S[k, p], S[k, q]
            S[k, p] = S[p, k] = c * a - s * b
            S[k, q] = S[q, k] = s * a + c * b
        a, b = V[k, p], V[k, q]
        V[k, p], V[k, q] = c * a - s * b, s * a + c * b
    S[p, p] -= change
    S[q, q] += change
    S[p, q] = S[q, p] = 0.0


@compiled
def eigen(S):
    """Eigenvalues of a symmetric matrix, in no order, and axes, one per column (Jacobi, 1846)."""
    d = len(S)
    S, V, values = S.copy(), np.zeros((d, d)), np.empty(d)
    for i in range(d):
        V[i, i] = 1.0
    for _ in range(SWEEPS):
        rotations = 0
        for p in range(d):
            for q in range(p + 1, d):
                if abs(S[p, q]) > OFF_DIAGONAL * (abs(S[p, p]) + abs(S[q, q])):
                    rotate(S, V, p, q)
                    rotations += 1
        if rotations == 0:
            break
    for i in range(d):
        values[i] = S[i, i]
    return values, V
