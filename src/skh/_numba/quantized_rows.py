"""Vertex search for iterates that change all weights: sums of quantized kernel rows.

A kernel row, the kernel between a vertex and all search points, is stored as 16-bit integers, since
reading rows takes most of the time.  Search points are sorted into blocks of neighbours, and a
block stores rows only of the vertices within reach: ``levels[b, i]`` belongs to vertex
``owner[b, i]``, for i < ``filled[b]``.  All other rows are zero in the block.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.exponential import exp32
from skh._numba.extrema import lowest
from skh._numba.kernel_rows import kernel_row
from skh._numba.partial_mean_map import PartialMeanMap
from skh._numba.single_precision import (
    LIKELY,
    SINGLE,
    add_exp32,
    lowest_of,
    single_precision_squares,
    winner,
)
from skh._numba.vectors import fill, set_scaled

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
def set_levels(out, row, q, height, rate):  # pragma: no cover - intrinsic
    """Quantize ``row + height * exp(-rate * q)``, of values from 0.5 to LEVELS + 0.5."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    most = np.float32(LEVELS)
    for m in range(out.size):
        out[m] = np.uint16(min(row[m] + height * exp32(-rate * q[m]), most))


@compiled
def quantize(out, q, row, scales):
    """Quantize the kernel at squared distances ``q`` to 0..LEVELS; ``row`` is scratch."""
    levels, last = np.float32(LEVELS), scales.shape[1] - 1
    fill(row, np.float32(0.5))
    for s in range(last):
        add_exp32(row, q, levels * scales[1, s], scales[0, s])
    set_levels(out, row, q, levels * scales[1, last], scales[0, last])


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
        quantize(levels[b, i, : hi - lo], q, row, scales)
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
    """Collect rows of non-zero weight, and the weights; pad with zeros to fours."""
    k = 0
    for i in range(owner.size):
        rows[k], a[k] = i, w[owner[i]]
        k += a[k] != 0.0
    while k % 4 > 0:
        rows[k], a[k] = 0, 0.0
        k += 1
    return k


@compiled
def lower(low, x):
    """``low = minimum(low, x)``."""
    for m in range(low.size):
        low[m] = x[m] if x[m] < low[m] else low[m]


@compiled
def combine_rows(gap, low, mu, levels, owner, filled, w):
    """``gap = sum_i w[i] row_i - mu`` by blocks, and the minimum of the blocks at each place."""
    B, backwards = filled.size, np.count_nonzero(w) % 2  # blocks visited last are cached
    rows, a = np.empty(w.size + 3, np.intp), np.empty(w.size + 3, np.float32)
    per_level = np.empty(w.size, np.float32)
    set_scaled(per_level, w, 1.0 / LEVELS)
    fill(low, np.float32(np.inf))
    for i in range(B):
        b = B - 1 - i if backwards else i
        set_scaled(gap[b], mu[b], np.float32(-1.0))
        k = rows_with_weight(rows, a, owner[b, : filled[b]], per_level)
        add_levels(gap[b], levels[b], rows[:k], a[:k])
        lower(low, gap[b])


@compiled
def points_below(found, gap, low, order, worst):
    """Write the search points with ``gap <= worst`` to ``found``; return their number."""
    count, worst = 0, np.float32(worst)
    for m in range(low.size):
        if low[m] <= worst:
            for b in range(len(gap)):
                if gap[b, m] <= worst:
                    found[count] = order[b * low.size + m]
                    count += 1
    return count


@compiled
def columns(X, which):
    """``X[:, which]``."""
    out = np.empty((X.shape[0], which.size))
    for j in range(X.shape[0]):
        for i in range(which.size):
            out[j, i] = X[j, which[i]]
    return out


@compiled
def error_of_sum(top, fixed, rows, mmd2):
    """Error bound of a gap for rows added four at a time: between -mu >= -top and the MMD."""
    return fixed + (rows / 4 + 12) * (top + sqrt(max(mmd2, 0.0))) * SINGLE


@compiled
def combine_rows_and_search(
    gap,
    low,
    rough_mu,
    levels,
    owner,
    filled,
    order,
    X,
    scales,
    centres,
    mu,
    Y,
    bumps,
    heights,
    rates,
    active,
    w,
    error,
):
    """`combine_and_search` for the weights ``w`` of ``centres``; also returns mu and a number.

    The exact score of the points with the lowest approximate score is a bar: points whose
    approximate score exceeds it by more than ``error`` cannot win.  So points within LIKELY errors
    of the lowest score usually suffice.  The last number returned is that of kernel values.
    Approximate arrays are in the order of the blocks, whose point m is search point ``order[m]``;
    ``mu`` to ``rates`` are those of `PartialMeanMap`.
    """
    combine_rows(gap, low, rough_mu, levels, owner, filled, w)
    mean_map, found = PartialMeanMap(mu, Y, bumps, heights, rates), np.empty(order.size, np.intp)
    keep, vertices, step = np.ones(active.size), columns(centres, active), w[active]
    worst, count = lowest(low.copy()) + LIKELY * error, 0
    while True:
        more = points_below(found, gap, low, order, worst)
        j, g, mean = winner(found[:more], X, mean_map, scales, vertices, keep, step)
        count, bar = count + more, g - mean + error
        if bar <= worst:
            return j, g, mean, count * active.size
        worst = bar
