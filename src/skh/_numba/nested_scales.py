"""Energy of pairs of points in up to three dimensions, for nested scales in single precision.

Each scale has a tenth of the variance of the one before, so that its exponential is the tenth power
of the other's: one exponential per pair, and one pass over the points.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import exp32
from skh._numba.vectors import add_scaled, dot, total

NESTED = 4  # scales; missing ones have weight zero
LANES = 64  # points that are processed together: a rest would be done one by one
ROWS = 32  # that are summed up in single precision
ZERO, TEN, HUNDRED, THOUSAND = np.float32(0), np.float32(10), np.float32(100), np.float32(1000)
LEAST = np.float32(1e-3)  # its tenth power is far below rounding, and still a normal number


@compiled
def tenth_power(x):
    """``x^10``, at least 1e-30: subnormal numbers are slow."""
    x = x if x > LEAST else LEAST
    square = x * x
    fourth = square * square
    return fourth * fourth * square


@compiled
def add_flushed(out, sums):
    """``out += sums``, which become zero."""
    for j in range(out.size):
        out[j] += sums[j]
        sums[j] = ZERO


@summing
def add_nested_forces(g, x, w, rate, h):  # pragma: no cover - intrinsic
    """Add a quarter of the gradient over the rate to ``g``; return half the sum over pairs.

    All are (3, M) or (M,) and end with `LANES` points of no weight; only ``g`` is in double
    precision.
    """
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    before, force = np.zeros(w.size, np.float32), np.empty(w.size, np.float32)
    sums, result = np.zeros(g.shape, np.float32), 0.0
    for i in range(1, w.size - LANES):
        before[i - 1] = w[i - 1]  # of the points before i, zero at others
        a, b, c, own, v = x[0, i], x[1, i], x[2, i], w[i], ZERO
        gx, gy, gz = ZERO, ZERO, ZERO
        m = (i + LANES - 1) // LANES * LANES
        for j in range(m):
            dx, dy, dz = a - x[0, j], b - x[1, j], c - x[2, j]
            e0 = exp32(-rate * (dx * dx + dy * dy + dz * dz))
            e1 = tenth_power(e0)
            e2 = tenth_power(e1)
            e0, e1, e2, e3 = h[0] * e0, h[1] * e1, h[2] * e2, h[3] * tenth_power(e2)
            v += before[j] * (e0 + e1 + e2 + e3)
            f = own * before[j] * (e0 + TEN * e1 + HUNDRED * e2 + THOUSAND * e3)
            gx += f * dx
            gy += f * dy
            gz += f * dz
            force[j] = f
        result += own * v
        g[0, i] -= gx
        g[1, i] -= gy
        g[2, i] -= gz
        for j in range(m):
            sums[0, j] += force[j] * (a - x[0, j])
        for j in range(m):
            sums[1, j] += force[j] * (b - x[1, j])
        for j in range(m):
            sums[2, j] += force[j] * (c - x[2, j])
        if i % ROWS == 0 or i == w.size - LANES - 1:
            for k in range(3):
                add_flushed(g[k], sums[k])
    return result


@inlined
def nested_repulsion(G, X, w, nested):
    """Return ``sum_ij w_i w_j k(x_i, x_j)`` and add its gradient to ``G``.

    ``nested`` has the rate of the widest scale and the `NESTED` weights, from there on.
    """
    d, N = X.shape
    x, weights = np.zeros((3, N + LANES), np.float32), np.zeros(N + LANES, np.float32)
    g, h = np.zeros((3, N + LANES)), np.empty(NESTED, np.float32)
    for k in range(NESTED):
        h[k] = nested[1 + k]
    for i in range(N):
        weights[i] = w[i] * N
        for k in range(d):
            x[k, i] = X[k, i] - X[k, 0]  # rounding is relative to their extent
    scale = 1.0 / N**2
    result = add_nested_forces(g, x, weights, np.float32(nested[0]), (h[0], h[1], h[2], h[3]))
    for k in range(d):
        add_scaled(G[k], g[k, :N], 4.0 * nested[0] * scale)
    return 2.0 * scale * result + total(nested[1:]) * dot(w, w)
