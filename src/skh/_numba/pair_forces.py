"""Repulsion of all pairs of points, each pair once."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import full_vectors, summing
from skh._numba.exponential import exp
from skh._numba.nested_scales import sums_of_scales, weights_of

LANES = 8  # points that are processed together: a rest would be done one by one


@summing
def add_forces(G, X, w, groups):  # pragma: no cover - intrinsic
    """Return ``sum_ij w_i w_j k(x_i, x_j)`` and add its gradient to ``G``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    (d, N), result = X.shape, 0.0
    n = N + LANES  # points beyond N have no weight
    x, shares, F = np.zeros((d, n)), np.zeros(n), np.zeros((d, n))
    q, push = np.empty(n), np.empty(n)
    for i in range(N):
        shares[i] = w[i]
        for k in range(d):
            x[k, i] = X[k, i] - X[k, 0]
    for i in range(N):
        m = (N - i - 1 + LANES - 1) // LANES * LANES
        near, v = x[:, i + 1 : i + 1 + m], shares[i + 1 : i + 1 + m]
        for j in range(m):
            q[j], push[j] = 0.0, 0.0
        for k in range(d):
            y, c = near[k], x[k, i]
            for j in range(m):
                e = y[j] - c
                q[j] += e * e
        for g in range(len(groups)):
            rate, h, value = groups[g, 0], weights_of(groups[g]), 0.0
            for j in range(m):
                here, first, _ = sums_of_scales(exp(-rate * q[j]), h)
                value += v[j] * here
                push[j] += v[j] * rate * first
            result += w[i] * (2.0 * value + w[i] * (h[0] + h[1] + h[2] + h[3]))
        for k in range(d):
            y, c, f, force = near[k], x[k, i], F[k, i + 1 : i + 1 + m], 0.0
            for j in range(m):
                e = w[i] * push[j] * (y[j] - c)
                force += e
                f[j] -= e
            F[k, i] += force
    for k in range(d):
        for i in range(N):
            G[k, i] += 4.0 * F[k, i]
    return result
