"""One-pass checks of flat float64 arrays: return the index of a bad entry; callers raise."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.vectors import total

LARGEST_FLOAT = np.finfo(np.float64).max


@compiled
def first_outside(a, low, high):
    """Index of the first entry outside [low, high], NaN included, or -1."""
    bad = 0
    for i in range(a.size):  # without a branch, so that it vectorises
        bad += not ((a[i] >= low) & (a[i] <= high))
    i = 0
    while bad and (a[i] >= low) & (a[i] <= high):
        i += 1
    return i if bad else -1


@compiled
def first_not_finite(a):
    """Index of the first entry that is not finite, or -1."""
    return first_outside(a, -LARGEST_FLOAT, LARGEST_FLOAT)


@compiled
def first_not_below_infinity(a):
    """Index of the first NaN or +inf, or -1."""
    return first_outside(a, -np.inf, LARGEST_FLOAT)


@compiled
def first_negative_and_total(a):
    """Index of the first entry that is negative or NaN, or -1; and ``sum(a)``."""
    return first_outside(a, 0.0, np.inf), total(a)


@compiled
def are_indices(index, K):
    """Whether all entries are in 0..K-1."""
    bad = 0
    for i in range(index.size):
        bad += (index[i] < 0) | (index[i] >= K)
    return bad == 0


@compiled
def positive_total(x):
    """The sum of a vector, 0 unless all entries are positive."""
    total = 0.0
    for i in range(x.size):
        if not x[i] > 0.0:
            return 0.0
        total += x[i]
    return total
