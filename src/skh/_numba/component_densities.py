"""Log-densities of components at points: for one point after another, all components at once.

`set_regular_densities` prepares components; for singular ones see `gaussians.densities`.

The components' means and roots are coordinate-major, so that the inner loops run over components.
A block of components stays in the cache for all points.
"""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np

from skh._numba.cholesky import (
    cholesky,
    invert_lower,
    invert_triangles,
    semidefinite_factors,
    widen_masses,
)
from skh._numba.compiling import compiled, inlined
from skh._numba.kernel_rows import BLOCK
from skh._numba.vectors import copy_rows, fill

MOST = 1e300  # of a square: far points get a finite log-density
EPSILON = float(np.finfo(float).eps)
MASS_WIDTH = 1e-10  # least delta, relative to the mixture's standard deviations
POINT_ROUNDING = 64 * EPSILON  # error of a point on a support, relative to its coordinates
MIN_WIDTH = 1e-140  # its inverse, times another one, must not overflow
LOG_ROOT_2_PI = 0.5 * log(2.0 * pi)
CONSTANT = 1e-12  # a spread this small, relative to the values, is rounding


@compiled
def mass_widths(means, variances):
    """Return the deltas, and the least standard deviations that points can resolve.

    >>> mass_widths(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([1.0, 0.0]))[0]
    array([1.e-10, 5.e-12])
    """
    d, share = variances.size, MASS_WIDTH
    size, width, finest = np.empty(d), np.empty(d), np.empty(d)
    for j in range(d):
        size[j] = 0.0
        for k in range(len(means)):
            size[j] = max(size[j], abs(means[k, j]))
        sd = sqrt(variances[j])
        if sd > CONSTANT * size[j]:
            share = max(share, POINT_ROUNDING * (size[j] / sd))
    for j in range(d):
        sd, constant = sqrt(variances[j]), CONSTANT * size[j]
        if not sd > constant:
            width[j] = constant if constant > 0.0 else share
        else:
            width[j] = share * sd
        width[j] = max(width[j], MIN_WIDTH)
        finest[j] = max(EPSILON * size[j], MIN_WIDTH)
    return width, finest


@compiled
def regular_roots(means, S, variances):
    """Roots L of regular covariances (K, d, d), or (1, d, d) if shared, and their inverses.

    The third result is false if any is singular: see `singular_roots`.
    """
    _, finest = mass_widths(means, variances)
    L, W = np.empty(S.shape), np.empty(S.shape)
    for k in range(len(S)):
        if not cholesky(L[k], S[k]):
            return L, W, False
        for j in range(finest.size):
            L[k, j, j] = max(L[k, j, j], finest[j])
    invert_lower(W, L)
    return L, W, True


@compiled
def set_regular_densities(centred, heights, W, weights, means, S, mean, variances):
    """Set `centred_means` and log-heights, and inverse roots W (K, d, d); False if any is singular.

    S and W are (1, d, d) for components with the same covariance.
    """
    L, inverse, regular = regular_roots(means, S, variances)
    if regular:
        for k in range(len(W)):
            copy_rows(W[k], inverse[k])
        set_centred_means(centred, heights, weights, means, L, W, mean)
    return regular


@compiled
def singular_roots(means, S, variances):
    """The roots and their inverses if some covariances are singular."""
    width, finest = mass_widths(means, variances)
    L, order, rank = semidefinite_factors(S)
    widen_masses(L, order, rank, width)
    for k in range(len(L)):
        for r in range(rank[k]):
            j = order[k, r]
            L[k, j, j] = max(L[k, j, j], finest[j])
    W = np.empty(L.shape)
    invert_triangles(W, L, order)
    return L, W


@compiled
def set_centred_means(centred, heights, weights, means, L, W, mean):
    """Means (d, K) relative to that of the mixture, times W if it is shared; log-heights."""
    K, d = means.shape
    for k in range(K):
        own = k if len(L) > 1 else 0
        heights[k] = log(weights[k]) if weights[k] > 0.0 else -np.inf
        for r in range(d):
            heights[k] -= log(L[own, r, r]) + LOG_ROOT_2_PI
            centred[r, k] = means[k, r] - mean[r]
            if len(L) == 1:
                total = 0.0
                for c in range(d):
                    total += W[0, r, c] * (means[k, c] - mean[c])
                centred[r, k] = total


@inlined
def add_scaled_square(q, m, x, a):
    """``q += (a (x - m))^2``."""
    for k in range(q.size):
        e = a[k] * (x - m[k])
        q[k] += e * e


@inlined
def add_common_square(q, m, x, a):
    """``q += (a (x - m))^2`` with one ``a`` for all components."""
    for k in range(q.size):
        e = a * (x - m[k])
        q[k] += e * e


@inlined
def add_difference(e, m, x, a):
    """``e += a (x - m)``."""
    for k in range(e.size):
        e[k] += a[k] * (x - m[k])


@inlined
def finish(out, q, heights):
    """``out = heights - q / 2``."""
    for k in range(out.size):
        out[k] = heights[k] - 0.5 * (q[k] if q[k] < MOST else MOST)


@compiled
def log_densities_along_axes(out, x, means, roots, heights):
    """``out[i, k] = heights[k] - sum_j (roots[j, k] (x[i, j] - means[j, k]))^2 / 2``, (n, K)."""
    (n, d), K = x.shape, heights.size
    scratch, common = np.empty(BLOCK), roots.shape[1] == 1
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


@compiled
def log_densities_skewed(out, x, means, roots, used, heights):
    """``out[i, k] = heights[k] - |roots[:, :, k] (x[i] - means[:, k])|^2 / 2``, (n, K).

    Where ``used`` is false, that entry of all roots is zero.
    """
    (n, d), K = x.shape, heights.size
    scratch = np.empty((2, BLOCK))
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
