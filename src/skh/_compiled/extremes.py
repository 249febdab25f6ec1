"""Compiled extremes of many numbers: by blocks, so that threads can share them."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._compiled.base import BLOCK, compiled, count_blocks, first_lowest, lowest
from skh._compiled.vectors import set_scaled


@compiled
def highest(a):
    """``max(a)``."""
    negative = np.empty(a.size)
    set_scaled(negative, a, -1.0)
    return -lowest(negative)


@compiled
def first_highest(a):
    """The first index at which ``a`` is greatest."""
    lows = np.empty(count_blocks(a.size))  # of -a
    for b in prange(lows.size):
        lows[b] = -highest(a[b * BLOCK : (b + 1) * BLOCK])
    best = first_lowest(lows)
    i = best * BLOCK
    while -a[i] != lows[best]:
        i += 1
    return i


@compiled
def bounds(X):
    """The least and the greatest of each row."""
    d, M = X.shape
    blocks = count_blocks(M)
    low, high = np.empty((d, blocks)), np.empty((d, blocks))
    for b in prange(blocks):
        for j in range(d):
            x = X[j, b * BLOCK : (b + 1) * BLOCK]
            low[j, b], high[j, b] = lowest(x.copy()), highest(x)
    least, greatest = np.empty(d), np.empty(d)
    for j in range(d):
        least[j], greatest[j] = low[j].min(), high[j].max()
    return least, greatest
