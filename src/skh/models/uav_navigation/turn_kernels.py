"""Compiled Kalman filters of turn rates and biases of the gyroscope, one per particle.

The three axes share one covariance; arguments are as in `kernels`.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled


@compiled
def measure_turn(new_m, new_C, m, C, y, h, k, variance):
    """Condition on y = h omega + k b + e on all axes, which share C = ((o, o), (o, b), (b, b)).

    ``y`` is (n, 3) or (1, 3).  Returns the NIS and the innovation variance, both (n,).
    """
    nis, S, each = np.zeros(len(m)), np.empty(len(m)), min(len(y) - 1, 1)
    for i in range(len(m)):
        to_turn, to_bias = h * C[i, 0] + k * C[i, 1], h * C[i, 1] + k * C[i, 2]
        S[i] = h * to_turn + k * to_bias + variance
        inverse = 1.0 / S[i] if S[i] > 0.0 else 0.0
        for axis in range(3):
            residual = y[each * i, axis] - h * m[i, axis] - k * m[i, 3 + axis]
            new_m[i, axis] = m[i, axis] + to_turn * inverse * residual
            new_m[i, 3 + axis] = m[i, 3 + axis] + to_bias * inverse * residual
            nis[i] += residual * residual * inverse
        new_C[i, 0] = C[i, 0] - to_turn * to_turn * inverse
        new_C[i, 1] = C[i, 1] - to_turn * to_bias * inverse
        new_C[i, 2] = C[i, 2] - to_bias * to_bias * inverse
    return nis, S


@compiled
def advance_turn(new_m, new_C, m, C, angle, dt, decay, variances):
    """Condition (omega, b_omega) on rotations by ``angle`` (n, 3), then predict them; the NIS."""
    nis, _ = measure_turn(new_m, new_C, m, C, angle, dt, 0.0, variances[0])
    for i in range(len(m)):
        for axis in range(3):
            new_m[i, axis] *= decay
        new_C[i, 0] = decay * decay * new_C[i, 0] + variances[1]
        new_C[i, 1] *= decay
        new_C[i, 2] += variances[2]
    return nis
