"""Sobol points with a random linear scramble."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, inlined


@compiled
def scrambled_net(out, directions, digits, bits):
    """Set the first points (d, n) of a digital net after a random linear scramble and a shift.

    ``directions[j, k]`` is the k-th direction number of coordinate j, an integer whose highest of
    ``bits`` bits is the first binary digit.  The scramble (Matousek 1998) multiplies the digits by
    a lower triangular matrix over GF(2) with ones on its diagonal.  Its columns, integers of the
    same kind, are made of the random ``digits[j, :-1]``, binary digits of numbers in [0, 1);
    ``digits[j, -1]`` is the shift.  Points are in Gray-code order, where point 2^k + i is point i
    with the columns k and k - 1 added.
    """
    (d, m), n = directions.shape, out.shape[1]
    x, unit = np.empty(n, np.int64), 2.0**bits
    columns = scrambled(directions, digits, bits, unit)
    for j in range(d):
        x[0], before = np.int64(digits[j, m] * unit), np.int64(0)
        for k in range(m):
            set_flipped(x[1 << k : 2 << k], x, before ^ columns[j, k])
            before = columns[j, k]
        for i in range(n):
            out[j, i] = (x[i] + 0.5) / unit


@compiled
def set_flipped(out, x, digits):
    """Set ``out`` to the first of ``x`` with some digits flipped."""
    for i in range(out.size):
        out[i] = x[i] ^ digits


@inlined
def scrambled(directions, digits, bits, unit):
    """The direction numbers times the scramble's matrix."""
    (d, m), columns = directions.shape, np.zeros(directions.shape, np.int64)
    for j in range(d):
        for digit in range(m):
            lead = 1 << (bits - 1 - digit)  # column k starts at digit k
            column = lead | np.int64(digits[j, digit] * unit) & (lead - 1)
            for k in range(m):
                columns[j, k] ^= column & -(directions[j, k] >> (bits - 1 - digit) & 1)
    return columns
