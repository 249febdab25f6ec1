"""Sums over pairs of many points in the plane, with their gradient, in single precision.

Each pair is taken once: in registers, since the forces on both points are as cheap as one.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import LOG2_E, exp2_32
from skh._numba.nested_scales import HUNDRED, TEN, THOUSAND, tenth_power, weights_of
from skh._numba.pairs_once import TILE
from skh._numba.vectors import fill

ZERO = np.float32(0)


@compiled
def value_and_push(q, h, s):
    """Kernel value at a squared distance of ``q`` units, and its slope, for weights h and s."""
    x = exp2_32(-q)
    y = tenth_power(x)
    z = tenth_power(y)
    u = tenth_power(z)
    return (
        h[0] * x + h[1] * y + h[2] * z + h[3] * u,
        s[0] * x + s[1] * y + s[2] * z + s[3] * u,
    )


@summing
def pulls(x, y, w, a, b, h, s):  # pragma: no cover - intrinsic
    """Sum of kernel values at the point (a, b) and of its gradient, over some points."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    value, u, v = ZERO, ZERO, ZERO
    for j in range(w.size):
        e, f = x[j] - a, y[j] - b
        near, push = value_and_push(e * e + f * f, h, s)
        value += w[j] * near
        u += w[j] * push * e
        v += w[j] * push * f
    return value, u, v


@summing
def mutual_pulls(F, G, x, y, w, a, b, own, h, s):  # pragma: no cover - intrinsic
    """`pulls`, also on the other points: subtract those of a point of weight ``own``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    value, u, v = ZERO, ZERO, ZERO
    for j in range(w.size):
        e, f = x[j] - a, y[j] - b
        near, push = value_and_push(e * e + f * f, h, s)
        value += w[j] * near
        push *= w[j]
        e, f = push * e, push * f
        u += e
        v += f
        F[j] -= own * e
        G[j] -= own * f
    return value, u, v


@compiled
def add_tile(F, x, w, tile, end, h, s):
    """Return the sum over pairs of points from ``tile`` on, the first in the tile; ``F`` += pulls.

    There are points up to ``end``, and others of no weight.
    """
    later, result = tile + TILE, 0.0
    near = x[0, tile:later], x[1, tile:later], w[tile:later]
    far = x[0, later:], x[1, later:], w[later:]
    pulled = F[0, later:], F[1, later:]
    for i in range(tile, min(later, end)):
        value, u, v = pulls(*near, x[0, i], x[1, i], h, s)
        others, r, t = mutual_pulls(*pulled, *far, x[0, i], x[1, i], w[i], h, s)
        result += w[i] * (value + others + others)
        F[0, i] += w[i] * (u + r)
        F[1, i] += w[i] * (v + t)
    return result


@inlined
def repulsion_in_plane(G, X, w, groups):
    """`pair_forces.repulsion` for many points, whose neighbours follow each other."""
    N, result = w.size, 0.0
    n = (N + TILE - 1) // TILE * TILE
    x, F, shares = (
        np.zeros((2, n), np.float32),
        np.empty((2, n), np.float32),
        np.zeros(n, np.float32),
    )
    for i in range(N):
        shares[i] = w[i]
    for g in range(len(groups)):
        rate, h = groups[g, 0], weights_of(groups[g])
        s = h[0], TEN * h[1], HUNDRED * h[2], THOUSAND * h[3]
        unit = sqrt(LOG2_E * rate)  # so that the widest scale is a power of two
        for k in range(2):
            fill(F[k], ZERO)
            for i in range(N):
                x[k, i] = unit * (X[k, i] - X[k, 0])  # rounding is relative to their extent
        for tile in range(0, N, TILE):
            result += add_tile(F, x, shares, tile, N, h, s)
        for k in range(2):
            for i in range(N):
                G[k, i] += 4.0 * rate / unit * F[k, i]
    return result
