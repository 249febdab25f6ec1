"""Means of rotations; formulas as in `skh.geometry.rotation`."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.rotations import dot3, one_exp, one_log, product, product_transposed

GAUSS_NEWTON_STEPS, STEP_ROUNDING = 50, 1e-15  # of a mean rotation; radians
POLAR_STEPS, LEAST_VOLUME = 20, 0.1  # of Newton's method; of a mean matrix, below which it may fail


@compiled
def set_mean_matrix(M, R, w):
    """Set ``M`` to the rotation nearest to the weighted mean of rotations, by Newton's method.

    False if there may be none: if the mean is not invertible enough.
    """
    turn = np.empty((3, 3))
    for r in range(3):
        for c in range(3):
            M[r, c] = 0.0
    for i in range(len(R)):
        for r in range(3):
            for c in range(3):
                M[r, c] += w[i] * R[i, r, c]
    for _ in range(POLAR_STEPS):
        change = 0.0
        for r in range(3):
            a, b = (r + 1) % 3, (r + 2) % 3
            for c in range(3):  # the matrix of cofactors
                d, e = (c + 1) % 3, (c + 2) % 3
                turn[r, c] = M[a, d] * M[b, e] - M[a, e] * M[b, d]
        volume = dot3(M[0], turn[0])
        if not volume > LEAST_VOLUME:
            return False
        for r in range(3):
            for c in range(3):
                step = 0.5 * (turn[r, c] / volume - M[r, c])
                M[r, c] += step
                change = max(change, abs(step))
        if change < STEP_ROUNDING:
            break
    return True


@compiled
def mean_rotation(M, R, w):
    """Weighted mean of rotations (n, 3, 3) by Gauss-Newton steps from ``M``."""
    turn, step = np.empty((3, 3)), np.empty(3)
    for _ in range(GAUSS_NEWTON_STEPS):
        step[0] = step[1] = step[2] = 0.0
        for i in range(len(R)):
            product_transposed(turn, M, R[i])
            x, y, z = one_log(turn)
            step[0] += w[i] * x
            step[1] += w[i] * y
            step[2] += w[i] * z
        one_exp(turn, step)
        before, M = M, np.empty((3, 3))
        product(M, before, turn)
        if max(abs(step[0]), abs(step[1]), abs(step[2])) < STEP_ROUNDING:
            break
    return M
