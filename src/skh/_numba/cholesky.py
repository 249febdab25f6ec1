"""Cholesky factors of covariances, singular ones included, independent of the units of coordinates.

A pivot is the variance of a coordinate given those before it.  Relative to the variance of that
coordinate it has no unit, so that is how all functions here compare it with rounding errors.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled

SINGULAR_VARIANCE = 1e-13  # conditional variance, relative to the variance, that is rounding
DELAY = 0.1  # a coordinate waits if its relative pivot is smaller than this share of the largest


@compiled
def asymmetric(S, tolerance):
    """Whether ``|S_ij - S_ji| > tolerance * sqrt(S_ii S_jj)`` for any i, j."""
    found = False
    for i in range(len(S)):
        for j in range(i):
            size = sqrt(max(S[i, i], 0.0)) * sqrt(max(S[j, j], 0.0))
            found |= abs(S[i, j] - S[j, i]) > tolerance * size
    return found


@compiled
def cholesky(L, S):
    """Set ``L`` to the lower triangle with L L' = S; False if ``S`` may be singular.

    The inverse of a small pivot multiplies the rounding errors of those that follow.
    """
    least = 1.0  # of the relative pivots so far
    for j in range(len(S)):
        for i in range(j):
            L[i, j] = 0.0
        square = S[j, j]
        for k in range(j):
            square -= L[j, k] * L[j, k]
        if not least * square > SINGULAR_VARIANCE * S[j, j]:
            return False
        least = min(least, square / S[j, j])
        L[j, j] = sqrt(square)
        inverse = 1.0 / L[j, j]
        for i in range(j + 1, len(S)):
            entry = S[i, j]
            for k in range(j):
                entry -= L[i, k] * L[j, k]
            L[i, j] = entry * inverse
    return True


@compiled
def all_exceed(S, share, T):
    """Whether ``S - share T`` is positive definite, to the last bit, for each S of a stack."""
    d = len(T)
    rest = np.empty((d, d))
    for k in range(len(S)):
        for i in range(d):
            for j in range(i + 1):
                rest[i, j] = S[k, i, j] - share * T[i, j]
        if not has_positive_pivots(rest):
            return False
    return True


@compiled
def has_positive_pivots(S):
    """Whether a matrix, given by its lower triangle, is positive definite; overwrites it."""
    for j in range(len(S)):
        if not S[j, j] > 0.0:
            return False
        inverse = 1.0 / S[j, j]
        for i in range(j + 1, len(S)):
            for c in range(j + 1, i + 1):
                S[i, c] -= S[i, j] * S[c, j] * inverse
    return True


@compiled
def factor(L, S, tolerance):
    """`cholesky` of a stack; False at the first matrix not symmetric and positive definite."""
    fine, i = True, 0
    while fine and i < len(S):
        fine = not asymmetric(S[i], tolerance) and cholesky(L[i], S[i])
        i += 1
    return fine


@compiled
def next_pivot(rest, variances):
    """First coordinate whose relative pivot is nearly the largest; -1 if all are rounding."""
    largest = 0.0
    for j in range(rest.size):
        if variances[j] > 0.0:
            largest = max(largest, rest[j] / variances[j])
    if not largest > SINGULAR_VARIANCE:
        return -1
    j = 0
    while not (variances[j] > 0.0 and rest[j] >= DELAY * largest * variances[j]):
        j += 1
    return j


@compiled
def semidefinite_cholesky(L, S, order):
    """Set ``L`` so that L L' = S for positive semi-definite ``S``; return the rank r.

    Coordinates that earlier ones determine, up to rounding, have a column of zeros.  The others are
    ``order[:r]``, in which order L is a lower triangle; nearly determined ones come last.
    """
    d, r = len(S), 0
    variances, rest = np.empty(d), np.empty(d)  # rest: given the coordinates so far
    for i in range(d):
        variances[i] = rest[i] = S[i, i]
        for j in range(d):
            L[i, j] = 0.0
    j = next_pivot(rest, variances)
    while j >= 0:
        pivot = sqrt(rest[j])
        L[j, j], rest[j], order[r] = pivot, -np.inf, j
        for i in range(d):
            if variances[i] > 0.0 and rest[i] > -np.inf:
                entry = S[i, j]
                for k in range(r):
                    entry -= L[i, order[k]] * L[j, order[k]]
                L[i, j] = entry / pivot
                rest[i] -= L[i, j] * L[i, j]
        r += 1
        j = next_pivot(rest, variances)
    last = r
    for i in range(d):
        if rest[i] > -np.inf:
            order[last] = i
            last += 1
    return r


@compiled
def semidefinite_factors(S):
    """Factors of a stack: L, order and rank of each matrix, by `cholesky` where that is possible.

    So the factor of a regular matrix does not depend on the others.
    """
    K, d = S.shape[:2]
    L, order, rank = np.empty((K, d, d)), np.empty((K, d), np.intp), np.empty(K, np.intp)
    for k in range(K):
        rank[k] = d
        for j in range(d):
            order[k, j] = j
        if not cholesky(L[k], S[k]):
            rank[k] = semidefinite_cholesky(L[k], S[k], order[k])
    return L, order, rank


@compiled
def invert_triangles(W, L, order):
    """Set ``W`` to the inverses of a stack ``L``, lower triangles in the given ``order``."""
    for k in range(len(L)):
        T, o = L[k], order[k]
        for c in range(o.size):
            for r in range(o.size):
                W[k, o[r], o[c]] = 0.0
            W[k, o[c], o[c]] = 1.0 / T[o[c], o[c]]
            for r in range(c + 1, o.size):
                entry = 0.0
                for j in range(c, r):
                    entry -= T[o[r], o[j]] * W[k, o[j], o[c]]
                W[k, o[r], o[c]] = entry / T[o[r], o[r]]


@compiled
def regression(L, free, fixed):
    """Coefficients (m, r) of the coordinates ``fixed`` on ``free``, in which L is a triangle."""
    r, V = free.size, np.empty((fixed.size, free.size))
    for a in range(fixed.size):
        for c in range(r - 1, -1, -1):
            entry = L[fixed[a], free[c]]
            for b in range(c + 1, r):
                entry -= V[a, b] * L[free[b], free[c]]
            V[a, c] = entry / L[free[c], free[c]]
    return V


@compiled
def root_beside_identity(M, V):
    """Set ``M`` to the lower triangle with M M' = I + V V'; pivots are at least one."""
    for i in range(len(V)):
        for j in range(i + 1):
            entry = 0.0
            for c in range(V.shape[1]):
                entry += V[i, c] * V[j, c]
            for k in range(j):
                entry -= M[i, k] * M[j, k]
            M[i, j] = entry / M[j, j] if j < i else sqrt(max(entry, 0.0) + 1.0)


@compiled
def widen_masses(L, order, rank, width):
    """Make singular factors regular: ``L L'`` becomes the limit of S + diag(width)^2, width -> 0.

    That is, S for its free coordinates, and given those, the others have covariance F + V F V' with
    F = diag(width)^2 and V their regression: the same whichever coordinates are called free.
    """
    for k in range(len(L)):
        free, fixed = order[k, : rank[k]], order[k, rank[k] :]
        V, M = regression(L[k], free, fixed), np.empty((fixed.size, fixed.size))
        for a in range(fixed.size):
            for c in range(free.size):
                V[a, c] *= width[free[c]] / width[fixed[a]]
        root_beside_identity(M, V)
        for a in range(fixed.size):
            for b in range(a + 1):
                L[k, fixed[a], fixed[b]] = width[fixed[a]] * M[a, b]


@compiled
def invert_lower(W, L):
    """``W[k] = L[k]^-1`` for lower triangular matrices; without pivots, so in any units."""
    d = L.shape[1]
    for k in range(len(L)):
        for j in range(d):
            for i in range(d):
                W[k, i, j] = 0.0
            W[k, j, j] = 1.0 / L[k, j, j]
            for i in range(j + 1, d):
                total = 0.0
                for m in range(j, i):
                    total += L[k, i, m] * W[k, m, j]
                W[k, i, j] = -total / L[k, i, i]


@compiled
def inverse_roots(W, B):
    """Set ``W`` to lower triangles with W'W = B^-1; False if a matrix is not positive definite."""
    d, fine = B.shape[1], True
    L = np.empty(B.shape)  # lower triangles
    for k in range(len(B)):
        for j in range(d):
            for i in range(j, d):
                entry = B[k, i, j]
                for c in range(j):
                    entry -= L[k, i, c] * L[k, j, c]
                if i == j:
                    fine &= entry > 0.0
                L[k, i, j] = entry / L[k, j, j] if i > j else sqrt(max(entry, 0.0))
    if fine:
        invert_lower(W, L)
    return fine
