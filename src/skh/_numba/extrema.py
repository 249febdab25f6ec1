"""Minima and maxima by blocks, vectorised and divided among threads."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import BLOCK, count_blocks
from skh._numba.vectors import set_scaled


@compiled
def lowest(q):
    """``min(q)``, overwriting ``q``: folding the upper half onto the lower vectorises."""
    m = q.size
    while m > 1:
        half = (m + 1) // 2
        low, high = q[:half], q[half:m]
        for i in range(high.size):
            low[i] = high[i] if high[i] < low[i] else low[i]
        m = half
    return q[0]


@compiled
def first_lowest(a):
    """``argmin(a)``, the first one in case of a tie."""
    least = 0
    for i in range(1, a.size):
        if a[i] < a[least]:
            least = i
    return least


@compiled
def highest(a):
    """``max(a)``."""
    negative = np.empty(a.size)
    set_scaled(negative, a, -1.0)
    return -lowest(negative)


@compiled
def bounds(X):
    """``X.min(axis=1), X.max(axis=1)``."""
    d, M = X.shape
    blocks = count_blocks(M)
    low, high = np.empty((d, blocks)), np.empty((d, blocks))
    for b in prange(blocks):
        for j in range(d):
            x = X[j, b * BLOCK : (b + 1) * BLOCK]
            low[j, b], high[j, b] = lowest(x.copy()), highest(x)
    least, greatest = np.empty(d), np.empty(d)
    for j in range(d):
        least[j], greatest[j] = lowest(low[j]), highest(high[j])
    return least, greatest
