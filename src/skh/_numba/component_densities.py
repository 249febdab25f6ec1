"""Log-densities of components at points: for one point after another, all components at once.

The components' means and roots are coordinate-major, so that the inner loops run over components.
A block of components stays in the cache for all points.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import BLOCK
from skh._numba.vectors import fill

MOST = 1e300  # of a square: far points get a finite log-density


@compiled
def add_scaled_square(q, m, x, a):
    """``q += (a (x - m))^2``."""
    for k in range(q.size):
        e = a[k] * (x - m[k])
        q[k] += e * e


@compiled
def add_common_square(q, m, x, a):
    """``q += (a (x - m))^2`` with one ``a`` for all components."""
    for k in range(q.size):
        e = a * (x - m[k])
        q[k] += e * e


@compiled
def add_difference(e, m, x, a):
    """``e += a (x - m)``."""
    for k in range(e.size):
        e[k] += a[k] * (x - m[k])


@compiled
def finish(out, q, heights):
    """``out = heights - q / 2``."""
    for k in range(out.size):
        out[k] = heights[k] - 0.5 * (q[k] if q[k] < MOST else MOST)


@compiled
def log_densities_along_axes(x, means, roots, heights):
    """``heights[k] - sum_j (roots[j, k] (x[i, j] - means[j, k]))^2 / 2``, (n, K)."""
    (n, d), K = x.shape, heights.size
    out, scratch, common = np.empty((n, K)), np.empty(BLOCK), roots.shape[1] == 1
    for low in range(0, K, BLOCK):
        high = min(low + BLOCK, K)
        q = scratch[: high - low]
        for i in range(n):
            fill(q, 0.0)
            for j in range(d):
                if common:
                    add_common_square(q, means[j, low:high], x[i, j], roots[j, 0])
                else:
                    add_scaled_square(q, means[j, low:high], x[i, j], roots[j, low:high])
            finish(out[i, low:high], q, heights[low:high])
    return out


@compiled
def log_densities_skewed(x, means, roots, used, heights):
    """``heights[k] - |roots[:, :, k] (x[i] - means[:, k])|^2 / 2``, (n, K).

    Where ``used`` is false, that entry of all roots is zero.
    """
    (n, d), K = x.shape, heights.size
    out, scratch = np.empty((n, K)), np.empty((2, BLOCK))
    for low in range(0, K, BLOCK):
        high = min(low + BLOCK, K)
        q, e = scratch[0, : high - low], scratch[1, : high - low]
        for i in range(n):
            fill(q, 0.0)
            for r in range(d):
                fill(e, 0.0)
                for j in range(d):
                    if used[r, j]:
                        add_difference(e, means[j, low:high], x[i, j], roots[r, j, low:high])
                add_common_square(q, e, 0.0, 1.0)
            finish(out[i, low:high], q, heights[low:high])
    return out
