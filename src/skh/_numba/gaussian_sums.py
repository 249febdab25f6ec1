"""Sums of many Gaussian functions at many points, for mean maps."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import prange

from skh._numba.compiling import compiled, full_vectors, inlined
from skh._numba.eigen import eigen
from skh._numba.kernel_rows import (
    BLOCK,
    add_exp,
    add_square,
    count_blocks,
    squared_distances,
    transposed,
)
from skh._numba.products import congruent, product
from skh._numba.vectors import add_scaled, copy_rows, fill


@compiled
def set_six_rows(q, x0, x1, x2, x3, x4, x5, A, s):  # pragma: no cover - intrinsic
    """`mahalanobis` in six dimensions, in one pass over the points; ``s = A c``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    a00, a10, a11, a20, a21, a22 = A[0, 0], A[1, 0], A[1, 1], A[2, 0], A[2, 1], A[2, 2]
    a30, a31, a32, a33 = A[3, 0], A[3, 1], A[3, 2], A[3, 3]
    a40, a41, a42, a43, a44 = A[4, 0], A[4, 1], A[4, 2], A[4, 3], A[4, 4]
    a50, a51, a52, a53, a54, a55 = A[5, 0], A[5, 1], A[5, 2], A[5, 3], A[5, 4], A[5, 5]
    s0, s1, s2, s3, s4, s5 = s
    for i in range(q.size):
        u, v, w, x, y, z = x0[i], x1[i], x2[i], x3[i], x4[i], x5[i]
        e0 = a00 * u - s0
        e1 = a10 * u + a11 * v - s1
        e2 = a20 * u + a21 * v + a22 * w - s2
        e3 = a30 * u + a31 * v + a32 * w + a33 * x - s3
        e4 = a40 * u + a41 * v + a42 * w + a43 * x + a44 * y - s4
        e5 = a50 * u + a51 * v + a52 * w + a53 * x + a54 * y + a55 * z - s5
        q[i] = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5


@compiled
def shifted(A, c, row):
    """Entry ``row`` of ``A c`` for lower triangular ``A``."""
    total = 0.0
    for j in range(row + 1):
        total += A[row, j] * c[j]
    return total


@compiled
def mahalanobis(q, e, X, lo, hi, c, A):
    """``q = |A (X[:, lo:hi] - c)|^2`` for lower triangular ``A``; ``e`` is scratch."""
    if X.shape[0] == 6:
        x0, x1, x2 = X[0, lo:hi], X[1, lo:hi], X[2, lo:hi]
        x3, x4, x5 = X[3, lo:hi], X[4, lo:hi], X[5, lo:hi]
        s = shifted(A, c, 0), shifted(A, c, 1), shifted(A, c, 2)
        t = shifted(A, c, 3), shifted(A, c, 4), shifted(A, c, 5)
        set_six_rows(q, x0, x1, x2, x3, x4, x5, A, s + t)
        return
    fill(q, 0.0)
    for row in range(A.shape[0]):
        shift = 0.0
        fill(e, 0.0)
        for j in range(row + 1):
            add_scaled(e, X[j, lo:hi], A[row, j])
            shift += A[row, j] * c[j]
        add_square(q, e, shift)


@compiled
def add_gaussians(out, X, centres, heights, rates):
    """``out[m] += sum_i heights[i] exp(-rates[i] |X[:, m] - centres[i]|^2)``."""
    for b in prange(count_blocks(out.size)):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, out.size)
        q, block = np.empty(hi - lo), out[lo:hi]
        for i in range(heights.size):
            squared_distances(q, X, lo, hi, centres[i])
            add_exp(block, q, heights[i], rates[i])


@compiled
def add_skewed_gaussians(out, X, centres, heights, A):
    """``out[m] += sum_i heights[i] exp(-|A[i] (X[:, m] - centres[i])|^2 / 2)``."""
    for b in prange(count_blocks(out.size)):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, out.size)
        q, e, block = np.empty(hi - lo), np.empty(hi - lo), out[lo:hi]
        for i in range(heights.size):
            mahalanobis(q, e, X, lo, hi, centres[i], A[i])
            add_exp(block, q, heights[i], 0.5)


@inlined
def add_affine_square(q, x, a, b):
    """``q += (a x - b)^2``."""
    for i in range(q.size):
        e = a * x[i] - b
        q[i] += e * e


@compiled
def add_aligned_gaussians(out, X, axes, A, b, heights):
    """``out[m] += sum_i heights[i] exp(-|A[:, i] * (axes X)[:, m] - b[:, i]|^2 / 2)``."""
    X = product(axes, X)
    for block in prange(count_blocks(out.size)):
        lo, hi = block * BLOCK, min((block + 1) * BLOCK, out.size)
        q = np.empty(hi - lo)
        for i in range(heights.size):
            fill(q, 0.0)
            for j in range(X.shape[0]):
                add_affine_square(q, X[j, lo:hi], A[j, i], b[j, i])
            add_exp(out[lo:hi], q, heights[i], 0.5)


@compiled
def set_aligned_mean_map(
    A, b, heights, turn, along, variances, T, S, sizes, weights, means, scales
):
    """Set the bumps of all scales and components in the axes of their covariance ``T S T'``.

    The axes are the rows of ``turn``.  Means (K, d) of T x along them, and variances (K, d), or
    (1, d), which are those of S times ``sizes``, are set as well.
    """
    values, axes = eigen(congruent(S, transposed(T)))
    copy_rows(turn, transposed(axes))
    copy_rows(along, product(product(means, transposed(T)), axes))
    K, d = means.shape
    last = sizes.size - 1
    for k in range(sizes.size):
        for j in range(d):
            variances[k, j] = sizes[k] * max(values[j], 0.0)
    for s in range(scales.shape[1]):
        variance = 0.5 / scales[0, s]
        for k in range(K):
            m, share = s * K + k, 1.0
            for j in range(d):
                total = variance + variances[min(k, last), j]
                A[j, m] = 1.0 / sqrt(total)
                b[j, m] = A[j, m] * along[k, j]
                share *= variance / total
            heights[m] = scales[1, s] * weights[k] * sqrt(share)
