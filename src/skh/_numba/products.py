"""Products of small matrices.  Entries are sums in order; the inner loops vectorise."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import transposed
from skh._numba.vectors import add_scaled


@compiled
def product(A, B):
    """``A B``."""
    out = np.zeros((len(A), B.shape[1]))
    for i in range(len(A)):
        for k in range(len(B)):
            add_scaled(out[i], B[k], A[i, k])
    return out


@compiled
def congruent(S, T):
    """``T' S T`` for symmetric ``S``, made symmetric again."""
    return symmetric_product(product(transposed(T), S), T)


@compiled
def symmetric_product(A, B):
    """``A B`` for a product that is symmetric but for rounding, made symmetric."""
    out = product(A, B)
    for i in range(len(out)):
        for j in range(i):
            out[i, j] = out[j, i] = 0.5 * (out[i, j] + out[j, i])
    return out
