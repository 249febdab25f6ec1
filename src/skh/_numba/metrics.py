"""Metrics of kernels in a few coordinates, where calls of NumPy take longer than the sums."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.cholesky import cholesky, invert_lower
from skh._numba.compiling import compiled
from skh._numba.kernel_rows import transposed
from skh._numba.products import product, symmetric_product


@compiled
def expected_metric(L, axes, seen, unseen):
    """``L A diag(1 / (1 / unseen + seen)) A' L'`` for the columns A of ``axes``."""
    B = product(L, axes)
    for k in range(seen.size):
        size = sqrt(1.0 / unseen + seen[k])
        for i in range(len(B)):
            B[i, k] /= size
    return symmetric_product(B, transposed(B))


@compiled
def unit_coordinates(metric):
    """The factor L with L L' = metric, and its inverse; False if it may be singular."""
    L, T = np.empty((1, *metric.shape)), np.empty((1, *metric.shape))
    regular = cholesky(L[0], metric)
    if regular:
        invert_lower(T, L)
    return L[0], T[0], regular
