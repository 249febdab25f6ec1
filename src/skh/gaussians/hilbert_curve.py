"""Sorting points along a Hilbert curve, so that neighbours in the order are neighbours in space.

Gerber and Chopin (2015) sort particles this way before the inverse transform of a quasi-random
number chooses among them: the curve carries the evenness of the numbers over to the particles.
Where it is enough that neighbours are roughly neighbours, a coarse curve costs a fraction.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from skh._numba.hilbert_keys import hilbert_cells, hilbert_keys, sort_along_curve
from skh._typing import Array, Indices

KEY_BITS = 62  # what fits a signed 64-bit key
COARSE_BITS = 12  # of the number of a cell on the coarse curve


def hilbert_order(x: Array) -> Indices:
    """The permutation that puts the rows of ``x`` in the order of a Hilbert curve.

    As Gerber and Chopin do, each coordinate is standardised and squashed into (0, 1) by the
    logistic function; on one coordinate that is plain sorting.  Beyond 62 dimensions only the first
    62 count.

    >>> hilbert_order(np.array([[3.0], [1.0], [2.0]]))
    array([1, 2, 0])
    """
    if x.shape[1] == 1:
        return np.argsort(x[:, 0], kind="stable")
    x = np.ascontiguousarray(x[:, :KEY_BITS])
    bits = KEY_BITS // x.shape[1]
    return np.argsort(hilbert_keys(hilbert_cells(x, bits), bits), kind="stable")


def coarse_hilbert_order(X: NDArray[np.floating]) -> Indices:
    """The permutation of the columns of ``X`` along a Hilbert curve through some 4,000 cells.

    Up to four dimensions; the columns must not all be the same.
    """
    low, high = X.min(axis=1), X.max(axis=1)
    side = 2 ** (COARSE_BITS // len(X))
    order: Indices = sort_along_curve(X, low, (high - low).max() / side, side, _curve(len(X)))
    return order


@cache
def _curve(d: int) -> Indices:
    """When the curve comes to each cell of a grid in ``d`` dimensions."""
    bits = COARSE_BITS // d
    cells = np.indices((2**bits,) * d).reshape(d, -1).T
    keys: Indices = cells[:, 0].copy() if d == 1 else hilbert_keys(cells.copy(), bits)
    return keys
