"""Sobol points with a random linear scramble."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled


@compiled
def scrambled_net(out, directions, digits, bits):
    """Set the first points (n, d) of a digital net after a random linear scramble and a shift.

    ``directions[j, k]`` is the k-th direction number of coordinate j, an integer whose highest of
    ``bits`` bits is the first binary digit.  The scramble (Matousek 1998) multiplies the digits by
    a lower triangular matrix over GF(2) with ones on its diagonal.  Its columns, integers of the
    same kind, are made of the random ``digits[j, :-1]``; ``digits[j, -1]`` is the shift.  Points
    are in Gray-code order, where consecutive points differ by one direction number.
    """
    d, m = directions.shape
    scrambled, x = np.zeros((d, m), np.int64), np.empty(d, np.int64)
    for j in range(d):
        x[j] = digits[j, m]
        for k in range(m):
            for digit in range(m):
                if directions[j, k] >> (bits - 1 - digit) & 1:
                    lead = 1 << (bits - 1 - digit)  # column k starts at digit k
                    scrambled[j, k] ^= lead | digits[j, digit] & (lead - 1)
    n = len(out)
    for i in range(n):
        for j in range(d):
            out[i, j] = (x[j] + 0.5) * 2.0**-bits
        flip = 0
        while i >> flip & 1:
            flip += 1
        if i + 1 < n:
            for j in range(d):
                x[j] ^= scrambled[j, flip]
