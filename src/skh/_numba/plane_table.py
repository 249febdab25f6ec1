"""Chebyshev coefficients of a sum of Gaussian bumps in a box of the plane, and of its cells.

In a cell about as wide as the narrowest bump a polynomial of `CELL` coefficients per axis has the
accuracy of single precision; that is 2 % of the coefficients of the whole box.
"""

from __future__ import annotations

import numpy as np

from skh._numba.chebyshev import chebyshev_nodes, place_in_box
from skh._numba.compiling import compiled, full_vectors, summing
from skh._numba.exponential import exp

CELL = 8  # coefficients per axis of a cell
POINTS_AT_ONCE = 64  # points whose polynomials fit the cache


@summing
def set_products(out, A, B):  # pragma: no cover - intrinsic
    """``out = A B'``; both have a multiple of four rows."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(0, len(A), 4):
        a0, a1, a2, a3 = A[i], A[i + 1], A[i + 2], A[i + 3]
        for j in range(0, len(B), 2):
            b0, b1 = B[j], B[j + 1]
            s00 = s01 = s10 = s11 = s20 = s21 = s30 = s31 = 0.0
            for k in range(a0.size):
                x, y = b0[k], b1[k]
                s00 += a0[k] * x
                s01 += a0[k] * y
                s10 += a1[k] * x
                s11 += a1[k] * y
                s20 += a2[k] * x
                s21 += a2[k] * y
                s30 += a3[k] * x
                s31 += a3[k] * y
            out[i, j], out[i, j + 1] = s00, s01
            out[i + 1, j], out[i + 1, j + 1] = s10, s11
            out[i + 2, j], out[i + 2, j + 1] = s20, s21
            out[i + 3, j], out[i + 3, j + 1] = s30, s31


@compiled
def product_of_three(A, B, C):
    """``A B C'`` for arrays whose rows are multiples of four."""
    part, out = np.empty((len(C), len(B))), np.empty((len(A), len(C)))
    set_products(part, C, B)
    set_products(out, A, part)
    return out


@compiled
def set_factors(out, a, b, x, heights):  # pragma: no cover - intrinsic
    """``heights exp(-(a x - b)^2 / 2)`` for each bump, in the row of each x."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(x.size):
        row = out[i]
        for k in range(row.size):
            e = a[k] * x[i] - b[k]
            row[k] = heights[k] * exp(-0.5 * e * e)


@compiled
def set_reach(rates, box, A, X, margin):
    """Largest rates of each scale's bumps, (S, 2), and a box (2, 2) around ``X``.

    The margin is in lengths of the narrowest bump.
    """
    S, d = rates.shape
    K = A.shape[1] // S
    for r in range(d):
        narrowest, low, high = 0.0, X[r, 0], X[r, 0]
        for s in range(S):
            rates[s, r] = 0.0
            for k in range(K):
                rates[s, r] = max(rates[s, r], A[r, s * K + k])
            narrowest = max(narrowest, rates[s, r])
        for i in range(X.shape[1]):
            low, high = min(low, X[r, i]), max(high, X[r, i])
        box[0, r], box[1, r] = 0.5 * (high + low), 0.5 * (high - low) + margin / narrowest


@compiled
def add_coefficients(table, A, b, heights, start, K, box, T, U):
    """Add those of K bumps; ``T`` and ``U`` map values at the nodes of the axes to them."""
    (m, n), end = (len(T), len(U)), start + K
    first, second, values = np.empty((m, K)), np.empty((n, K)), np.empty((m, n))
    x, y = chebyshev_nodes(box[0, 0], box[1, 0], m), chebyshev_nodes(box[0, 1], box[1, 1], n)
    set_factors(first, A[0, start:end], b[0, start:end], x, heights[start:end])
    set_factors(second, A[1, start:end], b[1, start:end], y, np.ones(K))
    set_products(values, first, second)
    found = product_of_three(T, values, U)
    for i in range(m):
        for j in range(n):
            table[i, j] += found[i, j]


@compiled
def set_cells(cells, table, to_cells, to_others):
    """Set the polynomials of all cells, (cells, cells, i, j), from the table of their box.

    The matrices map coefficients of a line to those of its cells, one cell after the other.
    """
    found = product_of_three(to_cells, table, to_others)
    for r in range(len(cells)):
        for s in range(cells.shape[1]):
            for i in range(CELL):
                for j in range(CELL):
                    cells[r, s, i, j] = found[r * CELL + i, s * CELL + j]


@summing
def sum_of_bumps(x, y, A, b, heights):  # pragma: no cover - intrinsic
    """Sum of all bumps at a point of the plane."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    value = 0.0
    for k in range(heights.size):
        e, f = A[0, k] * x - b[0, k], A[1, k] * y - b[1, k]
        value += heights[k] * exp(-0.5 * (e * e + f * f))
    return value


@compiled
def set_along_axis(T, t):  # pragma: no cover - intrinsic
    """Chebyshev polynomials in the rows of ``T``, for many arguments."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(t.size):
        T[0, i], T[1, i] = 1.0, t[i]
    for k in range(2, len(T)):
        last, before, row = T[k - 1], T[k - 2], T[k]
        for i in range(t.size):
            row[i] = 2.0 * t[i] * last[i] - before[i]


@compiled
def combine_polynomials(out, T, U, table):  # pragma: no cover - intrinsic
    """``out = sum_kl table[k, l] T[k] U[l]``; ``U`` has a multiple of four rows."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(out.size):
        out[i] = 0.0
    for k in range(len(T)):
        first, row = T[k], table[k]
        for m in range(0, len(U), 4):
            a, b, c, d = row[m], row[m + 1], row[m + 2], row[m + 3]
            p, q, r, s = U[m], U[m + 1], U[m + 2], U[m + 3]
            for i in range(out.size):
                out[i] += first[i] * (a * p[i] + b * q[i] + c * r[i] + d * s[i])


@compiled
def values_in_plane(X, A, b, heights, table, box):
    """Sums of bumps at points ``X`` (2, N) by their table, outside its box term by term."""
    N, (m, n) = X.shape[1], table.shape
    values, out, t = np.empty(N), np.empty(POINTS_AT_ONCE), np.zeros((2, POINTS_AT_ONCE))
    T, U = np.empty((m, POINTS_AT_ONCE)), np.empty((n, POINTS_AT_ONCE))
    for start in range(0, N, POINTS_AT_ONCE):
        end = min(start + POINTS_AT_ONCE, N)
        for i in range(start, end):
            t[0, i - start], t[1, i - start] = place_in_box(X, i, box)
        set_along_axis(T, t[0])
        set_along_axis(U, t[1])
        combine_polynomials(out, T, U, table)
        for i in range(start, end):
            inside = abs(t[0, i - start]) <= 1.0 and abs(t[1, i - start]) <= 1.0
            values[i] = out[i - start] if inside else sum_of_bumps(X[0, i], X[1, i], A, b, heights)
    return values
