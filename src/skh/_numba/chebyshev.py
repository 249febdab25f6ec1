"""The mean map by Chebyshev interpolation in one or two dimensions.

A sum of Gaussian bumps is smooth.  Its polynomial takes one multiplication per node, where the sum
takes an exponential per bump; see `kernels.interpolation`.
"""

from __future__ import annotations

from math import cos, pi

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import exp

FIRST = 16  # polynomials that are found one after the other


@inlined
def set_polynomials(T, D, t):
    """Chebyshev polynomials and their derivatives at ``t``, at least `FIRST`.

    Twice ``T_8 T_k`` is ``T_(k + 8) + T_(k - 8)``, so eight are found at once.
    """
    T[0], T[1], D[0], D[1] = 1.0, t, 0.0, 1.0
    for k in range(2, FIRST):
        T[k] = 2.0 * t * T[k - 1] - T[k - 2]
        D[k] = 2.0 * T[k - 1] + 2.0 * t * D[k - 1] - D[k - 2]
    a, b = 2.0 * T[8], 2.0 * D[8]
    for k in range(T.size - FIRST):
        T[k + FIRST] = a * T[k + 8] - T[k]
    for k in range(T.size - FIRST):
        D[k + FIRST] = a * D[k + 8] + b * T[k + 8] - D[k]


@inlined
def set_rows(p, q, T, D, table):
    """``p = T table`` and ``q = D table``; the table has a multiple of four rows."""
    for j in range(p.size):
        p[j], q[j] = 0.0, 0.0
    for i in range(0, len(table), 4):
        t0, t1, t2, t3 = T[i], T[i + 1], T[i + 2], T[i + 3]
        d0, d1, d2, d3 = D[i], D[i + 1], D[i + 2], D[i + 3]
        for j in range(p.size):
            a, b, c, d = table[i, j], table[i + 1, j], table[i + 2, j], table[i + 3, j]
            p[j] += t0 * a + t1 * b + t2 * c + t3 * d
            q[j] += d0 * a + d1 * b + d2 * c + d3 * d


@inlined
def place_in_box(X, i, box):
    """Coordinates of point ``i`` in a box (2, 2), its centre and half-widths: -1 to 1 inside.

    A line is the second axis of a box.
    """
    d = len(X)
    t = (X[0, i] - box[0, 0]) / box[1, 0] if d == 2 else 0.0
    return t, (X[d - 1, i] - box[0, 1]) / box[1, 1]


@compiled
def reach(A, X):
    """The largest rate of bumps on a line, and the least and largest of its points ``X`` (1, n)."""
    rate, low, high = 0.0, X[0, 0], X[0, 0]
    for m in range(A.shape[1]):
        rate = max(rate, A[0, m])
    for i in range(X.shape[1]):
        low, high = min(low, X[0, i]), max(high, X[0, i])
    return rate, low, high


@summing
def value_on_line(x, A, b, heights):  # pragma: no cover - intrinsic
    """Sum of bumps at a point of a line."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    value = 0.0
    for k in range(heights.size):
        e = A[0, k] * x - b[0, k]
        value += heights[k] * exp(-0.5 * e * e)
    return value


@compiled
def chebyshev_nodes(centre, half, m):
    """The m Chebyshev nodes of an interval."""
    x = np.empty(m)
    for i in range(m):
        x[i] = centre + half * cos(pi * (i + 0.5) / m)
    return x


@compiled
def values_at_nodes(A, b, heights, centre, half, m):
    """Sums of bumps at the m Chebyshev nodes of an interval."""
    values, x = np.empty(m), chebyshev_nodes(centre, half, m)
    for i in range(m):
        values[i] = value_on_line(x[i], A, b, heights)
    return values


@compiled
def values_on_line(X, A, b, heights, table, box):  # pragma: no cover - intrinsic
    """Sums of bumps at points ``X`` (1, n): Clenshaw's recurrence, outside the box term by term."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    n = X.shape[1]
    t, first, second = np.empty(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        t[i] = (X[0, i] - box[0, 1]) / box[1, 1]
    for k in range(table.size - 1, 0, -1):
        c = table[k]
        for i in range(n):
            second[i] = c + 2.0 * t[i] * first[i] - second[i]
        first, second = second, first
    for i in range(n):
        second[i] = table[0] + t[i] * first[i] - second[i]
    for i in range(n):
        if not abs(t[i]) <= 1.0:
            second[i] = value_on_line(X[0, i], A, b, heights)
    return second
