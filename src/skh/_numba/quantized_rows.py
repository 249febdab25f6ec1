"""Vertex search for iterates that change all weights: sums of quantized kernel rows.

A kernel row, the kernel between a vertex and all search points, is stored as 16-bit integers, since
reading rows takes most of the time.  Search points are sorted into blocks of neighbours, and a
block stores rows only of the vertices within reach: ``levels[b, i]`` belongs to vertex
``owner[b, i]``, for i < ``filled[b]``.  All other rows are zero in the block.

Far from the last vertex, scores hardly change, and most of them are too high to be the lowest.  So
a block is summed up only if it may hold the lowest score: its lowest one when it was last summed up
is kept as a bound, and lowered by the least that the weights since then, each times its kernel
row's range in the block, may have changed it by.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.exponential import exp32
from skh._numba.extrema import first_lowest
from skh._numba.kernel_rows import kernel_row
from skh._numba.partial_mean_map import PartialMeanMap
from skh._numba.row_sums import set_sum
from skh._numba.single_precision import (
    LIKELY,
    SINGLE,
    add_exp32,
    find_below,
    single_precision_squares,
    winner,
)
from skh._numba.vectors import fill, set_scaled

LEVELS = 65535  # quantized kernel values are multiples of 1 / LEVELS, stored as 16-bit integers
RANGE_LEVELS = 60000  # ranges are multiples of its inverse; at most one, and their margin
LONGEST_RUN = 16  # blocks whose squared distances are computed at once


@compiled
def squared_distances_to_boxes(near, far, low, high, c):
    """Set the least and greatest squared distances of ``c`` to boxes with corners low and high."""
    fill(near, np.float32(0.0))
    fill(far, np.float32(0.0))
    for j in range(c.size):
        x, y, z = low[j], high[j], c[j]
        for b in range(near.size):
            below, above = x[b] - z, z - y[b]
            outside, inside = max(below, above, np.float32(0.0)), min(below, above)
            near[b] += outside * outside
            far[b] += inside * inside


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
def end_of_run(near, far, b):
    """The block after those from b on, LONGEST_RUN at most, that are near."""
    e = b
    while e < min(near.size, b + LONGEST_RUN) and near[e] <= far:
        e += 1
    return e


@compiled
def add_row(levels, owner, filled, near, X, scales, reach, vertex, c):
    """Store the kernel row of a vertex at ``c`` in each block within reach."""
    size, far, b = levels.shape[2], reach * reach, 0
    squares, row = np.empty(LONGEST_RUN * size, np.float32), np.empty(size, np.float32)
    while b < filled.size:
        e = end_of_run(near, far, b)
        lo, hi = b * size, min(e * size, X.shape[1])
        run = squares[: hi - lo]
        single_precision_squares(run, X, lo, hi, c)
        for k in range(b, e):
            i, q = filled[k], run[(k - b) * size : (k - b + 1) * size]
            quantize(levels[k, i, : q.size], q, row[: q.size], scales)
            owner[k, i] = vertex
            filled[k] += 1
        b = max(e, b + 1)


@compiled
def set_range(lowest, highest, near, low, high, scales, margin, c):
    """Set the range of a kernel row in each block, and its squared distances to the vertex.

    A `RANGE_LEVELS` is a unit of the range, which is rounded down, and wider by a margin.
    """
    far, least, most = np.empty_like(near), np.zeros_like(near), np.zeros_like(near)
    squared_distances_to_boxes(near, far, low, high, c)
    for s in range(scales.shape[1]):
        add_exp32(least, far, scales[1, s], scales[0, s])
        add_exp32(most, near, scales[1, s], scales[0, s])
    levels, one = np.float32(RANGE_LEVELS), np.float32(1.0)
    for b in range(near.size):
        lowest[b] = np.uint16(max(levels * (least[b] - margin), np.float32(0.0)))
        highest[b] = np.uint16(levels * (most[b] + margin) + one)


@compiled
def take_in(
    levels,
    owner,
    filled,
    ranges,
    margin,
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
    c, near = single_X[:, j].copy(), np.empty(filled.size, np.float32)
    set_range(ranges[2 * k], ranges[2 * k + 1], near, low, high, single_scales, margin, c)
    add_row(levels, owner, filled, near, sorted_X, single_scales, reach, k, c)
    values = np.empty(k + 1)
    kernel_row(values, centres[:, : k + 1], centres[:, k].copy(), scales)
    return values


@compiled
def shift_bounds(bounds, before, w, ranges):
    """Lower the bounds on the scores of blocks by as much as the change of weights may."""
    shift, change = np.zeros(ranges.shape[1], np.float32), np.empty(2 * w.size, np.float32)
    which = np.empty(2 * w.size, np.uintp)
    for i in range(w.size):
        rise = (w[i] - before[i]) / RANGE_LEVELS
        change[2 * i], change[2 * i + 1] = max(rise, 0.0), min(rise, 0.0)
        which[2 * i], which[2 * i + 1], before[i] = 2 * i, 2 * i + 1, w[i]
    set_sum(shift, shift, ranges, change, which)
    for b in range(bounds.size):
        bounds[b] += shift[b]


@compiled
def combine_rows(gap, lows, bounds, minus_mu, levels, owner, filled, w, error):
    """``gap = sum_i w[i] row_i - mu`` in blocks that may hold the lowest score; return the least.

    Most blocks are ruled out by their bounds, and get an infinite minimum.
    """
    per_level = np.empty(w.size, np.float32)
    set_scaled(per_level, w, 1.0 / LEVELS)
    fill(lows, np.float32(np.inf))
    first, best = first_lowest(bounds), np.inf
    for i in range(-1, filled.size):
        b = i if i >= 0 else first  # which is likely to rule out most of the others
        if bounds[b] > best + error or lows[b] < np.inf:
            continue
        lows[b] = set_sum(gap[b], minus_mu[b], levels[b], per_level, owner[b, : filled[b]])
        bounds[b], best = lows[b] - error, min(best, lows[b])
    return best


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
    """Error bound of a gap for rows added one after the other: between -mu >= -top and the MMD."""
    return fixed + (rows + 12) * (top + sqrt(max(mmd2, 0.0))) * SINGLE


@compiled
def combine_rows_and_search(
    gap,
    lows,
    bounds,
    before,
    minus_mu,
    levels,
    owner,
    filled,
    ranges,
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
    ``bounds`` are of the exact scores, for the weights ``before``; ``mu`` to ``rates`` are those of
    `PartialMeanMap`.
    """
    shift_bounds(bounds, before, w, ranges)
    best = combine_rows(gap, lows, bounds, minus_mu, levels, owner, filled, w, error)
    mean_map, found = PartialMeanMap(mu, Y, bumps, heights, rates), np.empty(order.size, np.intp)
    keep, vertices, step = np.ones(active.size), columns(centres, active), w[active]
    worst, count, size, flat = best + LIKELY * error, 0, gap.shape[1], gap.reshape(-1)
    while True:
        more = find_below(found, flat, lows, 0, lows.size, size, worst)
        for i in range(more):
            found[i] = order[found[i]]
        j, g, mean = winner(found[:more], X, mean_map, scales, vertices, keep, step)
        count, bar = count + more, g - mean + error
        if bar <= worst:
            return j, g, mean, count * active.size
        worst = bar
