"""The compiled vertex search for iterates that change all weights: sums of rough kernel rows.

A kernel row, the kernel between a vertex and all search points, is kept as 16-bit integers: what is
read again and again should be short.  Search points stand in blocks of neighbours, and each block
keeps the rows of those vertices only that reach it: ``levels[b, i]`` belongs to vertex
``owner[b, i]``, for i below ``filled[b]``.  All others are zero throughout the block.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.kernel_rows import kernel_row
from skh._numba.single_precision import (
    add_exp32,
    lowest_of,
    points_below,
    single_precision_squares,
    winner,
)

LEVELS = 65535  # a rough kernel value is a multiple of 1 / LEVELS, kept as a 16-bit integer

# The share of the squared reach from which on a box that is reached may hold no point that is.
DOUBT = 0.3


@compiled
def squared_distance_to_box(low, high, b, c):
    """Of the point ``c`` and the box between the corners ``low[:, b]`` and ``high[:, b]``."""
    total = np.float32(0.0)
    for j in range(c.size):
        e = max(low[j, b] - c[j], c[j] - high[j, b], np.float32(0.0))
        total += e * e
    return total


@compiled
def set_levels(out, q, row, scales):
    """The kernel at the squared distances ``q`` as integers in [0, LEVELS]; ``row`` is scratch."""
    levels, half = np.float32(LEVELS), np.float32(0.5)
    for m in range(row.size):
        row[m] = half
    for s in range(scales.shape[1]):
        add_exp32(row, q, levels * scales[1, s], scales[0, s])
    for m in range(out.size):
        out[m] = np.uint16(min(row[m], levels))


@compiled
def add_row(levels, owner, filled, X, low, high, scales, reach, vertex, c):
    """Keep the row of a vertex, which is at ``c``, in each block that it reaches."""
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
    """Take in a search point as the next vertex; its kernel values to all vertices so far.

    It is search point ``j`` and vertex ``k``, and its place joins those of the others in
    ``centres``; ``low`` and ``high`` are the corners of the boxes around the blocks.
    """
    for i in range(X.shape[0]):
        centres[i, k] = X[i, j]
    c = single_X[:, j].copy()
    add_row(levels, owner, filled, sorted_X, low, high, single_scales, reach, k, c)
    values = np.empty(k + 1)
    kernel_row(values, centres[:, : k + 1], centres[:, k].copy(), scales)
    return values


@compiled
def add_levels(out, levels, rows, a):  # pragma: no cover - intrinsic
    """``out += sum of a[i] levels[rows[i]]`` in single precision, for a multiple of four rows.

    Four at a time, since it is the way to the cache and back that takes the time; and the sum of
    the four is small, so that a quarter of the additions round at the size of ``out``.
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
    """The rows whose vertices have weight, and that weight per level; zeros to fill up a four."""
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
    """``gap = sum of w[i] row i - mu``, and its minimum in each block.

    Every other time from the last block to the first: what came last is still in the cache.
    """
    size, backwards = levels.shape[2], np.count_nonzero(w) % 2
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
    """`combine_and_search` for the weights ``w`` of ``centres``: what `decide` returns.

    The exact score of the roughly lowest points comes first: points whose rough score is larger by
    more than ``error`` cannot win.  What is rough stands in the order of the blocks: point m of
    theirs is ``order[m]`` elsewhere.
    """
    combine_rows(gap, lows, single_mu, levels, owner, filled, w)
    size, keep = levels.shape[2], np.ones(active.size)
    exact = X, mu, scales, columns(centres, active), keep, w[active]
    lowest = order[points_below(gap, lows, size, lows.min())]
    j, value, tried = winner(lowest, *exact)
    points = order[points_below(gap, lows, size, value - mu[j] + error)]
    j, value, count = winner(points, *exact)
    return j, value, tried + count
