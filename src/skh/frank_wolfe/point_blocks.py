"""Blocks of neighbouring search points, so that a kernel can skip blocks beyond its reach.

It skips about half of them for the paper's mixture in the plane.  In more than three dimensions a
block of some hundred neighbours is as wide as all points, so there the points are not sorted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh._typing import Indices
from skh.gaussians.hilbert_curve import coarse_hilbert_order

# Points, in multiples of `row_sums.STRIP`: few if blocks may be skipped, else many to save time.
SMALL_BLOCK, LARGE_BLOCK = 128, 512
MAX_SORTED_DIMENSION = 3  # largest dimension in which points are sorted
MIN_SORTED_EXTENT = 2.0  # smallest extent for which sorting pays, in units of the reach


class Blocks(NamedTuple):
    """Points in blocks of ``size``, with their bounding boxes."""

    X: NDArray[np.float32]  # (d, M)
    order: Indices  # (M,): their original indices
    size: int
    low: NDArray[np.float32]  # (d, B): corners of the boxes
    high: NDArray[np.float32]

    @classmethod
    def of(cls, X: NDArray[np.float32], reach: float) -> Blocks:
        """Divide the columns of ``X`` into blocks for a kernel of this reach."""
        d, M = X.shape
        if d <= MAX_SORTED_DIMENSION and np.ptp(X, axis=1).max() >= MIN_SORTED_EXTENT * reach:
            order, size = coarse_hilbert_order(X), SMALL_BLOCK
        else:
            order, size = np.arange(M), LARGE_BLOCK
        X, first = X.take(order, axis=1), np.arange(0, M, size)
        low, high = (f.reduceat(X, first, axis=1) for f in (np.minimum, np.maximum))
        return cls(X, order, size, low, high)
