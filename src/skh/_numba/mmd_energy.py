"""The squared MMD as a function of all positions: its value and its gradient.

The constant, the squared norm of the mean element, is omitted.
"""

from __future__ import annotations

import numpy as np

from skh._numba.attraction import attraction
from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import exp_of
from skh._numba.nested_scales import sums_of_scales, weights_of
from skh._numba.pairs_once import pair_values
from skh._numba.plane_pairs import repulsion_in_plane
from skh._numba.plane_table import values_in_plane
from skh._numba.vectors import dot, fill

LANE_BYTES = 256  # of numbers that are processed together: a rest would be done one by one


@summing
def add_repulsion(G, x, w, groups):  # pragma: no cover - intrinsic
    """Return ``sum_ij w_i w_j k(x_i, x_j)`` and add its gradient to ``G``, which is in double.

    Pairs are taken twice: without a memory of the other point they need no second pass.  There may
    be more points in x and w than in G, of no weight.
    """
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    d, N = x.shape
    q, push, result, zero = np.empty_like(w), np.empty_like(w), 0.0, w.dtype.type(0)
    for i in range(G.shape[1]):
        for j in range(N):
            q[j], push[j] = zero, zero
        for k in range(d):
            for j in range(N):
                e = x[k, j] - x[k, i]
                q[j] += e * e
        for g in range(len(groups)):
            rate, h, value = groups[g, 0], weights_of(groups[g]), zero
            for j in range(N):
                near, first, _ = sums_of_scales(exp_of(-rate * q[j]), h)
                value += w[j] * near
                push[j] += w[j] * rate * first
            result += w[i] * value
        for k in range(d):
            force = zero
            for j in range(N):
                force += push[j] * (x[k, j] - x[k, i])
            G[k, i] += 4.0 * w[i] * force
    return result


@inlined
def repulsion(G, X, w, groups):
    """`add_repulsion` in the precision of ``groups``, without a rest of points."""
    lanes = LANE_BYTES // groups.itemsize
    padded = (w.size + lanes - 1) // lanes * lanes
    x, shares = np.zeros((len(X), padded), groups.dtype), np.zeros(padded, groups.dtype)
    for i in range(w.size):
        shares[i] = w[i]
        for k in range(len(X)):
            x[k, i] = X[k, i] - X[k, 0]  # rounding is relative to their extent
    return add_repulsion(G, x, shares, groups)


@compiled
def energy(G, X, w, groups, A, b, heights, table, box):
    """Return the squared MMD without its constant; set ``G`` to its gradient.

    Sums are in the precision of ``groups`` (see `nested_scales`); for the rest see `attraction`.
    """
    for k in range(len(G)):
        fill(G[k], 0.0)
    pull = attraction(G, X, w, A, b, heights, table, box, groups)
    if table.ndim == 4:  # known at compile time
        return repulsion_in_plane(G, X, w, groups) - pull
    return repulsion(G, X, w, groups) - pull


@compiled
def squared_mmd(X, w, groups, A, b, heights, table, box):
    """`energy` without its gradient, in double precision."""
    pairs = pair_values(X, w, groups)
    if table.ndim == 2:
        return pairs - 2.0 * dot(w, values_in_plane(X, A, b, heights, table, box))
    slopes = np.empty(X.shape)  # unused
    return pairs - attraction(slopes, X, w, A, b, heights, table, box, groups)
