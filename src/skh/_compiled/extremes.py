"""Compiled extremes of many numbers: by blocks, so that threads can share them."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._compiled.base import BLOCK, compiled, count_blocks, lowest


@compiled
def highest(a):
    """``max(a)``."""
    return -lowest(-a)


@compiled
def first_highest(a):
    """The first index at which ``a`` is greatest."""
    tops = np.empty(count_blocks(a.size))
    for b in prange(tops.size):
        tops[b] = highest(a[b * BLOCK : (b + 1) * BLOCK])
    best = tops.argmax()
    i = best * BLOCK
    while a[i] != tops[best]:
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
