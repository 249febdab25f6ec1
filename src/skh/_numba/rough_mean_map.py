"""The mean map at all search points in single precision."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import BLOCK, count_blocks
from skh._numba.single_precision import add_exp32, single_precision_squares
from skh._numba.vectors import fill


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
