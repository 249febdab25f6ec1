"""Sums over pairs of components."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.exponential import exp
from skh._numba.vectors import fill, multiply, set_shifted, subtract_product, total

PAIRS = 512  # processed together, at least


@compiled
def add_along_axis(q, b, x, c, s, t):
    """``b /= 1 + s + t`` and ``q += (x - c)^2 / (1 + s + t)``, for one axis."""
    for j in range(q.size):
        e, inverse = x[j] - c, 1.0 / (1.0 + s[j] + t)
        b[j] *= inverse
        q[j] += e * e * inverse


@compiled
def set_pair_bumps(q, b, weights):  # pragma: no cover - intrinsic
    """``q <- weights sqrt(b) exp(-q / 2)``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for j in range(q.size):
        q[j] = weights[j] * sqrt(b[j]) * exp(-0.5 * q[j])


@compiled
def finish_row(pivot, u, q, b):
    """Turn squared pivots, less one, into inverse pivots, and add the row's terms to q and b."""
    for j in range(u.size):
        inverse = 1.0 / (max(pivot[j], 0.0) + 1.0)  # I + (positive semi-definite): pivots >= 1
        b[j] *= inverse
        pivot[j] = sqrt(inverse)
        u[j] *= pivot[j]
        q[j] += u[j] * u[j]


@compiled
def add_squares(q, b, L, u):
    """``q += e' B^-1 e`` and ``b /= |B|`` for many pairs, with B - I given in ``L`` and e in ``u``.

    All factorisations B = L L' and forward substitutions u = L^-1 e are done in parallel, row by
    row of the lower triangle.  The diagonal of L becomes its inverse.
    """
    for r in range(len(u)):
        first, e = r * (r + 1) // 2, u[r, : q.size]
        for c in range(r + 1):
            entry, above = L[first + c, : q.size], c * (c + 1) // 2
            for k in range(c):
                subtract_product(entry, L[first + k], L[above + k])
            if c < r:
                multiply(entry, L[above + c])
                subtract_product(e, entry, u[c])
        finish_row(L[first + r], e, q, b)


@compiled
def set_pairs(pairs, x, y, first, last):
    """``x_j + y_i`` for first <= i < last and j <= i, one after the other."""
    p = 0
    for i in range(first, last):
        set_shifted(pairs[p : p + i + 1], x, y[i])
        p += i + 1


@compiled
def set_pair_weights(pairs, weights, first, last):
    """``2 w_i w_j`` for the pairs of `set_pairs`, and ``w_i^2`` where j = i."""
    p = 0
    for i in range(first, last):
        for j in range(i):
            pairs[p + j] = 2.0 * weights[i] * weights[j]
        p += i + 1
        pairs[p - 1] = weights[i] * weights[i]


@compiled
def pair_sum(weights, S, X):
    """Sum over i, j of ``w_i w_j |B|^(-1/2) exp(-e' B^-1 e / 2)``.

    Here B = I + S_i + S_j and e = m_i - m_j; columns of ``X`` are the means, columns of ``S`` the
    lower triangles row by row.  Pairs are processed in blocks, to have long inner loops even for
    few components.
    """
    (d, K), T = X.shape, len(S)
    L, u, scratch = np.empty((T, K + PAIRS)), np.empty((d, K + PAIRS)), np.empty((3, K + PAIRS))
    first, result = 0, 0.0
    while first < K:
        last, n = first, 0
        while last < K and n < PAIRS:
            last += 1
            n += last
        for r in range(T):
            set_pairs(L[r], S[r], S[r], first, last)
        for r in range(d):
            set_pairs(u[r], X[r], -X[r], first, last)
        q, b, w = scratch[0, :n], scratch[1, :n], scratch[2, :n]
        fill(q, 0.0)
        fill(b, 1.0)
        add_squares(q, b, L, u)
        set_pair_weights(w, weights, first, last)
        set_pair_bumps(q, b, w)
        result += total(q)
        first = last
    return result


@compiled
def pair_sum_along_axes(weights, X, S):
    """`pair_sum` for diagonal S_i, given as columns of ``S``."""
    d, K = X.shape
    scratch, result = np.empty((2, K)), 0.0
    for i in range(K):
        q, b = scratch[0, : i + 1], scratch[1, : i + 1]
        fill(q, 0.0)
        fill(b, 1.0)
        for r in range(d):
            add_along_axis(q, b, X[r], X[r, i], S[r], S[r, i])
        set_pair_bumps(q, b, weights)
        result += weights[i] * (2.0 * total(q) - q[i])  # (i, i) counts once, others twice
    return result
