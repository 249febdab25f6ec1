"""The loop of `frank_wolfe.fully_corrective.CorrectiveIterate` in one compiled call."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.quantized_rows import combine_rows_and_search, error_of_sum, take_in
from skh._numba.simplex_qp import GRADIENT, ROUNDS, solve


@compiled
def corrective_steps(chosen, mmd2, qp, to_add, to_search, top, fixed, share, norm2, mean):
    """`CorrectiveIterate.move` from the first vertex on, where the mean map is ``mean``, by rows.

    ``qp`` are the arrays of `simplex_qp.solve`, ``to_add`` and ``to_search`` those of `take_in` and
    `combine_rows_and_search`, ``top`` and ``fixed`` constants of `error_of_sum`.  The last vertex
    may be one without weight; before one without gain it ends.  It also ends if exact sums above a
    ``share`` of all have cost as much as a search.  Returns whether that is so, the number of
    vertices, and what `solve` and the last search returned.
    """
    K, c, w, L, active = qp
    a, level, objective, j, g, k = np.intp(0), 0.0, 0.0, chosen[0], 0.0, 0
    M, wasted, futile = to_search[9].size, 0.0, False  # search points
    while k < chosen.size and not futile:
        if k > 0 and (w[k - 1] == 0.0 or level - (g - mean) <= GRADIENT):
            break
        chosen[k], c[k] = j, mean
        row = take_in(*to_add, k, j)
        for i in range(k + 1):
            K[i, k] = K[k, i] = row[i]
        rounds = ROUNDS if k + 1 == c.size else 1
        a, level, objective = solve(K, c, w, L, active, a, k + 1, level, rounds)
        mmd2[k] = objective + norm2
        error = error_of_sum(top, fixed, a, mmd2[k])
        j, g, mean, count = combine_rows_and_search(*to_search, active[:a], w[: k + 1], error)
        wasted += max(count - share * a * M, 0.0)
        futile, k = wasted > a * M, k + 1
    return futile, k, a, level, objective, j, g
