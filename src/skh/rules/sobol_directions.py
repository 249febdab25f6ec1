r"""Direction numbers of Sobol sequences, those of Joe and Kuo (2008), as in SciPy.

SciPy's statistics take longer to import than the rest of this library, so the first coordinates are
computed here.  With a primitive polynomial of degree s over GF(2), whose bits are the coefficients
p_0 = 1 to p_s, the number of digit k >= s is

.. math:: v_k = (v_{k-s} \gg s) \oplus p_1 v_{k-1} \oplus \dots \oplus p_s v_{k-s}.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from skh._typing import Integers

# For each coordinate after the first: the polynomial, and the first s numbers as odd integers.
POLYNOMIALS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
)


@lru_cache(maxsize=64)
def sobol_directions(d: int, m: int, bits: int) -> Integers:
    """First m direction numbers of each of d coordinates, (d, m), integers of ``bits`` bits.

    >>> sobol_directions(3, 4, 4)
    array([[ 8,  4,  2,  1],
           [ 8, 12, 10, 15],
           [ 8, 12,  6,  9]])
    """
    if d > len(POLYNOMIALS) + 1:
        return _of_scipy(d, m, bits)
    first = [1 << (bits - 1 - k) for k in range(m)]
    others = [_directions(*row, m=m, bits=bits) for row in POLYNOMIALS[: d - 1]]
    return np.array([first, *others])


def _directions(polynomial: int, initial: tuple[int, ...], *, m: int, bits: int) -> list[int]:
    """Direction numbers of one coordinate."""
    s = len(initial)
    v = [number << (bits - 1 - k) for k, number in enumerate(initial[:m])]
    for k in range(s, m):
        v.append(v[k - s] >> s)
        for j in range(1, s + 1):
            if polynomial >> (s - j) & 1:
                v[k] ^= v[k - j]
    return v[:m]


def _of_scipy(d: int, m: int, bits: int) -> Integers:
    """The same in any dimension.

    Point 2^k of SciPy's sequence, with Gray code bits k and k - 1, is the xor of two of them.
    """
    from scipy.stats import qmc

    net = qmc.Sobol(d, scramble=False, bits=bits).random_base2(m)
    points = (net[2 ** np.arange(m)] * 2.0**bits).astype(np.int64)
    return np.ascontiguousarray(np.bitwise_xor.accumulate(points).T)
