"""Cholesky factors of stacks of small covariances, without NumPy's temporary stacks."""

from __future__ import annotations

from math import sqrt

from skh._numba.compiling import compiled


@compiled
def asymmetric(S, tolerance):
    """Whether ``max |S - S'| > tolerance * max |S|``."""
    largest = difference = 0.0
    for i in range(len(S)):
        largest = max(largest, abs(S[i, i]))
        for j in range(i):
            largest = max(largest, abs(S[i, j]), abs(S[j, i]))
            difference = max(difference, abs(S[i, j] - S[j, i]))
    return difference > tolerance * largest


@compiled
def cholesky(L, S):
    """Set ``L`` to the lower triangle with L L' = S; False if ``S`` is not positive definite."""
    for j in range(len(S)):
        for i in range(j):
            L[i, j] = 0.0
        square = S[j, j]
        for k in range(j):
            square -= L[j, k] * L[j, k]
        if not square > 0.0:
            return False
        L[j, j] = sqrt(square)
        inverse = 1.0 / L[j, j]
        for i in range(j + 1, len(S)):
            entry = S[i, j]
            for k in range(j):
                entry -= L[i, k] * L[j, k]
            L[i, j] = entry * inverse
    return True


@compiled
def factor(L, S, tolerance):
    """`cholesky` of a stack; False at the first matrix not symmetric and positive definite."""
    fine, i = True, 0
    while fine and i < len(S):
        fine = not asymmetric(S[i], tolerance) and cholesky(L[i], S[i])
        i += 1
    return fine
