"""Repulsion of all pairs of points, each pair once."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import full_vectors, summing
from skh._numba.exponential import exp_of
from skh._numba.nested_scales import sums_of_scales, weights_of

LANES = 16  # points that are processed together: a rest would be done one by one


@summing
def repulsion(G, X, w, groups):  # pragma: no cover - intrinsic
    """Return ``sum_ij w_i w_j k(x_i, x_j)`` and add its gradient to ``G``, which is in double.

    Sums are in the precision of ``groups``.
    """
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    (d, N), result, precision = X.shape, 0.0, groups.dtype
    n, zero = N + LANES, precision.type(0)  # points beyond N have no weight
    x, F, shares = np.zeros((d, n), precision), np.zeros((d, n), precision), np.zeros(n, precision)
    q, push = np.empty(n, precision), np.empty(n, precision)
    for i in range(N):
        shares[i] = w[i]
        for k in range(d):
            x[k, i] = X[k, i] - X[k, 0]  # rounding is relative to their extent
    for i in range(N):
        m = (N - i - 1 + LANES - 1) // LANES * LANES
        near, v, share = x[:, i + 1 : i + 1 + m], shares[i + 1 : i + 1 + m], shares[i]
        for j in range(m):
            q[j], push[j] = zero, zero
        for k in range(d):
            y, c = near[k], x[k, i]
            for j in range(m):
                e = y[j] - c
                q[j] += e * e
        for g in range(len(groups)):
            rate, h, value = groups[g, 0], weights_of(groups[g]), zero
            for j in range(m):
                here, first, _ = sums_of_scales(exp_of(-rate * q[j]), h)
                value += v[j] * here
                push[j] += v[j] * rate * first
            result += w[i] * (2.0 * value + w[i] * (h[0] + h[1] + h[2] + h[3]))
        for k in range(d):
            y, c, f, force = near[k], x[k, i], F[k, i + 1 : i + 1 + m], zero
            for j in range(m):
                e = share * push[j] * (y[j] - c)
                force += e
                f[j] -= e
            F[k, i] += force
    for k in range(d):
        for i in range(N):
            G[k, i] += 4.0 * F[k, i]
    return result
