"""Search points in blocks of neighbours, so that a kernel may leave out those beyond its reach.

Where points spread much wider than the kernel reaches, most blocks are: about half of them for the
paper's mixture in the plane.  In more than three dimensions a block of some hundred neighbours is
as wide as all of them, so there the points stay in the order in which they came.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh._typing import Indices
from skh.gaussians.hilbert_curve import coarse_hilbert_order

# Points in a block: few, where it may be out of reach; else many, since it takes time as well to
# get from one block to the next.
SMALL_BLOCK, LARGE_BLOCK = 512, 2048
MAX_SORTED_DIMENSION = 3  # dimensions at most in which neighbours are put together
MIN_SORTED_EXTENT = 2.0  # the extent from which on that pays, in units of the reach


class Blocks(NamedTuple):
    """Points, and the boxes around ``size`` of them at a time."""

    X: NDArray[np.float32]  # (d, M)
    order: Indices  # (M,): where they stood before they were put together
    size: int
    low: NDArray[np.float32]  # (d, B): the corners of the boxes
    high: NDArray[np.float32]

    @classmethod
    def of(cls, X: NDArray[np.float32], reach: float) -> Blocks:
        """The columns of ``X`` for a kernel of this reach."""
        d, M = X.shape
        if d <= MAX_SORTED_DIMENSION and np.ptp(X, axis=1).max() >= MIN_SORTED_EXTENT * reach:
            order, size = coarse_hilbert_order(X), SMALL_BLOCK
        else:
            order, size = np.arange(M), LARGE_BLOCK
        X, first = X.take(order, axis=1), np.arange(0, M, size)
        low, high = (f.reduceat(X, first, axis=1) for f in (np.minimum, np.maximum))
        return cls(X, order, size, low, high)
