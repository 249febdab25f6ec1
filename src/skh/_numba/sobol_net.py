"""Sobol points with a random linear scramble."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled


@compiled
def scrambled_net(out, directions, digits, bits):
    """Set the first points (d, n) of a digital net after a random linear scramble and a shift.

    ``directions[j, k]`` is the k-th direction number of coordinate j, an integer whose highest of
    ``bits`` bits is the first binary digit.  The scramble (Matousek 1998) multiplies the digits by
    a lower triangular matrix over GF(2) with ones on its diagonal.  Its columns, integers of the
    same kind, are made of the random ``digits[j, :-1]``, binary digits of numbers in [0, 1);
    ``digits[j, -1]`` is the shift.  Points are in Gray-code order, where consecutive points differ
    by one direction number.
    """
    (d, m), n, scrambled = directions.shape, out.shape[1], np.empty(directions.shape[1], np.int64)
    for j in range(d):
        for k in range(m):
            scrambled[k] = 0
            for digit in range(m):
                if directions[j, k] >> (bits - 1 - digit) & 1:
                    lead = 1 << (bits - 1 - digit)  # column k starts at digit k
                    scrambled[k] ^= lead | np.int64(digits[j, digit] * 2.0**bits) & (lead - 1)
        x = np.int64(digits[j, m] * 2.0**bits)
        for i in range(n):
            out[j, i] = (x + 0.5) * 2.0**-bits
            flip = 0
            while i >> flip & 1:
                flip += 1
            if i + 1 < n:
                x ^= scrambled[flip]
