"""Units of coordinates; see `gaussians.units`."""

from __future__ import annotations

from math import frexp, ldexp

from skh._numba.compiling import compiled

UNIT_BITS = 16  # units are powers of 2^16, relative to the largest
MOST_BITS = 960  # of a unit; smaller ones could underflow


@compiled
def set_units(unit, sizes):
    """Set the unit of each coordinate in each row, given the sizes of typical values."""
    for i in range(len(sizes)):
        largest = -MOST_BITS
        for j in range(sizes.shape[1]):
            if sizes[i, j] > 0.0:
                largest = max(largest, frexp(sizes[i, j])[1])
        for j in range(sizes.shape[1]):
            unit[i, j] = 1.0
            if sizes[i, j] > 0.0:
                below = min(largest - frexp(sizes[i, j])[1], MOST_BITS)
                unit[i, j] = ldexp(1.0, -UNIT_BITS * (below // UNIT_BITS))
