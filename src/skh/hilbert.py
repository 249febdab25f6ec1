"""Sorting points along a Hilbert curve, so that neighbours in the order are neighbours in space.

Gerber and Chopin (2015) sort particles this way before the inverse transform of a quasi-random
number chooses among them: the curve carries the evenness of the numbers over to the particles.
"""

from __future__ import annotations

import numpy as np

from skh._checks import Array, Indices
from skh._compiled_sampling import hilbert_cells, hilbert_keys

KEY_BITS = 62  # what fits a signed 64-bit key


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
