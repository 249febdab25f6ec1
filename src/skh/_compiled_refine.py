"""Compiled sums for moving all points at once: the squared MMD and its gradient.

Points are coordinate-major, as everywhere.  For each point one pass over all others (or over all
components) collects the kernel values and, weighted by their rates, the factors of the gradient.
"""

from __future__ import annotations

import numpy as np

from skh._compiled import add_scaled, add_square, compiled, exp, set_exp, squared_distances


@compiled
def add_bump(value, slope, q, height, rate):  # pragma: no cover - intrinsic
    """One scale: ``value += e`` and ``slope += 2 rate e`` with ``e = height exp(-rate q)``."""
    for j in range(q.size):
        e = height * exp(-rate * q[j])
        value[j] += e
        slope[j] += 2.0 * rate * e


@compiled
def set_affine(out, a, x, b):
    """``out = a x - b``."""
    for i in range(out.size):
        out[i] = a[i] * x - b[i]


@compiled
def multiply(out, a):
    """``out *= a``."""
    for i in range(out.size):
        out[i] *= a[i]


@compiled
def add_push(out, x, slope, y, a):
    """``out += a slope (y - x)``."""
    for j in range(out.size):
        out[j] += a * slope[j] * (y - x[j])


@compiled
def repulsion(G, X, w, scales):
    """``sum_ij w_i w_j k(x_i, x_j)``; its gradient is added to ``G``."""
    d, N = X.shape
    scratch = np.empty((3, N))
    total = scales[1].sum() * np.dot(w, w)
    for i in range(1, N):  # each pair once
        q, value, slope, before = scratch[0, :i], scratch[1, :i], scratch[2, :i], w[:i]
        squared_distances(q, X, 0, i, X[:, i])
        value[:] = 0.0
        slope[:] = 0.0
        for s in range(scales.shape[1]):
            add_bump(value, slope, q, scales[1, s], scales[0, s])
        total += 2.0 * w[i] * np.dot(before, value)
        multiply(slope, before)
        pull = slope.sum()
        for k in range(d):
            G[k, i] -= 2.0 * w[i] * (pull * X[k, i] - np.dot(slope, X[k, :i]))
            add_push(G[k, :i], X[k, :i], slope, X[k, i], 2.0 * w[i])
    return total


@compiled
def attraction(G, X, w, A, b, heights, diagonal):
    """Twice the weighted sum of a mean map; its gradient is taken off ``G``.

    The mean map is the sum over m of ``heights[m] exp(-|A_m x - b_m|^2 / 2)``, one m for each scale
    and component, so that the inner loops are long; ``A`` (d, d, m) is lower triangular, or even
    ``diagonal``, ``b`` is (d, m).
    """
    d, N = X.shape
    m = heights.size
    u, q, value = np.empty((d, m)), np.empty(m), np.empty(m)
    total = 0.0
    for i in range(N):
        q[:] = 0.0
        for r in range(d):
            row = u[r]
            set_affine(row, A[r, r], X[r, i], b[r])
            for j in range(r if diagonal else 0, r):
                add_scaled(row, A[r, j], X[j, i])
            add_square(q, row, 0.0)
        set_exp(value, q, 1.0, 0.5)
        multiply(value, heights)
        total += 2.0 * w[i] * value.sum()
        for r in range(d):
            row = u[r]
            multiply(row, value)
            for j in range(r if diagonal else 0, r + 1):
                G[j, i] += 2.0 * w[i] * np.dot(A[r, j], row)
    return total
