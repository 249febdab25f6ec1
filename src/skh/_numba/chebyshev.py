"""The mean map by Chebyshev interpolation in two dimensions; in one see `chebyshev_on_line`.

A sum of Gaussian bumps is smooth.  Its polynomial takes one multiplication per node, where the sum
takes an exponential per bump; see `kernels.interpolation`.
"""

from __future__ import annotations

from skh._numba.compiling import inlined

FIRST = 16  # polynomials that are found one after the other


@inlined
def set_polynomials(T, D, t):
    """Chebyshev polynomials and their derivatives at ``t``, at least `FIRST`.

    Twice ``T_8 T_k`` is ``T_(k + 8) + T_(k - 8)``, so eight are found at once.
    """
    T[0], T[1], D[0], D[1] = 1.0, t, 0.0, 1.0
    for k in range(2, FIRST):
        T[k] = 2.0 * t * T[k - 1] - T[k - 2]
        D[k] = 2.0 * T[k - 1] + 2.0 * t * D[k - 1] - D[k - 2]
    a, b = 2.0 * T[8], 2.0 * D[8]
    for k in range(T.size - FIRST):
        T[k + FIRST] = a * T[k + 8] - T[k]
    for k in range(T.size - FIRST):
        D[k + FIRST] = a * D[k + 8] + b * T[k + 8] - D[k]


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
