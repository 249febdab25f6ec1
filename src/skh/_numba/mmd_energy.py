"""The squared MMD as a function of all positions: its value and its gradient.

The constant, the squared norm of the mean element, is omitted.  Each inner loop runs over all pairs
of points, or over all components at all scales, or in six dimensions over all points.
"""

from __future__ import annotations

import numpy as np

from skh._numba.chebyshev import FIRST, place_in_box, set_polynomials, set_rows
from skh._numba.compiling import compiled, full_vectors, inlined
from skh._numba.exponential import exp
from skh._numba.kernel_rows import add_square, squared_distances
from skh._numba.nested_scales import nested_repulsion
from skh._numba.vectors import add_scaled, dot, fill, multiply, total, triple_dot

PAIRS_AT_ONCE = 8_192  # of points, whose squared distances fit the cache


@compiled
def add_bump(value, slope, q, height, rate):  # pragma: no cover - intrinsic
    """``value += e`` and ``slope += 2 rate e`` with ``e = height exp(-rate q)``, for one scale."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for j in range(q.size):
        e = height * exp(-rate * q[j])
        value[j] += e
        slope[j] += 2.0 * rate * e


@compiled
def add_push(out, x, slope, y, a):
    """``out += a slope (y - x)``."""
    for j in range(out.size):
        out[j] += a * slope[j] * (y - x[j])


@inlined
def repulsion(G, X, w, scales):
    """Return ``sum_ij w_i w_j k(x_i, x_j)`` and add its gradient to ``G``; pairs have j < i.

    As many points i are done at once as make `PAIRS_AT_ONCE` pairs, which fit the cache.
    """
    d, N = X.shape
    scratch = np.empty((3, max(PAIRS_AT_ONCE, N)))
    c, none = np.empty(d), np.intp(0)  # not a literal 0: see `protected_steps`
    result = total(scales[1]) * dot(w, w)
    last = np.intp(1)
    while last < N:
        start, pairs = last, none
        while last < N and pairs + last <= scratch.shape[1]:
            for k in range(d):
                c[k] = X[k, last]
            squared_distances(scratch[0, pairs : pairs + last], X, none, last, c)
            pairs += last
            last += 1
        q, value, slope = scratch[0, :pairs], scratch[1, :pairs], scratch[2, :pairs]
        fill(value, 0.0)
        fill(slope, 0.0)
        for s in range(scales.shape[1]):
            add_bump(value, slope, q, scales[1, s], scales[0, s])
        first = none
        for i in range(start, last):
            before, push = w[:i], slope[first : first + i]
            result += 2.0 * w[i] * dot(before, value[first : first + i])
            multiply(push, before)
            pull = total(push)
            for k in range(d):
                G[k, i] -= 2.0 * w[i] * (pull * X[k, i] - dot(push, X[k, :i]))
                add_push(G[k, :i], X[k, :i], push, X[k, i], 2.0 * w[i])
            first += i
    return result


@compiled
def set_affine(out, a, x, b):
    """``out = a x - b``."""
    for i in range(out.size):
        out[i] = a[i] * x - b[i]


@compiled
def set_affine_add_square(out, q, a, x, b):
    """``out = a x - b; q += out^2``."""
    for i in range(out.size):
        out[i] = a[i] * x - b[i]
        q[i] += out[i] * out[i]


@compiled
def set_bumps(q, heights):  # pragma: no cover - intrinsic
    """``q <- heights exp(-q / 2)``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        q[i] = heights[i] * exp(-0.5 * q[i])


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


@inlined
def attraction_along_axes(G, X, w, A, b, heights):
    """`attraction_skewed` for diagonal A, (d, m)."""
    d, N = X.shape
    u, value = np.empty((d, heights.size)), np.empty(heights.size)
    result = 0.0
    for i in range(N):
        fill(value, 0.0)
        for r in range(d):
            set_affine_add_square(u[r], value, A[r], X[r, i], b[r])
        set_bumps(value, heights)
        result += 2.0 * w[i] * total(value)
        for r in range(d):
            G[r, i] += 2.0 * w[i] * triple_dot(A[r], u[r], value)
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


@compiled
def interpolated_attraction(G, X, w, A, b, heights, table, box):  # pragma: no cover - intrinsic
    """`attraction_along_axes` by interpolation in a box; outside it bumps are summed up."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    (m, n), last = table.shape, len(X) - 1
    T, D = np.empty((2, max(m, n, FIRST))), np.empty((2, max(m, n, FIRST)))
    p, q, result = np.empty(n), np.empty(n), 0.0
    for i in range(w.size):
        t, u = place_in_box(X, i, box)
        if abs(t) <= 1.0 and abs(u) <= 1.0:
            set_polynomials(T[0], D[0], t)
            set_polynomials(T[1], D[1], u)
            set_rows(p, q, T[0], D[0], table)
            result += 2.0 * w[i] * dot(p, T[1, :n])
            G[last, i] -= 2.0 * w[i] * dot(p, D[1, :n]) / box[1, 1]
            if last == 1:
                G[0, i] -= 2.0 * w[i] * dot(q, T[1, :n]) / box[1, 0]
        else:
            one = slice(i, i + 1)
            result += attraction_along_axes(G[:, one], X[:, one], w[one], A, b, heights)
    return result


@compiled
def energy(G, X, w, scales, A, b, heights, table, box):
    """Return the squared MMD without its constant; set ``G`` to its gradient.

    The mean map is the sum over m of ``heights[m] exp(-|A_m x - b_m|^2 / 2)``, one m for each scale
    and component, so that the inner loops are long; ``b`` is (d, m).  A ``table`` in two dimensions
    interpolates it.  One-dimensional ``scales`` are nested: then pairs are in single precision.
    """
    for k in range(len(G)):
        fill(G[k], 0.0)
    # Dimensions are known at compile time, so that the branches not taken are not compiled.
    if scales.ndim == 1:  # noqa: SIM108
        result = nested_repulsion(G, X, w, scales)
    else:
        result = repulsion(G, X, w, scales)
    if table.ndim == 2:
        return result - interpolated_attraction(G, X, w, A, b, heights, table, box)
    if A.ndim == 2:
        return result - attraction_along_axes(G, X, w, A, b, heights)
    if A.shape[1] == 6:
        return result - attraction_in_six(G, X, w, A, b, heights)
    return result - attraction_skewed(G, X, w, A, b, heights)
