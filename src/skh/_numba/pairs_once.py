"""Sums over all pairs of points, each pair once."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import exp
from skh._numba.nested_scales import sums_of_scales, weights_of

TILE = 32  # points; pairs within a tile are taken twice, so that no loop has a rest


@compiled
def filled_up(X, n):
    """A copy of ``X`` (d, N) as (d, n), zero where it has no points."""
    out = np.zeros((len(X), n))
    for k in range(len(X)):
        for i in range(X.shape[1]):
            out[k, i] = X[k, i]
    return out


@inlined
def double_earlier(shares, tile):
    """Double the weights of the tile before ``tile``, whose points meet later ones once only."""
    for j in range(max(tile - TILE, 0), tile):
        shares[j] *= 2.0


@inlined
def set_squares(q, x, i, end):
    """``q`` = squared distances of point ``i`` to the first ones."""
    for j in range(end):
        q[j] = 0.0
    for k in range(len(x)):
        for j in range(end):
            e = x[k, j] - x[k, i]
            q[j] += e * e


@summing
def pair_values(X, w, groups):  # pragma: no cover - intrinsic
    """``sum_ij w_i w_j k(x_i, x_j)``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    N, result = w.size, 0.0
    n = (N + TILE - 1) // TILE * TILE
    x, shares, q = filled_up(X, n), filled_up(w.reshape(1, N), n)[0], np.empty(n)
    for i in range(N):
        tile = i // TILE * TILE
        if i == tile:
            double_earlier(shares, tile)
        set_squares(q, x, i, tile + TILE)
        for g in range(len(groups)):
            rate, h, value = groups[g, 0], weights_of(groups[g]), 0.0
            for j in range(tile + TILE):
                value += shares[j] * sums_of_scales(exp(-rate * q[j]), h)[0]
            result += w[i] * value
    return result


@summing
def squared_norm(weights, means, S, scales):  # pragma: no cover - intrinsic
    """Squared norm of the mean map of components (K, d) with the same variances ``S`` (1, d)."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    (K, d), result = means.shape, 0.0
    n = (K + TILE - 1) // TILE * TILE
    y, q = np.zeros((d, n)), np.empty(n)
    for s in range(scales.shape[1]):
        shares, height, sum_of_all = filled_up(weights.reshape(1, K), n)[0], scales[1, s], 0.0
        for k in range(d):
            width = 1.0 + 4.0 * scales[0, s] * S[0, k]
            rate = sqrt(scales[0, s] / width)
            height /= sqrt(width)
            for j in range(K):
                y[k, j] = rate * means[j, k]
        for i in range(K):
            tile, value = i // TILE * TILE, 0.0
            if i == tile:
                double_earlier(shares, tile)
            set_squares(q, y, i, tile + TILE)
            for j in range(tile + TILE):
                value += shares[j] * exp(-q[j])
            sum_of_all += weights[i] * value
        result += height * sum_of_all
    return result
