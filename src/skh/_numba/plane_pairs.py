"""Sums over pairs of many points in the plane, with their gradient, in single precision.

Each pair is taken once: in registers, since the forces on both points are as cheap as one.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import exp_of
from skh._numba.nested_scales import sums_of_scales, weights_of
from skh._numba.pairs_once import TILE

ZERO = np.float32(0)


@summing
def pulls(x, y, w, a, b, rate, h):  # pragma: no cover - intrinsic
    """Sum of kernel values at the point (a, b) and of its gradient, over some points."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    value, u, v = ZERO, ZERO, ZERO
    for j in range(w.size):
        e, f = x[j] - a, y[j] - b
        near, first, _ = sums_of_scales(exp_of(-rate * (e * e + f * f)), h)
        value += w[j] * near
        push = w[j] * rate * first
        u += push * e
        v += push * f
    return value, u, v


@summing
def mutual_pulls(F, G, x, y, w, a, b, own, rate, h):  # pragma: no cover - intrinsic
    """`pulls`, also on the other points: add those of a point of weight ``own`` to F and G."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    value, u, v = ZERO, ZERO, ZERO
    for j in range(w.size):
        e, f = x[j] - a, y[j] - b
        near, first, _ = sums_of_scales(exp_of(-rate * (e * e + f * f)), h)
        value += w[j] * near
        push = w[j] * rate * first
        e, f = push * e, push * f
        u += e
        v += f
        F[j] -= own * e
        G[j] -= own * f
    return value, u, v


@compiled
def add_tile(F, x, w, tile, end, groups):
    """Return the sum over pairs of points from ``tile`` on, the first in the tile; ``F`` += pulls.

    There are points up to ``end``, and others of no weight.
    """
    later, result = tile + TILE, 0.0
    near = x[0, tile:later], x[1, tile:later], w[tile:later]
    far = x[0, later:], x[1, later:], w[later:]
    for i in range(tile, min(later, end)):
        for g in range(len(groups)):
            rate, h = groups[g, 0], weights_of(groups[g])
            value, u, v = pulls(*near, x[0, i], x[1, i], rate, h)
            result += w[i] * value
            F[0, i] += w[i] * u
            F[1, i] += w[i] * v
            value, u, v = mutual_pulls(
                F[0, later:], F[1, later:], *far, x[0, i], x[1, i], w[i], rate, h
            )
            result += 2.0 * w[i] * value
            F[0, i] += w[i] * u
            F[1, i] += w[i] * v
    return result


@inlined
def repulsion_in_plane(G, X, w, groups):
    """`mmd_energy.add_repulsion` for many points, whose neighbours follow each other."""
    N, result = w.size, 0.0
    n = (N + TILE - 1) // TILE * TILE
    x, shares, F = (
        np.zeros((2, n), np.float32),
        np.zeros(n, np.float32),
        np.zeros((2, n), np.float32),
    )
    for i in range(N):
        shares[i] = w[i]
        for k in range(2):
            x[k, i] = X[k, i] - X[k, 0]  # rounding is relative to their extent
    for tile in range(0, N, TILE):
        result += add_tile(F, x, shares, tile, N, groups)
    for k in range(2):
        for i in range(N):
            G[k, i] += 4.0 * F[k, i]
    return result
