"""The mean map by Chebyshev interpolation in two dimensions; in one see `chebyshev_on_line`.

A sum of Gaussian bumps is smooth.  Its polynomial takes one multiplication per node, where the sum
takes an exponential per bump; see `kernels.interpolation`.
"""

from __future__ import annotations

from math import cos, pi

import numpy as np

from skh._numba.compiling import compiled, inlined


@inlined
def set_rows(p, q, T, D, table):
    """``p = T table`` and ``q = D table``; the table has a multiple of four rows."""
    for j in range(p.size):
        p[j], q[j] = 0.0, 0.0
    for i in range(0, len(table), 4):
        t0, t1, t2, t3 = T[i], T[i + 1], T[i + 2], T[i + 3]
        d0, d1, d2, d3 = D[i], D[i + 1], D[i + 2], D[i + 3]
        for j in range(p.size):
            a, b, c, d = table[i, j], table[i + 1, j], table[i + 2, j], table[i + 3, j]
            p[j] += t0 * a + t1 * b + t2 * c + t3 * d
            q[j] += d0 * a + d1 * b + d2 * c + d3 * d


@inlined
def place_in_box(X, i, box):
    """Coordinates of point ``i`` in a box (2, 2), its centre and half-widths: -1 to 1 inside."""
    return (X[0, i] - box[0, 0]) / box[1, 0], (X[1, i] - box[0, 1]) / box[1, 1]


@compiled
def chebyshev_nodes(centre, half, m):
    """The m Chebyshev nodes of an interval."""
    x = np.empty(m)
    for i in range(m):
        x[i] = centre + half * cos(pi * (i + 0.5) / m)
    return x
