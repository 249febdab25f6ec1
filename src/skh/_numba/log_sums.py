"""Logarithms of sums of exponentials, one for each row."""

from __future__ import annotations

from math import log

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.extrema import highest
from skh._numba.reweighting import set_exp_below
from skh._numba.vectors import total


@compiled
def log_sum_of_rows(a):
    """``log(sum_k exp(a[i, k]))`` of each row, -inf where all are; overwrites ``a``."""
    out = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        row = a[i]
        top = highest(row)
        if top == -np.inf:
            out[i] = top
        else:
            set_exp_below(row, top)
            out[i] = top + log(total(row))
    return out


@compiled
def log_mixture(z, means, heights):
    """``log(sum_k exp(heights[k] - |z[i] - means[:, k]|^2 / 2))`` at each row of ``z``."""
    (n, d), K = z.shape, heights.size
    out, row = np.empty(n), np.empty(K)
    for i in range(n):
        for k in range(K):
            row[k] = heights[k]
        for j in range(d):
            x, m = z[i, j], means[j]
            for k in range(m.size):
                e = x - m[k]
                row[k] -= 0.5 * e * e
        top = highest(row)
        if top == -np.inf:
            out[i] = top
        else:
            set_exp_below(row, top)
            out[i] = top + log(total(row))
    return out
