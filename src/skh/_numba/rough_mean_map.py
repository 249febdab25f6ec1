"""The mean map at all search points in single precision, and its highest point in double."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import BLOCK, count_blocks
from skh._numba.partial_mean_map import mean_map_at
from skh._numba.single_precision import add_exp32, lowest_of, single_precision_squares
from skh._numba.vectors import fill, set_scaled


@compiled
def rough_mean_map(out, Y, centres, heights, rates):
    """``out[m] = sum_i heights[i] exp(-rates[i] |Y[:, m] - centres[i]|^2)`` in single precision."""
    for b in prange(count_blocks(out.size)):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, out.size)
        q, block = np.empty(hi - lo, np.float32), out[lo:hi]
        fill(block, np.float32(0.0))
        for i in range(heights.size):
            single_precision_squares(q, Y, lo, hi, centres[i])
            add_exp32(block, q, heights[i], rates[i])


@compiled
def highest_point(rough, error, mean_map):
    """The first point at which the mean map, ``rough`` up to ``error``, is highest."""
    negative, scratch = np.empty(rough.size, np.float32), np.empty(rough.size, np.float32)
    set_scaled(negative, rough, np.float32(-1.0))
    worst, best, arg = np.float32(lowest_of(negative, scratch) + 2.0 * error), -np.inf, 0
    for m in range(rough.size):
        if negative[m] <= worst:
            value = mean_map_at(mean_map, m)
            if value > best:
                best, arg = value, m
    return arg
