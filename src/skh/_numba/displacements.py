"""Displacements of points on a grid, which hides the rounding of a descent."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import transposed
from skh._numba.lbfgs import descend_few
from skh._numba.mmd_energy import squared_mmd
from skh._numba.products import product
from skh._numba.vectors import copy_rows


@compiled
def displace(moved, end, x_end, start, x, free, L, grid):
    """Set where points ``x`` (n, d), at ``start`` (d, n), are moved to, which ``end`` gives.

    Displacements ``moved`` (d, n) are rounded to multiples of ``grid``, then projected by ``free``
    (n, d, d), if there are any.  Changes ``end`` accordingly; ``x_end`` is ``x`` plus L times that.
    """
    d, n = moved.shape
    e = np.empty(d)
    for i in range(n):
        for r in range(d):
            e[r] = moved[r, i] = grid * np.rint((end[r, i] - start[r, i]) / grid)
        for r in range(d if len(free) else 0):
            moved[r, i] = 0.0
            for c in range(d):
                moved[r, i] += free[i, r, c] * e[c]
        for r in range(d):
            shift = 0.0
            for c in range(d):
                shift += L[r, c] * moved[c, i]
            x_end[i, r] = x[i, r] + shift
            end[r, i] = start[r, i] + moved[r, i]


@compiled
def move_few(
    moved,
    end,
    x_end,
    start,
    x,
    w,
    groups,
    A,
    b,
    heights,
    table,
    box,
    axes,
    iterations,
    turned,
    free,
    L,
    grid,
):
    """`displace` few points to where `descend_few` takes them; return their squared MMD there.

    Descent is in coordinates along ``axes``, in which ``free`` is ``turned``.
    """
    X = product(axes, start)
    descend_few(X, w, groups, A, b, heights, table, box, iterations, turned)
    copy_rows(end, product(transposed(axes), X))
    displace(moved, end, x_end, start, x, free, L, grid)
    return squared_mmd(product(axes, end), w, groups, A, b, heights, table, box)
