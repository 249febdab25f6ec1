"""The compiled parts of checks that a filter makes at each step: one pass instead of several.

Arrays are flat and of float64.  Checks return the index of the first offending entry; callers
raise.  A function that just calls a kernel is not compiled: that would take longer than it saves.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, summing
from skh._typing import Array

LARGEST_FLOAT = np.finfo(np.float64).max


@compiled
def first_outside(a, low, high):
    """The first index whose number is not in [low, high], or -1; NaN is in no interval."""
    bad = 0
    for i in range(a.size):  # without a branch, so that it is done in vectors
        bad += not ((a[i] >= low) & (a[i] <= high))
    i = 0
    while bad and (a[i] >= low) & (a[i] <= high):
        i += 1
    return i if bad else -1


def first_not_finite(a: Array) -> int:
    """The first index that holds no finite number, or -1."""
    return int(first_outside(a, -LARGEST_FLOAT, LARGEST_FLOAT))


def first_not_below_infinity(a: Array) -> int:
    """The first index that holds NaN or +inf, or -1; -inf is fine."""
    return int(first_outside(a, -np.inf, LARGEST_FLOAT))


@summing
def total(a):
    """The sum, infinite if it is too large for a number."""
    result = 0.0
    for i in range(a.size):
        result += a[i]
    return result


def first_negative_and_total(a: Array) -> tuple[int, float]:
    """The first index of a number that is not >= 0, or -1, and the sum of all."""
    return int(first_outside(a, 0.0, np.inf)), float(total(a))


@compiled
def are_indices(index, K):
    """Whether all of them are in 0..K-1."""
    bad = 0
    for i in range(index.size):
        bad += (index[i] < 0) | (index[i] >= K)
    return bad == 0
