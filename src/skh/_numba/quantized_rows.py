"""Vertex search for iterates that change all weights: sums of quantized kernel rows.

A kernel row, the kernel between a vertex and all search points, is stored as 16-bit integers, since
reading rows takes most of the time.  Search points are sorted into blocks of neighbours, and a
block stores rows only of the vertices within reach: ``levels[b, i]`` belongs to vertex
``owner[b, i]``, for i < ``filled[b]``.  All other rows are zero in the block.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.extrema import first_lowest
from skh._numba.kernel_rows import kernel_row
from skh._numba.single_precision import (
    add_exp32,
    lowest_of,
    points_below,
    single_precision_squares,
    winner,
)

LEVELS = 65535  # quantized kernel values are multiples of 1 / LEVELS, stored as 16-bit integers

# Share of the squared reach beyond which the points of a box are checked, not only the box.
DOUBT = 0.3


@compiled
def squared_distance_to_box(low, high, b, c):
    """Squared distance of ``c`` to the box with corners ``low[:, b]`` and ``high[:, b]``."""
    total = np.float32(0.0)
    for j in range(c.size):
        e = max(low[j, b] - c[j], c[j] - high[j, b], np.float32(0.0))
        total += e * e
    return total


@compiled
def set_levels(out, q, row, scales):
    """Quantize the kernel at squared distances ``q`` to 0..LEVELS; ``row`` is scratch."""
    levels, half = np.float32(LEVELS), np.float32(0.5)
    for m in range(row.size):
        row[m] = half
    for s in range(scales.shape[1]):
        add_exp32(row, q, levels * scales[1, s], scales[0, s])
    for m in range(out.size):
        out[m] = np.uint16(min(row[m], levels))


@compiled
def add_row(levels, owner, filled, X, low, high, scales, reach, vertex, c):
    """Store the kernel row of a vertex at ``c`` in each block within reach."""
    size, far = levels.shape[2], reach * reach
    scratch = np.empty((2, size), np.float32)
    for b in range(filled.size):
        nearest = squared_distance_to_box(low, high, b, c)
        if nearest > far:
            continue
        i, lo, hi = filled[b], b * size, min((b + 1) * size, X.shape[1])
        q, row = scratch[0, : hi - lo], scratch[1, : hi - lo]
        single_precision_squares(q, X, lo, hi, c)
        if nearest > DOUBT * far and lowest_of(q, row) > far:
            continue
        set_levels(levels[b, i, : hi - lo], q, row, scales)
        owner[b, i] = vertex
        filled[b] += 1


@compiled
def take_in(
    levels,
    owner,
    filled,
    sorted_X,
    low,
    high,
    reach,
    single_X,
    single_scales,
    X,
    scales,
    centres,
    k,
    j,
):
    """Add search point ``j`` as vertex ``k``; return its kernel values with all vertices so far."""
    for i in range(X.shape[0]):
        centres[i, k] = X[i, j]
    c = single_X[:, j].copy()
    add_row(levels, owner, filled, sorted_X, low, high, single_scales, reach, k, c)
    values = np.empty(k + 1)
    kernel_row(values, centres[:, : k + 1], centres[:, k].copy(), scales)
    return values


@compiled
def add_levels(out, levels, rows, a):  # pragma: no cover - intrinsic
    """``out += sum_i a[i] levels[rows[i]]`` in single precision, for a multiple of four rows.

    Four rows per pass, since memory traffic dominates; their sum is small, so that only a quarter
    of the additions round at the size of ``out``.
    """
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    f = np.float32
    for i in range(0, rows.size, 4):
        r, s = levels[rows[i]], levels[rows[i + 1]]
        t, u = levels[rows[i + 2]], levels[rows[i + 3]]
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        for m in range(out.size):
            four = (a0 * f(r[m]) + a1 * f(s[m])) + (a2 * f(t[m]) + a3 * f(u[m]))
            out[m] += four


@compiled
def rows_with_weight(rows, a, owner, w):
    """Collect rows of non-zero weight, and the weight per level; pad with zeros to fours."""
    k = 0
    for i in range(owner.size):
        weight = w[owner[i]]
        if weight != 0.0:
            rows[k], a[k] = i, weight / LEVELS
            k += 1
    while k % 4 > 0:
        rows[k], a[k] = 0, 0.0
        k += 1
    return k


@compiled
def combine_rows(gap, lows, mu, levels, owner, filled, w):
    """``gap = sum_i w[i] row_i - mu``, and its minimum in each block."""
    size, backwards = levels.shape[2], np.count_nonzero(w) % 2  # blocks visited last are cached
    rows, a = np.empty(w.size + 3, np.intp), np.empty(w.size + 3, np.float32)
    scratch = np.empty(size, np.float32)
    for i in range(lows.size):
        b = lows.size - 1 - i if backwards else i
        lo, hi = b * size, min((b + 1) * size, mu.size)
        block, target = gap[lo:hi], mu[lo:hi]
        for m in range(block.size):
            block[m] = -target[m]
        k = rows_with_weight(rows, a, owner[b, : filled[b]], w)
        add_levels(block, levels[b], rows[:k], a[:k])
        lows[b] = lowest_of(block, scratch)


@compiled
def columns(X, which):
    """``X[:, which]``."""
    out = np.empty((X.shape[0], which.size))
    for j in range(X.shape[0]):
        for i in range(which.size):
            out[j, i] = X[j, which[i]]
    return out


@compiled
def combine_rows_and_search(
    gap, lows, single_mu, levels, owner, filled, order, X, mu, scales, centres, active, w, error
):
    """`combine_and_search` for the weights ``w`` of ``centres``; returns the same as `decide`.

    The exact score of the points with the lowest approximate score is a bar: points whose
    approximate score exceeds it by more than ``error`` cannot win.  Approximate arrays are in the
    order of the blocks, whose point m is search point ``order[m]``.
    """
    combine_rows(gap, lows, single_mu, levels, owner, filled, w)
    size, keep = levels.shape[2], np.ones(active.size)
    exact = X, mu, scales, columns(centres, active), keep, w[active]
    lowest = order[points_below(gap, lows, size, lows[first_lowest(lows)])]
    j, value, tried = winner(lowest, *exact)
    points = order[points_below(gap, lows, size, value - mu[j] + error)]
    j, value, count = winner(points, *exact)
    return j, value, tried + count
