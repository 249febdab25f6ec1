"""The mean map at weighted points, by sums over all components at all scales or interpolated.

Each inner loop runs over the components at all scales, or in six dimensions over all points.
"""

from __future__ import annotations

import numpy as np

from skh._numba.chebyshev import place_in_box, set_rows
from skh._numba.chebyshev_on_line import set_values_and_slopes
from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import exp, exp_of
from skh._numba.kernel_rows import add_square
from skh._numba.pair_forces import LANES
from skh._numba.plane_table import CELL
from skh._numba.vectors import add_scaled, dot, fill, multiply, total, triple_dot

BUMPS_AT_ONCE = 4_096  # that fit the cache
HALF = np.float32(0.5)


@compiled
def set_affine(out, a, x, b):
    """``out = a x - b``."""
    for i in range(out.size):
        out[i] = a[i] * x - b[i]


@compiled
def set_bumps(q, heights):  # pragma: no cover - intrinsic
    """``q <- heights exp(-q / 2)``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        q[i] = heights[i] * exp_of(-HALF * q[i])


@compiled
def add_pulls(value, G0, G1, G2, G3, G4, G5, X, A, b, heights):  # pragma: no cover - intrinsic
    """Add the mean map to ``value`` and minus its gradient to ``G``, by component (d = 6)."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    x0, x1, x2, x3, x4, x5 = X[0], X[1], X[2], X[3], X[4], X[5]
    for m in range(heights.size):
        a00, a10, a11 = A[0, 0, m], A[1, 0, m], A[1, 1, m]
        a20, a21, a22 = A[2, 0, m], A[2, 1, m], A[2, 2, m]
        a30, a31, a32, a33 = A[3, 0, m], A[3, 1, m], A[3, 2, m], A[3, 3, m]
        a40, a41, a42, a43, a44 = A[4, 0, m], A[4, 1, m], A[4, 2, m], A[4, 3, m], A[4, 4, m]
        a50, a51, a52, a53 = A[5, 0, m], A[5, 1, m], A[5, 2, m], A[5, 3, m]
        a54, a55 = A[5, 4, m], A[5, 5, m]
        b0, b1, b2, b3, b4, b5 = b[0, m], b[1, m], b[2, m], b[3, m], b[4, m], b[5, m]
        height = heights[m]
        for i in range(value.size):
            y0, y1, y2, y3, y4, y5 = x0[i], x1[i], x2[i], x3[i], x4[i], x5[i]
            e0 = a00 * y0 - b0
            e1 = a10 * y0 + a11 * y1 - b1
            e2 = a20 * y0 + a21 * y1 + a22 * y2 - b2
            e3 = a30 * y0 + a31 * y1 + a32 * y2 + a33 * y3 - b3
            e4 = a40 * y0 + a41 * y1 + a42 * y2 + a43 * y3 + a44 * y4 - b4
            e5 = a50 * y0 + a51 * y1 + a52 * y2 + a53 * y3 + a54 * y4 + a55 * y5 - b5
            q = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5
            bump = height * exp(-0.5 * q)
            value[i] += bump
            G0[i] += bump * (a00 * e0 + a10 * e1 + a20 * e2 + a30 * e3 + a40 * e4 + a50 * e5)
            G1[i] += bump * (a11 * e1 + a21 * e2 + a31 * e3 + a41 * e4 + a51 * e5)
            G2[i] += bump * (a22 * e2 + a32 * e3 + a42 * e4 + a52 * e5)
            G3[i] += bump * (a33 * e3 + a43 * e4 + a53 * e5)
            G4[i] += bump * (a44 * e4 + a54 * e5)
            G5[i] += bump * (a55 * e5)


@inlined
def attraction_in_six(G, X, w, A, b, heights):
    """`attraction_skewed` in six dimensions."""
    value, pull = np.zeros(w.size), np.zeros(X.shape)
    add_pulls(value, pull[0], pull[1], pull[2], pull[3], pull[4], pull[5], X, A, b, heights)
    for r in range(6):
        multiply(pull[r], w)
        add_scaled(G[r], pull[r], 2.0)
    return 2.0 * dot(w, value)


@compiled
def add_affine_squares(Q, X, first, r, A, b):  # pragma: no cover - intrinsic
    """Add the squares of ``A x - b`` along axes r and r + 1, if there is one, for some points."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    s = min(r + 1, len(X) - 1)
    other = Q.dtype.type(s - r)
    for i in range(len(Q)):
        x, y = X[r, first + i], X[s, first + i]
        for m in range(Q.shape[1]):
            u, v = A[r, m] * x - b[r, m], other * (A[s, m] * y - b[s, m])
            Q[i, m] += u * u + v * v


@summing
def add_axial_pulls(G, X, w, first, r, A, b, bumps):  # pragma: no cover - intrinsic
    """Subtract the gradient of the attraction along axes r and r + 1 from ``G``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    s = min(r + 1, len(X) - 1)
    zero, other = bumps.dtype.type(0), float(s - r)
    for i in range(len(bumps)):
        x, y, u, v = X[r, first + i], X[s, first + i], zero, zero
        for m in range(bumps.shape[1]):
            u += A[r, m] * (A[r, m] * x - b[r, m]) * bumps[i, m]
            v += A[s, m] * (A[s, m] * y - b[s, m]) * bumps[i, m]
        G[r, first + i] += 2.0 * w[first + i] * u
        G[s, first + i] += 2.0 * other * w[first + i] * v


