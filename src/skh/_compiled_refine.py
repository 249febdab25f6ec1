"""Compiled sums for moving all points at once: the squared MMD and its gradient.

Points are coordinate-major, as everywhere.  For each point one pass over all others (or over all
components) collects the kernel values and, weighted by their rates, the factors of the gradient.
"""

from __future__ import annotations

import numpy as np

from skh._compiled import add_scaled, compiled, exp, set_exp, set_square, squared_distances


@compiled
def add_bump(value, slope, q, height, rate):  # pragma: no cover - intrinsic
    """One scale: ``value += e`` and ``slope += 2 rate e`` with ``e = height exp(-rate q)``."""
    for j in range(q.size):
        e = height * exp(-rate * q[j])
        value[j] += e
        slope[j] += 2.0 * rate * e


@compiled
def repulsion(G, X, w, scales):
    """``sum_ij w_i w_j k(x_i, x_j)``; its gradient is added to ``G``."""
    d, N = X.shape
    q, value, slope = np.empty(N), np.empty(N), np.empty(N)
    total = 0.0
    for i in range(N):
        squared_distances(q, X, 0, N, X[:, i])
        value[:] = 0.0
        slope[:] = 0.0
        for s in range(scales.shape[1]):
            add_bump(value, slope, q, scales[1, s], scales[0, s])
        slope *= w
        total += w[i] * np.dot(w, value)
        pull = slope.sum()
        for k in range(d):
            G[k, i] -= 2.0 * w[i] * (pull * X[k, i] - np.dot(slope, X[k]))
    return total


@compiled
def attraction(G, X, w, centres, heights, precisions):
    """Twice the weighted sum of a mean map whose components share their axes.

    The mean map is ``sum_sc heights[s, c] exp(-sum_k precisions[s, k] (x_k - centres[k, c])^2/2)``,
    and its gradient is taken off ``G``.
    """
    d, N = X.shape
    K = centres.shape[1]
    q, square, value = np.empty(K), np.empty(K), np.empty(K)
    total = 0.0
    for i in range(N):
        for s in range(precisions.shape[0]):
            q[:] = 0.0
            for k in range(d):
                set_square(square, centres[k], X[k, i])
                add_scaled(q, square, precisions[s, k])
            set_exp(value, q, 1.0, 0.5)
            value *= heights[s]
            height = value.sum()
            total += 2.0 * w[i] * height
            for k in range(d):
                drift = height * X[k, i] - np.dot(value, centres[k])
                G[k, i] += 2.0 * w[i] * precisions[s, k] * drift
    return total


@compiled
def skewed_attraction(G, X, w, centres, heights, precisions):
    """`attraction` where each component has axes of its own: ``precisions`` is (S, d, d, K)."""
    d, N = X.shape
    K = centres.shape[1]
    e, u = np.empty((d, K)), np.empty((d, K))
    q, value = np.empty(K), np.empty(K)
    total = 0.0
    for i in range(N):
        for k in range(d):
            e[k] = X[k, i] - centres[k]
        for s in range(precisions.shape[0]):
            q[:] = 0.0
            for k in range(d):
                u[k] = precisions[s, k, 0] * e[0]
                for j in range(1, d):
                    u[k] += precisions[s, k, j] * e[j]
                q += u[k] * e[k]
            set_exp(value, q, 1.0, 0.5)
            value *= heights[s]
            total += 2.0 * w[i] * value.sum()
            for k in range(d):
                G[k, i] += 2.0 * w[i] * np.dot(value, u[k])
    return total
