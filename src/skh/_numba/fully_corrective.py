"""The loop of `frank_wolfe.fully_corrective.ProtectedIterate` in one compiled call."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import kernel_row
from skh._numba.simplex_qp import leading_dot, solve
from skh._numba.vertex_search import HIDDEN, combine_and_search


@compiled
def protected_steps(chosen, mmd2, K, c, w, L, active, rows, g, mu, X, scales, ridge, first):
    """Choose ``chosen.size`` points; ``mmd2`` omits the squared norm of the target.

    ``K`` to ``active`` are the arrays of `simplex_qp.solve`.  Returns the number of active points,
    the level of the gradient and the objective, as `solve` does.
    """
    # Not a literal 0, which has a type of its own for which `solve` would be compiled again.
    a, level, objective, j = np.intp(0), 0.0, 0.0, first
    for k in range(chosen.size):
        chosen[k] = j
        kernel_row(rows[k], X, X[:, j].copy(), scales)
        for i in range(k + 1):
            K[i, k] = K[k, i] = rows[i, j]
        K[k, k] += ridge
        c[k], mu[j] = mu[j], HIDDEN
        a, level, objective = solve(K, c, w, L, active, a, k + 1, level)
        mmd2[k] = objective - ridge * leading_dot(w, w, k + 1)
        j = combine_and_search(g, mu, rows, active[:a], w)
    return a, level, objective
