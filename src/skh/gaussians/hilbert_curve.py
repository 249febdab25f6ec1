"""Sort points along a Hilbert curve: points close in the order are close in space."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from skh._numba.hilbert_keys import hilbert_keys, set_keys, sort_along_curve
from skh._typing import Array, Indices

KEY_BITS = 62  # of a key, a signed 64-bit integer
COARSE_BITS = 12  # of a cell's index on the coarse curve


def hilbert_order(x: Array, key_bits: int = KEY_BITS) -> Indices:
    """Return the permutation that sorts the rows of ``x`` along a Hilbert curve.

    Coordinates are standardised and mapped to (0, 1) by the logistic function (Gerber and Chopin,
    2015); a single coordinate is simply sorted.  Only the first ``key_bits`` dimensions
    count; fewer bits are faster and resolve less.

    >>> hilbert_order(np.array([[3.0], [1.0], [2.0]]))
    array([1, 2, 0])
    """
    if x.shape[1] == 1:
        return x[:, 0].argsort(kind="stable")
    keys, counted = np.empty(len(x), np.int64), x if x.shape[1] <= key_bits else x[:, :key_bits]
    set_keys(keys, np.ascontiguousarray(counted), key_bits // counted.shape[1])
    return keys.argsort(kind="stable")


def coarse_hilbert_order(X: NDArray[np.floating]) -> Indices:
    """Order the columns of ``X`` (d <= 4, not all equal) along a curve through 4,096 cells."""
    low, high = X.min(axis=1), X.max(axis=1)
    side = 2 ** (COARSE_BITS // len(X))
    order: Indices = sort_along_curve(X, low, (high - low).max() / side, side, _curve(len(X)))
    return order


@cache
def _curve(d: int) -> Indices:
    """Position on the curve of each cell of a grid in ``d`` dimensions."""
    bits = COARSE_BITS // d
    cells = np.indices((2**bits,) * d).reshape(d, -1).T
    keys: Indices = cells[:, 0].copy() if d == 1 else hilbert_keys(cells.copy(), bits)
    return keys
