"""Squared distances and kernel values between one centre and blocks of points."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._numba.compiling import compiled, full_vectors, inlined
from skh._numba.exponential import exp

BLOCK = 1024


@compiled
def count_blocks(M):
    """Number of blocks of M points."""
    return (M + BLOCK - 1) // BLOCK


@compiled
def set_square(q, x, c):
    """``q = (x - c)^2``."""
    for i in range(q.size):
        e = x[i] - c
        q[i] = e * e


@compiled
def add_square(q, x, c):
    """``q += (x - c)^2``."""
    for i in range(q.size):
        e = x[i] - c
        q[i] += e * e


@compiled
def set_six_squares(q, x0, x1, x2, x3, x4, x5, c):  # pragma: no cover - intrinsic
    """`squared_distances` in six dimensions, in one pass over the points."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        e0, e1, e2 = x0[i] - c[0], x1[i] - c[1], x2[i] - c[2]
        e3, e4, e5 = x3[i] - c[3], x4[i] - c[4], x5[i] - c[5]
        q[i] = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5


@compiled
def squared_distances(q, X, lo, hi, c):
    """``q = |X[:, lo:hi] - c|^2``."""
    if X.shape[0] == 6:
        x0, x1, x2 = X[0, lo:hi], X[1, lo:hi], X[2, lo:hi]
        x3, x4, x5 = X[3, lo:hi], X[4, lo:hi], X[5, lo:hi]
        set_six_squares(q, x0, x1, x2, x3, x4, x5, (c[0], c[1], c[2], c[3], c[4], c[5]))
        return
    set_square(q, X[0, lo:hi], c[0])
    for j in range(1, X.shape[0]):
        add_square(q, X[j, lo:hi], c[j])


@compiled
def add_exp(out, q, height, rate):  # pragma: no cover - intrinsic
    """``out += height * exp(-rate * q)``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(out.size):
        out[i] += height * exp(-rate * q[i])


@compiled
def set_exp(out, q, height, rate):  # pragma: no cover - intrinsic
    """``out = height * exp(-rate * q)``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(out.size):
        out[i] = height * exp(-rate * q[i])


@inlined
def kernel_block(row, q, X, lo, hi, c, scales):
    """``row = sum_s weight_s exp(-rate_s |X[:, lo:hi] - c|^2)`` with ``rate, weight = scales``."""
    squared_distances(q, X, lo, hi, c)
    set_exp(row, q, scales[1, 0], scales[0, 0])
    for s in range(1, scales.shape[1]):
        add_exp(row, q, scales[1, s], scales[0, s])


@inlined
def kernel_row(row, X, c, scales):
    """`kernel_block` at all points."""
    scratch = np.empty(BLOCK)
    for lo in range(0, row.size, BLOCK):
        hi = min(lo + BLOCK, row.size)
        kernel_block(row[lo:hi], scratch[: hi - lo], X, lo, hi, c, scales)


@compiled
def transposed(x):
    """``x.T`` as a contiguous array: row-major points (n, d) made coordinate-major."""
    n, d = x.shape
    X = np.empty((d, n))
    for b in prange(count_blocks(n)):
        for j in range(d):
            for i in range(b * BLOCK, min((b + 1) * BLOCK, n)):
                X[j, i] = x[i, j]
    return X
