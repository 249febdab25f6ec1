"""L-BFGS on the squared MMD in all positions, without array expressions: they compile slowly."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, inlined
from skh._numba.mmd_energy import energy
from skh._numba.vectors import add_scaled, dot, multiply, set_scaled, set_sum, triple_dot

MEMORY = 10  # pairs of steps and gradient changes that L-BFGS keeps
SUFFICIENT = 1e-4  # of the Armijo condition: required share of the predicted decrease
TRIALS = 20  # backtracking steps at most


@inlined
def inverse_weights(w, d):
    """``1 / (N w)`` for each of d coordinates; ``1 / N`` where w = 0, and so is the gradient."""
    D = np.empty(d * w.size)
    for i in range(D.size):
        weight = w[i % w.size]
        D[i] = 1.0 / (w.size * (weight if weight > 0.0 else 1.0))
    return D


@inlined
def quasi_newton(direction, g, D, steps, changes, rho, k):
    """``direction = -H g`` by the two-loop recursion over the last of k pairs; H starts as D."""
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


@inlined
def project(G, free):
    """Project each column of ``G`` by its matrix in ``free`` (n, d, d); nothing if n = 0."""
    d = len(G)
    g = np.empty(d)
    for i in range(len(free)):
        for r in range(d):
            g[r] = G[r, i]
        for r in range(d):
            G[r, i] = dot(free[i, r], g)


@compiled
def descend(X, w, scales, A, b, heights, iterations, free):
    """Return the points after some iterations of L-BFGS.

    Points move only within the range of the projections ``free`` (N, d, d), if there are any.

    The gradient of a point is proportional to its weight, so the initial inverse Hessian is
    diagonal with 1 / weight.  The first step has unit length, as the curvature is not known yet;
    steps are shortened by quadratic interpolation until the Armijo condition holds.
    """
    d, N = X.shape
    x, y, g, h = X.copy(), np.empty((d, N)), np.empty((d, N)), np.empty((d, N))
    steps, changes, rho = np.empty((MEMORY, d * N)), np.empty((MEMORY, d * N)), np.empty(MEMORY)
    D, direction = inverse_weights(w, d), np.empty(d * N)
    f = energy(g, x, w, scales, A, b, heights)
    project(g, free)
    k = np.intp(0)  # not a literal 0: see `protected_steps`
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
            project(h, free)
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
