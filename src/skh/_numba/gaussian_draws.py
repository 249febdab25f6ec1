"""Draws from given mixture components, made from standard normal numbers."""

from __future__ import annotations

from numba import prange

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import BLOCK, count_blocks


@compiled
def place_balls(out, means, sd, index, z):
    """``out = means[index] + sd[index] z`` row by row; ``sd`` is (K,), or (1,) if shared."""
    last = sd.size - 1
    for b in prange(count_blocks(index.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, index.size)):
            k, scale = index[i], sd[min(index[i], last)]
            for j in range(z.shape[1]):
                out[i, j] = means[k, j] + scale * z[i, j]


@compiled
def place_rows(out, means, L, index, z):
    """``out = means[index] + L[index] z`` row by row, for factors ``L`` (K, d, d)."""
    for b in prange(count_blocks(index.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, index.size)):
            k = index[i]
            for j in range(z.shape[1]):
                total = means[k, j]
                for c in range(z.shape[1]):
                    total += L[k, j, c] * z[i, c]
                out[i, j] = total


@compiled
def place_alike(out, means, L, index, z):
    """``out = means[index] + L z`` row by row, for one factor ``L`` (d, d)."""
    for b in prange(count_blocks(index.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, index.size)):
            for j in range(z.shape[1]):
                total = 0.0
                for c in range(z.shape[1]):
                    total += L[j, c] * z[i, c]
                out[i, j] = means[index[i], j] + total
