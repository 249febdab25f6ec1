"""Inverse transform: choose components by numbers in [0, 1), in order, by a table, or by rows."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._numba.compiling import compiled, inlined
from skh._numba.extrema import highest
from skh._numba.kernel_rows import BLOCK, count_blocks, set_exp


@compiled
def merge(cumulative, u):
    """``searchsorted(cumulative, u, side="right")`` for rising u, best if evenly spread in [0, 1).

    Counts at which number each step is reached, then adds up.  For one number per stratum the guess
    is right, and no branch depends on chance, as it would in a merge of the two lists.
    """
    n = u.size
    reached = np.zeros(n + 1, np.intp)
    for c in cumulative:
        k = min(int(c * n), n - 1)
        k += int(u[k] < c)
        while k > 0 and u[k - 1] >= c:
            k -= 1
        while k < n and u[k] < c:
            k += 1
        reached[k] += 1
    i = 0
    for k in range(n):
        i += reached[k]
        reached[k] = i
    return reached[:n]


@compiled
def systematic(weights, n, offset):
    """The component of each (k + offset) / n, k < n, by inverse transform; weights sum to one.

    Counts at which k each component ends, then adds up: no branch depends on chance.
    """
    ends = np.zeros(n + 1, np.intp)
    cumulative, last = 0.0, 0
    for i in range(weights.size):
        cumulative += weights[i]
        ends[min(n, int(np.ceil(cumulative * n - offset)))] += 1
        last = i if weights[i] > 0.0 else last
    i = 0
    for k in range(n):
        i += ends[k]
        ends[k] = min(i, last)  # rounding may keep the sum below one
    return ends[:n]


@inlined
def guide(cumulative, T):
    """Where each of T equal intervals of [0, 1) starts: the table of `look_up`."""
    table = np.empty(T + 1, np.intp)
    i = 0
    for b in range(T):
        while cumulative[i] * T <= b:
            i += 1
        table[b] = i
    table[T] = cumulative.size - 1
    return table


@compiled
def look_up(cumulative, u):
    """``searchsorted(cumulative, u, side="right")`` for u in [0, ``cumulative[-1]`` = 1).

    A table says where each of T equal intervals of [0, 1) starts, bisection does the rest.  The
    steps at the end are for numbers that rounding puts into the next interval.
    """
    T = max(cumulative.size, min(8 * cumulative.size, u.size))  # fine, if there is use for it
    table = guide(cumulative, T)
    out = np.empty(u.size, np.intp)
    for block in prange(count_blocks(u.size)):
        for k in range(block * BLOCK, min((block + 1) * BLOCK, u.size)):
            b = min(int(u[k] * T), T - 1)
            i, high = table[b], table[b + 1]
            while high - i > 4:
                middle = (i + high) // 2
                if cumulative[middle] <= u[k]:
                    i = middle + 1
                else:
                    high = middle
            while i > 0 and cumulative[i - 1] > u[k]:
                i -= 1
            while cumulative[i] <= u[k]:
                i += 1
            out[k] = i
    return out


@compiled
def inverse_transform(cumulative, u):
    """``searchsorted(cumulative, u, side="right")`` for u in [0, 1) and cumulative up to 1."""
    falls = 0
    for k in range(1, u.size):
        falls += u[k] < u[k - 1]
    return look_up(cumulative, u) if falls else merge(cumulative, u)


@compiled
def choose_in_rows(log_shares, order, u):
    """For each row the first index, in the given order, at which its shares add up to more than u.

    ``log_shares`` (n, K) are logarithms up to a constant of each row, and are destroyed.
    """
    n, K = log_shares.shape
    chosen, shares, cumulative = np.empty(n, np.intp), np.empty(K), np.empty(K)
    for i in range(n):
        row = log_shares[i]
        top = highest(row)
        for k in range(K):
            row[k] -= top
        set_exp(shares, row, 1.0, -1.0)
        total = 0.0
        for k in range(K):
            total += shares[order[k]]
            cumulative[k] = total
        level, k = max(u[i] * total, 1e-200), 0  # an exponential is never quite zero here
        while k < K - 1 and cumulative[k] <= level:
            k += 1
        chosen[i] = order[k]
    return chosen
