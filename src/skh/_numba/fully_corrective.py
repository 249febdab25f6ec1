"""The loop of `frank_wolfe.fully_corrective.ProtectedIterate` in one compiled call."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.kernel_rows import squared_distances
from skh._numba.nested_scales import set_values
from skh._numba.simplex_qp import ROUNDS, leading_dot, solve
from skh._numba.vectors import fill
from skh._numba.vertex_search import HIDDEN, first_gap, lowest_gap

LEAST_RIDGE = 1e-6  # above which weights between two steps need no refinement


@compiled
def combine_rows(g, rows, active, w):  # pragma: no cover - intrinsic
    """``g = sum_i w[i] rows[i]`` over the active i, in the precision of both."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    last, of = active.size - 1, g.dtype.type
    fill(g, of(0))
    for k in range(0, active.size, 4):
        h, i = active[k], active[min(k + 1, last)]
        m, n = active[min(k + 2, last)], active[min(k + 3, last)]
        a, b = of(w[h]), of(w[i] if k < last else 0.0)
        c, d = of(w[m] if k + 1 < last else 0.0), of(w[n] if k + 2 < last else 0.0)
        for x in range(g.size):
            g[x] += (a * rows[h, x] + b * rows[i, x]) + (c * rows[m, x] + d * rows[n, x])


@compiled
def protected_steps(
    chosen, trace, norm2, K, c, w, L, active, mean_map, X, groups, row_groups, ridge, first
):
    """Choose ``chosen.size`` points; set ``trace`` to the MMD after each.

    Points are compared in the precision of ``row_groups``; ``K`` to ``active`` are the arrays of
    `simplex_qp.solve`, in double.  Returns what `solve` does, and the squared MMD.
    """
    n, (d, M) = chosen.size, X.shape
    precision = row_groups.dtype
    g, mu, q = np.empty(M, precision), mean_map.astype(precision), np.empty(M, precision)
    rows, distances, least = np.empty((n, M), precision), np.empty(n), np.empty(1, precision)
    # Not a literal 0, which has a type of its own for which `solve` would be compiled again.
    a, level, objective, mmd2, j, none = np.intp(0), 0.0, 0.0, 0.0, first, np.intp(0)
    centres = np.empty((d, n))
    for k in range(n):
        for i in range(d):
            centres[i, k] = X[i, j]
        centre = centres[:, k].copy()
        squared_distances(distances[: k + 1], centres, none, k + 1, centre)
        set_values(K[k, : k + 1], distances[: k + 1], groups)
        for i in range(k):
            K[i, k] = K[k, i]
        K[k, k] += ridge
        chosen[k], c[k], mu[j] = j, mean_map[j], HIDDEN
        rounds = 1 if ridge > LEAST_RIDGE and k + 1 < n else ROUNDS
        a, level, objective = solve(K, c, w, L, active, a, k + 1, level, rounds)
        mmd2 = norm2 + objective - ridge * leading_dot(w, w, k + 1)
        trace[k] = sqrt(max(mmd2, 0.0))
        if k + 1 < n:
            squared_distances(q, X, none, M, centre)
            set_values(rows[k], q, row_groups)
            combine_rows(g, rows, active[:a], w)
            least[0] = lowest_gap(g, mu, q)
            j = first_gap(g, mu, least)
    return a, level, objective, mmd2