@inlined
def attraction_along_axes(G, X, w, A, b, heights, groups):
    """`attraction_skewed` for diagonal A, (d, m), in the precision of ``groups``.

    As many points are done at once as fit the cache.
    """
    (d, N), result, precision = X.shape, 0.0, groups.dtype
    x, a, c = (
        np.empty(X.shape, precision),
        np.empty(A.shape, precision),
        np.empty(A.shape, precision),
    )
    for r in range(d):
        for m in range(heights.size):
            a[r, m], c[r, m] = A[r, m], b[r, m] - A[r, m] * X[r, 0]
        for i in range(N):
            x[r, i] = X[r, i] - X[r, 0]
    h = heights.astype(precision)
    at_once = min(max(1, BUMPS_AT_ONCE // heights.size), N)
    scratch = np.empty((at_once, heights.size), precision)
    for first in range(0, N, at_once):
        bumps = scratch[: min(at_once, N - first)]
        fill(bumps.reshape(bumps.size), precision.type(0))
        for r in range(0, d, 2):
            add_affine_squares(bumps, x, first, r, a, c)
        for i in range(len(bumps)):
            set_bumps(bumps[i], h)
            result += 2.0 * w[first + i] * total(bumps[i])
        for r in range(0, d, 2):
            add_axial_pulls(G, x, w, first, r, a, c, bumps)
    return result


@inlined
def attraction_skewed(G, X, w, A, b, heights):
    """Return ``2 sum_i w_i mu(x_i)`` and subtract its gradient from ``G``; A is (d, d, m)."""
    d, N = X.shape
    u, value = np.empty((d, heights.size)), np.empty(heights.size)
    result = 0.0
    for i in range(N):
        fill(value, 0.0)
        for r in range(d):
            set_affine(u[r], A[r, r], X[r, i], b[r])
            for j in range(r):
                add_scaled(u[r], A[r, j], X[j, i])
            add_square(value, u[r], 0.0)
        set_bumps(value, heights)
        result += 2.0 * w[i] * total(value)
        for r in range(d):
            for j in range(r + 1):
                G[j, i] += 2.0 * w[i] * triple_dot(A[r, j], u[r], value)
    return result


@inlined
def attraction_on_line(G, X, w, A, b, heights, table, box):
    """`attraction_along_axes` in one dimension by interpolation."""
    n, result = (w.size + LANES - 1) // LANES * LANES, 0.0
    value, slope = np.zeros(n), np.zeros(n)
    set_values_and_slopes(value, slope, X, A, b, heights, table, box)
    for i in range(w.size):
        result += 2.0 * w[i] * value[i]
        G[0, i] -= 2.0 * w[i] * slope[i]
    return result


@inlined
def place_in_cell(t, cells):
    """The cell of ``t`` in [-1, 1] among so many, and its coordinate there, again in [-1, 1]."""
    scaled = 0.5 * (t + 1.0) * cells
    cell = min(int(scaled), cells - 1)
    return cell, np.float32(2.0 * (scaled - cell) - 1.0)


@inlined
def set_powers(T, D, t):
    """Powers of ``t`` and their derivatives."""
    T[0], D[0] = np.float32(1), np.float32(0)
    for k in range(1, CELL):
        T[k], D[k] = t * T[k - 1], np.float32(k) * T[k - 1]


@summing
def attraction_in_cells(G, X, w, A, b, heights, table, box, groups):  # pragma: no cover - intrinsic
    """`attraction_along_axes` in a box of the plane, by polynomials (i, j) of cells (r, s)."""
    T, D, U, V = np.empty((4, CELL), np.float32)
    p, q = np.empty((2, CELL), np.float32)
    result = 0.0
    for i in range(w.size):
        t, u = place_in_box(X, i, box)
        if abs(t) <= 1.0 and abs(u) <= 1.0:
            r, x = place_in_cell(t, len(table))
            s, y = place_in_cell(u, table.shape[1])
            set_powers(T, D, x)
            set_powers(U, V, y)
            set_rows(p, q, T, D, table[r, s])
            result += 2.0 * w[i] * dot(p, U)
            G[0, i] -= 2.0 * w[i] * len(table) * dot(q, U) / box[1, 0]
            G[1, i] -= 2.0 * w[i] * table.shape[1] * dot(p, V) / box[1, 1]
        else:
            one = slice(i, i + 1)
            result += attraction_along_axes(G[:, one], X[:, one], w[one], A, b, heights, groups)
    return result


@compiled
def attraction(G, X, w, A, b, heights, table, box, groups):
    """Return ``2 sum_i w_i mu(x_i)`` and subtract its gradient from ``G``.

    The mean map is the sum over m of ``heights[m] exp(-|A_m x - b_m|^2 / 2)``, one m for each scale
    and component, so that the inner loops are long; ``b`` is (d, m).  A ``table`` (m,) interpolates
    it on a line, one in four dimensions in cells of the plane.
    """
    # Dimensions are known at compile time, so that the branches not taken are not compiled.
    if table.ndim == 4:
        return attraction_in_cells(G, X, w, A, b, heights, table, box, groups)
    if table.ndim == 1:
        return attraction_on_line(G, X, w, A, b, heights, table, box)
    if A.ndim == 2:
        return attraction_along_axes(G, X, w, A, b, heights, groups)
    if A.shape[1] == 6:
        return attraction_in_six(G, X, w, A, b, heights)
    return attraction_skewed(G, X, w, A, b, heights)
