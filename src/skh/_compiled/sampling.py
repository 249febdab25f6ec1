"""The compiled parts of drawing points: inverse transform, Sobol scrambling, the Hilbert curve.

As in `base`, nothing here checks its arguments.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numba import prange

from skh._compiled.base import BLOCK, compiled, count_blocks, inlined, set_exp
from skh._compiled.extremes import highest


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
def add_rows(out, rows, index):
    """``out += rows[index]`` without the copy."""
    for b in prange(count_blocks(index.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, index.size)):
            for j in range(out.shape[1]):
                out[i, j] += rows[index[i], j]


@compiled
def place_balls(means, sd, index, z):
    """``means[index] + sd[index] z`` row by row; ``sd`` (K,), or (1,) for all components."""
    out = np.empty(z.shape)
    last = sd.size - 1
    for b in prange(count_blocks(index.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, index.size)):
            k, scale = index[i], sd[min(index[i], last)]
            for j in range(z.shape[1]):
                out[i, j] = means[k, j] + scale * z[i, j]
    return out


@compiled
def place_rows(means, L, index, z):
    """``means[index] + L[index] z`` row by row, for factors ``L`` (K, d, d)."""
    out = np.empty(z.shape)
    for b in prange(count_blocks(index.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, index.size)):
            k = index[i]
            for j in range(z.shape[1]):
                total = means[k, j]
                for c in range(z.shape[1]):
                    total += L[k, j, c] * z[i, c]
                out[i, j] = total
    return out


@compiled
def scrambled_net(n, directions, columns, shift, bits):
    """The first n points of a digital net after a random linear scramble and a digital shift.

    ``directions[j, k]`` is the k-th direction number of coordinate j, an integer whose highest of
    ``bits`` bits is the first binary digit.  The scramble (Matousek 1998) multiplies the digits by
    a lower triangular matrix over GF(2) whose ``columns[j]`` are integers of the same kind.  Points
    come in the order of the Gray code, so that one direction number leads to the next.
    """
    d, m = directions.shape
    scrambled = np.zeros_like(directions)
    for j in range(d):
        for k in range(m):
            for digit in range(m):
                if directions[j, k] >> (bits - 1 - digit) & 1:
                    scrambled[j, k] ^= columns[j, digit]
    out = np.empty((n, d))
    x = shift.copy()
    for i in range(n):
        for j in range(d):
            out[i, j] = (x[j] + 0.5) * 2.0**-bits
        flip = 0
        while i >> flip & 1:
            flip += 1
        if i + 1 < n:
            for j in range(d):
                x[j] ^= scrambled[j, flip]
    return out


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


@compiled
def hilbert_cells(x, bits):
    """Each coordinate of the rows, standardised and squashed into (0, 1), in ``bits`` bits."""
    n, d = x.shape
    cells = np.empty((n, d), np.int64)
    for j in range(d):
        unit = mean = square = 0.0
        for i in range(n):
            unit = max(unit, abs(x[i, j]))  # no square may overflow
        unit = unit if unit > 0.0 else 1.0
        for i in range(n):
            mean += x[i, j] / unit / n
        for i in range(n):
            square += (x[i, j] / unit - mean) ** 2 / n
        rate = 1.0 / sqrt(square) if square > 0.0 else 1.0
        for i in range(n):
            logistic = 1.0 / (1.0 + exp(rate * (mean - x[i, j] / unit)))
            cells[i, j] = min(int(logistic * 2.0**bits), 2**bits - 1)
    return cells


@compiled
def hilbert_keys(cells, bits):
    """Position along the Hilbert curve of each row of ``cells``, integers of ``bits`` bits.

    The transform of Skilling (2004): from the coarsest cube down, undo the reflection or exchange
    that the curve makes in the half where the point lies, then Gray-code, then interleave the bits.
    """
    n, d = cells.shape
    keys = np.zeros(n, np.int64)
    for row in range(n):
        a = cells[row].copy()
        for level in range(bits - 1, 0, -1):
            below = (1 << level) - 1
            for j in range(d):
                if a[j] >> level & 1:
                    a[0] ^= below
                else:
                    swap = (a[0] ^ a[j]) & below
                    a[0] ^= swap
                    a[j] ^= swap
        for j in range(1, d):
            a[j] ^= a[j - 1]
        flip = 0
        for level in range(bits - 1, 0, -1):
            if a[d - 1] >> level & 1:
                flip ^= (1 << level) - 1
        for level in range(bits - 1, -1, -1):
            for j in range(d):
                keys[row] = keys[row] << 1 | (a[j] ^ flip) >> level & 1
    return keys


@compiled
def sort_along_curve(X, low, width, side, curve):
    """The order of points along a curve through a grid of ``side`` cells of a width on each axis.

    ``curve`` tells when it comes to which cell, the last coordinate running fastest.  A counting
    sort, so points of the same cell keep their order.
    """
    d, M = X.shape
    cell, start = np.zeros(M, np.intp), np.zeros(curve.size + 1, np.intp)
    for j in range(d):
        for m in range(M):
            cell[m] = cell[m] * side + min(int((X[j, m] - low[j]) / width), side - 1)
    for m in range(M):
        cell[m] = curve[cell[m]]
        start[cell[m] + 1] += 1
    for i in range(curve.size):
        start[i + 1] += start[i]
    order = np.empty(M, np.intp)
    for m in range(M):
        order[start[cell[m]]] = m
        start[cell[m]] += 1
    return order
