"""L-BFGS on the squared MMD in all positions, without array expressions: they compile slowly."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, inlined
from skh._numba.curvature import curvature_factor, solve_near_and_far
from skh._numba.factor import solve_rows
from skh._numba.mmd_energy import energy
from skh._numba.vectors import add_scaled, copy_rows, dot, set_scaled, set_sum

MEMORY = 10  # pairs of steps and gradient changes that L-BFGS keeps
SUFFICIENT = 1e-4  # of the Armijo condition: required share of the predicted decrease
TRIALS = 20  # backtracking steps at most
DOUBLE_ROUNDING, SINGLE_ROUNDING = 1e-14, 1e-8  # of the energy of pairs in either precision


@compiled
def divide(v, w, a):
    """``v /= a w`` in each row; zero where w is."""
    for k in range(len(v)):
        for i in range(w.size):
            v[k, i] = v[k, i] / (a * w[i]) if w[i] > 0.0 else 0.0


@compiled
def precondition(v, w, near, far):
    """Multiply ``v`` (d, N) by the inverse of ``2 W K W``.

    K is given by its Cholesky factor ``near``, or its inverse by `solve_near_and_far`.
    """
    divide(v, w, 1.0)
    if near.ndim == 2:  # known at compile time
        solve_rows(near, v)
    else:
        for k in range(len(v)):
            solve_near_and_far(v[k], near, far)
    divide(v, w, 2.0)


@inlined
def quasi_newton(direction, g, w, near, far, steps, changes, rho, k):
    """``direction = -H g`` by the two-loop recursion over the last of k pairs."""
    set_scaled(direction, g, -1.0)
    kept = min(k, MEMORY)
    alpha = np.empty(kept)
    for t in range(kept):
        i = (k - 1 - t) % MEMORY
        alpha[t] = rho[i] * dot(steps[i], direction)
        add_scaled(direction, changes[i], -alpha[t])
    precondition(direction.reshape(-1, w.size), w, near, far)
    for t in range(kept - 1, -1, -1):
        i = (k - 1 - t) % MEMORY
        beta = rho[i] * dot(changes[i], direction)
        add_scaled(direction, steps[i], alpha[t] - beta)


@compiled
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
def descend(X, w, groups, A, b, heights, table, box, near, far, iterations, free):
    """Return the points after some iterations of L-BFGS.

    Points move only within the range of the projections ``free`` (N, d, d), if there are any.

    The Hessian is nearly 2 W K W for the weights W and the inner products K of derivatives of the
    points' features, since the rest of it vanishes with the MMD.  Its inverse, averaged over
    coordinates (see `precondition`), is the initial one of L-BFGS.  Steps are shortened by
    quadratic interpolation until the Armijo condition holds, with the mean slope in place of a
    difference of energies that is rounding (Hager and Zhang, 2005).
    """
    d, N = X.shape
    x, y, g, h = X.copy(), np.empty((d, N)), np.empty((d, N)), np.empty((d, N))
    steps, changes, rho = np.empty((MEMORY, d * N)), np.empty((MEMORY, d * N)), np.empty(MEMORY)
    rounding = SINGLE_ROUNDING if groups.itemsize == 4 else DOUBLE_ROUNDING
    direction = np.empty(d * N)
    f = energy(g, x, w, groups, A, b, heights, table, box)
    project(g, free)
    k = np.intp(0)  # not a literal 0: see `protected_steps`
    for _ in range(iterations):
        gradient = g.reshape(d * N)
        quasi_newton(direction, gradient, w, near, far, steps, changes, rho, k)
        project(direction.reshape(d, N), free)
        slope = dot(direction, gradient)
        if not slope < 0.0:
            break
        length, trial = 1.0, 0
        while trial < TRIALS:
            set_sum(y.reshape(d * N), x.reshape(d * N), direction, length)
            value = there = energy(h, y, w, groups, A, b, heights, table, box)
            project(h, free)
            if abs(value - f) < rounding:
                there = f + 0.5 * length * (slope + dot(direction, h.reshape(d * N)))
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
        x, y, g, h, f = y, x, h, g, value
    return x


@compiled
def descend_few(X, w, groups, A, b, heights, table, box, iterations, free):
    """`descend` with the `curvature_factor` of all points; sets ``X``."""
    near, far = curvature_factor(X, groups), np.empty(0)
    copy_rows(X, descend(X, w, groups, A, b, heights, table, box, near, far, iterations, free))
