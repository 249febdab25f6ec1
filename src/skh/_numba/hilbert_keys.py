"""Positions of points along a Hilbert curve."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from skh._numba.compiling import compiled, inlined


@compiled
def hilbert_cells(x, bits):
    """Standardise each coordinate, map it to (0, 1) by a logistic, round it to ``bits`` bits."""
    n, d = x.shape
    cells, side = np.empty((n, d), np.int64), 1 << bits
    for j in range(d):
        unit = mean = square = 0.0
        for i in range(n):
            unit = max(unit, abs(x[i, j]))  # avoids overflow of squares
        unit = unit if unit > 0.0 else 1.0
        for i in range(n):
            mean += x[i, j] / unit / n
        for i in range(n):
            square += (x[i, j] / unit - mean) ** 2 / n
        rate = 1.0 / sqrt(square) if square > 0.0 else 1.0
        for i in range(n):
            logistic = 1.0 / (1.0 + exp(rate * (mean - x[i, j] / unit)))
            cells[i, j] = min(int(logistic * side), side - 1)
    return cells


@inlined
def reflect(a, b, level):
    """``a ^= 2^level - 1`` where b has this bit."""
    below = (1 << level) - 1
    for i in range(a.size):
        a[i] ^= below & -(b[i] >> level & 1)


@inlined
def reflect_or_exchange(a, b, level):
    """`reflect`; where b does not have the bit, exchange the bits of a and b below it."""
    below = (1 << level) - 1
    for i in range(a.size):
        low = below & -(b[i] >> level & 1)
        swap = (a[i] ^ b[i]) & (below ^ low)
        a[i] ^= swap ^ low
        b[i] ^= swap


@inlined
def append_bit(keys, a, flip, level):
    """Append a bit of ``a ^ flip`` to the keys."""
    for i in range(keys.size):
        keys[i] = keys[i] << 1 | (a[i] ^ flip[i]) >> level & 1


@compiled
def hilbert_keys(cells, bits):
    """Position along the Hilbert curve of each row of ``cells``, integers of ``bits`` bits.

    The transform of Skilling (2004): from the coarsest cube down, undo the reflection or exchange
    that the curve makes in the half where the point lies, then Gray-code, then interleave the bits.
    """
    n, d = cells.shape
    a, flip, keys = np.empty((d, n), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for j in range(d):
        for i in range(n):
            a[j, i] = cells[i, j]
    for level in range(bits - 1, 0, -1):
        reflect(a[0], a[0], level)
        for j in range(1, d):
            reflect_or_exchange(a[0], a[j], level)
    for j in range(1, d):
        for i in range(n):
            a[j, i] ^= a[j - 1, i]
    for level in range(bits - 1, 0, -1):
        reflect(flip, a[d - 1], level)
    for level in range(bits - 1, -1, -1):
        for j in range(d):
            append_bit(keys, a[j], flip, level)
    return keys


@compiled
def set_keys(keys, x, bits):
    """Set the positions of points (n, d) along the curve, from the first ``bits`` bits of each."""
    found = hilbert_keys(hilbert_cells(x, bits), bits)
    for i in range(keys.size):
        keys[i] = found[i]


@compiled
def sort_along_curve(X, low, width, side, curve):
    """Permutation that sorts points along a curve through a grid of ``side`` cells per axis.

    ``curve`` has the position of each cell along the curve, cells in C order.  A counting sort, so
    points of the same cell keep their order.
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
