"""Compiled descent of the squared MMD in all positions: L-BFGS.

It works on flat vectors; slice assignments and array expressions would take long to compile.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, inlined
from skh._numba.kernel_rows import add_scaled
from skh._numba.mmd_energy import energy
from skh._numba.vectors import dot, multiply, set_scaled, set_sum, triple_dot

MEMORY = 10  # pairs of steps and changes of the gradient that L-BFGS keeps
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)
TRIALS = 20  # of shorter and shorter steps


@inlined
def inverse_weights(w, d):
    """``1 / (N w)`` for each of d coordinates; without a weight there is no gradient."""
    D = np.empty(d * w.size)
    for i in range(D.size):
        weight = w[i % w.size]
        D[i] = 1.0 / (w.size * (weight if weight > 0.0 else 1.0))
    return D


@inlined
def quasi_newton(direction, g, D, steps, changes, rho, k):
    """The direction ``-H g`` of L-BFGS by its two loops over the last of k pairs.

    ``D`` is the diagonal of H before there is any pair.
    """
    set_scaled(direction, g, -1.0)
    kept = min(k, MEMORY)
    alpha = np.empty(kept)
    for t in range(kept):
        i = (k - 1 - t) % MEMORY
        alpha[t] = rho[i] * dot(steps[i], direction)
        add_scaled(direction, changes[i], -alpha[t])
    multiply(direction, D)
    if k > 0:
        i = (k - 1) % MEMORY
        set_scaled(direction, direction, 1.0 / (rho[i] * triple_dot(changes[i], changes[i], D)))
    for t in range(kept - 1, -1, -1):
        i = (k - 1 - t) % MEMORY
        beta = rho[i] * dot(changes[i], direction)
        add_scaled(direction, steps[i], alpha[t] - beta)


@compiled
def descend(X, w, scales, A, b, heights, iterations):
    """Points after some iterations of L-BFGS.

    The gradient of a point is proportional to its weight, so 1 / weight is what comes first; the
    first step has unit length, as nothing is known of the curvature, and shorter steps are tried by
    fitting a parabola until one brings enough.
    """
    d, N = X.shape
    x, y, g, h = X.copy(), np.empty((d, N)), np.empty((d, N)), np.empty((d, N))
    steps, changes, rho = np.empty((MEMORY, d * N)), np.empty((MEMORY, d * N)), np.empty(MEMORY)
    D, direction = inverse_weights(w, d), np.empty(d * N)
    f = energy(g, x, w, scales, A, b, heights)
    k = np.intp(0)  # a plain 0 has a type of its own, see `corrective`
    for _ in range(iterations):
        gradient = g.reshape(d * N)
        quasi_newton(direction, gradient, D, steps, changes, rho, k)
        slope = dot(direction, gradient)
        if not slope < 0.0:
            break
        length = 1.0 if k > 0 else 1.0 / sqrt(dot(direction, direction))
        trial = 0
        while trial < TRIALS:
            set_sum(y.reshape(d * N), x.reshape(d * N), direction, length)
            there = energy(h, y, w, scales, A, b, heights)
            if there <= f + SUFFICIENT * length * slope:
                break
            parabola = -0.5 * length * slope / (there - f - length * slope)
            length *= min(max(parabola, 0.1), 0.5)
            trial += 1
        if trial == TRIALS:
            break
        i = k % MEMORY
        set_scaled(steps[i], direction, length)
        set_sum(changes[i], h.reshape(d * N), gradient, -1.0)
        curvature = dot(steps[i], changes[i])
        if curvature > 0.0:
            rho[i] = 1.0 / curvature
            k += 1
        x, y, g, h, f = y, x, h, g, there
    return x
