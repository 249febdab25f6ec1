"""Points and the components that they may come from, in coordinates of the components.

Arguments are those of `gaussians.densities.LogDensities`.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.component_densities import log_densities_along_axes, log_densities_skewed
from skh._numba.resampling import choose_in_rows


@compiled
def coordinates(x, origin, root):
    """Rows of ``x`` less the origin, times the common root."""
    z = np.empty(x.shape)
    for i in range(len(x)):
        for r in range(len(root)):
            total = 0.0
            for c in range(len(root)):
                total += (x[i, c] - origin[c]) * root[r, c]
            z[i, r] = total
    return z


@compiled
def choose_components(chosen, u, order, rows, x, origin, root, means, roots, used, heights):
    """Choose a component for each row of ``x``, some ``rows`` at once: see `choose_in_rows`."""
    z, n = coordinates(x, origin, root), len(x)
    logs = np.empty((min(rows, n), heights.size))
    for low in range(0, n, rows):
        high = min(low + rows, n)
        some = logs[: high - low]
        if roots.ndim == 2:  # known at compile time
            log_densities_along_axes(some, z[low:high], means, roots, heights)
        else:
            log_densities_skewed(some, z[low:high], means, roots, used, heights)
        choose_in_rows(chosen[low:high], some, order, u[low:high])


@compiled
def squared_distance(z, k, means, roots):
    """Squared Mahalanobis distance of a point from component k."""
    total = 0.0
    for r in range(z.size):
        if roots.ndim == 2:  # known at compile time
            e = roots[r, min(k, roots.shape[1] - 1)] * (z[r] - means[r, k])
        else:
            e = 0.0
            for j in range(z.size):
                e += roots[r, j, k] * (z[j] - means[j, k])
        total += e * e
    return total


@compiled
def mark_far(far, square, component, x, origin, root, means, roots, used, heights):
    """Mark rows of ``x`` whose squared distance from all components is larger; count them.

    Their own components are tried first, and nearly always near.
    """
    z, count = coordinates(x, origin, root), 0
    for i in range(len(x)):
        far[i] = not squared_distance(z[i], component[i], means, roots) <= square
        for k in range(heights.size):
            if far[i]:
                far[i] = not squared_distance(z[i], k, means, roots) <= square
        count += far[i]
    return count
