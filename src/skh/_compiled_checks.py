"""The compiled parts of checks that a filter makes at each step: one pass instead of several.

Arrays are flat and of float64; nothing is said here, only found.
"""

from __future__ import annotations

import numpy as np

from skh._compiled import compiled, summing

LARGEST = np.finfo(np.float64).max


@compiled
def first_not_finite(a):
    """The first index that holds no finite number, or -1."""
    bad = 0
    for i in range(a.size):  # without a branch, so that it is done in vectors
        bad += not abs(a[i]) <= LARGEST
    i = 0
    while bad and abs(a[i]) <= LARGEST:
        i += 1
    return i if bad else -1


@compiled
def first_not_below_infinity(a):
    """The first index that holds NaN or +inf, or -1; -inf is fine."""
    bad = 0
    for i in range(a.size):
        bad += not a[i] <= LARGEST
    i = 0
    while bad and a[i] <= LARGEST:
        i += 1
    return i if bad else -1


@summing
def total(a):
    """The sum, infinite if it is too large for a number."""
    result = 0.0
    for i in range(a.size):
        result += a[i]
    return result


@compiled
def first_negative(a):
    """The first index of a negative number, or -1."""
    bad = 0
    for i in range(a.size):
        bad += a[i] < 0.0
    i = 0
    while bad and not a[i] < 0.0:
        i += 1
    return i if bad else -1


@compiled
def first_negative_and_total(a):
    """Both at once, because a filter asks for both at each step."""
    return first_negative(a), total(a)


@compiled
def are_indices(index, K):
    """Whether all of them are in 0..K-1."""
    bad = 0
    for i in range(index.size):
        bad += (index[i] < 0) | (index[i] >= K)
    return bad == 0
