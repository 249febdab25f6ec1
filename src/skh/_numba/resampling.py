"""Resampling by inverse transform: sorted numbers, a guide table, or a distribution per row."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._numba.compiling import compiled, inlined, strict, summing
from skh._numba.extrema import highest
from skh._numba.kernel_rows import BLOCK, count_blocks, set_exp

INVERSE_GOLDEN_RATIO = 0.6180339887498949
LEAST_CHANCE = 1e-200  # `exp` never returns zero, only 1e-261
PART = 64  # shares that are summed up side by side


@compiled
def merge(cumulative, u):
    """``searchsorted(cumulative, u, side="right")`` for sorted u, best if evenly spread in [0, 1).

    Finds the first u above each cumulative weight, then sums counts.  With one u per stratum the
    initial guess is right and no branch is unpredictable, as it would be in a merge of two lists.
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
    """Systematic resampling: the component of each (k + offset) / n, k < n; weights sum to one."""
    ends = np.zeros(n + 1, np.intp)  # components that end at each k: no unpredictable branches
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
    """Guide table of `look_up`: the component at the start of each of T equal intervals."""
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
    """`inverse_transform` for u in any order: a guide table brackets each u, then bisection."""
    T = max(cumulative.size, min(8 * cumulative.size, u.size))  # a fine table pays for many u
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
            while i > 0 and cumulative[i - 1] > u[k]:  # rounding may give the next interval
                i -= 1
            while cumulative[i] <= u[k]:
                i += 1
            out[k] = i
    return out


@compiled
def inverse_transform(cumulative, u):
    """``searchsorted(cumulative, u, side="right")`` for u in [0, 1) and ``cumulative[-1]`` = 1."""
    falls = 0
    for k in range(1, u.size):
        falls += u[k] < u[k - 1]
    return look_up(cumulative, u) if falls else merge(cumulative, u)


@compiled
def choose_along(chosen, weights, order, u):
    """Set ``chosen`` to the `look_up` of components with these ``weights``, in the given order."""
    cumulative, total = np.empty(order.size), 0.0
    for k in range(order.size):
        total += weights[order[k]]
        cumulative[k] = total
    for k in range(order.size):
        cumulative[k] /= total
    found = look_up(cumulative, u)
    for k in range(u.size):
        chosen[k] = order[found[k]]


@strict
def set_distant_neighbours(u, order, start):
    """Numbers in [0, 1), a golden-ratio sequence from ``start`` along the given order."""
    for k in range(order.size):
        u[order[k]] = (start + INVERSE_GOLDEN_RATIO * k) % 1.0


@summing
def set_ends(ends, shares):
    """Cumulative sums of ``shares`` at the ends of parts of `PART`."""
    reached = 0.0
    for part in range(ends.size):
        some, total = shares[part * PART : (part + 1) * PART], 0.0
        for k in range(some.size):
            total += some[k]
        reached += total
        ends[part] = reached


@compiled
def choose_in_rows(chosen, log_shares, order, u):
    """Inverse transform in rows of unnormalised log-probabilities, components in ``order``.

    Shares are summed up one by one in the part in which the level falls, others side by side.
    """
    n, K = log_shares.shape
    unordered, shares, ends = np.empty(K), np.empty(K), np.empty((K + PART - 1) // PART)
    for i in range(n):
        row = log_shares[i]
        top = highest(row)
        for k in range(K):
            row[k] -= top
        set_exp(unordered, row, 1.0, -1.0)
        for k in range(K):
            shares[k] = unordered[order[k]]
        set_ends(ends, shares)
        level, part = u[i] * ends[-1], 0
        while part < ends.size - 1 and ends[part] <= level:
            part += 1
        reached = ends[part - 1] if part > 0 else 0.0
        for k in range(part * PART, min((part + 1) * PART, K)):
            if shares[k] > LEAST_CHANCE:
                chosen[i] = order[k]  # the last one if rounding keeps the sum below the level
                reached += shares[k]
                if reached > level:
                    break
