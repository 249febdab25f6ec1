"""L-BFGS on the squared MMD in all positions, without array expressions: they compile slowly."""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined, summing
from skh._numba.exponential import exp
from skh._numba.kernel_rows import squared_distances
from skh._numba.mmd_energy import energy
from skh._numba.simplex_qp import backward, forward, leading_dot
from skh._numba.vectors import add_scaled, dot, fill, set_scaled, set_sum

MEMORY = 10  # pairs of steps and gradient changes that L-BFGS keeps
SUFFICIENT = 1e-4  # of the Armijo condition: required share of the predicted decrease
TRIALS = 20  # backtracking steps at most
CURVATURE_DAMPING = 0.5  # relative to those of single points; with less, points overshoot
LARGEST_PART = 128  # number of points whose curvatures are factorised together


@compiled
def add_curvature(row, q, height, rate, share):  # pragma: no cover - intrinsic
    """``row += height (1 - share q) exp(-rate q)``, for one scale."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for j in range(row.size):
        row[j] += height * (1.0 - share * q[j]) * exp(-rate * q[j])


@inlined
def set_curvatures(C, X, scales):
    """Set the lower triangle of ``C`` to those of pairs of points, averaged over coordinates.

    That is ``-k''(x_i - x_j)``, the inner product of the derivatives of two points' features; it is
    regularised by a share of its diagonal.
    """
    d, m = X.shape
    c, q, none = np.empty(d), np.empty(m), np.intp(0)  # not a literal 0: see `protected_steps`
    for i in range(m):
        for k in range(d):
            c[k] = X[k, i]
        squared_distances(q[: i + 1], X, none, i + 1, c)
        fill(C[i, : i + 1], 0.0)
        for s in range(scales.shape[1]):
            rate = scales[0, s]
            height, share = 2.0 * rate * scales[1, s], 2.0 * rate / d
            add_curvature(C[i, : i + 1], q[: i + 1], height, rate, share)
        C[i, i] *= 1.0 + CURVATURE_DAMPING


@summing
def factorize(C, n):
    """Replace the lower triangle of positive definite ``C[:n, :n]`` by its Cholesky factor."""
    for i in range(n):
        for j in range(i):
            C[i, j] = (C[i, j] - leading_dot(C[i], C[j], j)) / C[j, j]
        C[i, i] = sqrt(C[i, i] - leading_dot(C[i], C[i], i))


@inlined
def curvature_factors(X, scales):
    """Cholesky factors of the curvatures of every B-th point, from the first B ones on."""
    N = X.shape[1]
    B = (N + LARGEST_PART - 1) // LARGEST_PART
    m = (N + B - 1) // B
    C = np.empty((B, m, m))
    for b in range(B):
        some = X[:, b::B].copy()
        set_curvatures(C[b], some, scales)
        factorize(C[b], some.shape[1])
    return C


@inlined
def precondition(v, w, C):
    """Multiply ``v`` (d, N) by the inverse of ``2 W K W``, with K that of `curvature_factors`."""
    B = len(C)
    part = np.empty(C.shape[1])
    for k in range(len(v)):
        for b in range(B):
            size = np.intp(0)
            for i in range(b, w.size, B):
                part[size] = v[k, i] / w[i] if w[i] > 0.0 else 0.0
                size += 1
            forward(C[b], size, part)
            backward(C[b], size, part)
            for j in range(size):
                i = b + j * B
                v[k, i] = 0.5 * part[j] / w[i] if w[i] > 0.0 else 0.0


@inlined
def quasi_newton(direction, g, w, C, steps, changes, rho, k):
    """``direction = -H g`` by the two-loop recursion over the last of k pairs."""
    set_scaled(direction, g, -1.0)
    kept = min(k, MEMORY)
    alpha = np.empty(kept)
    for t in range(kept):
        i = (k - 1 - t) % MEMORY
        alpha[t] = rho[i] * dot(steps[i], direction)
        add_scaled(direction, changes[i], -alpha[t])
    precondition(direction.reshape(-1, w.size), w, C)
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

    The Hessian is nearly 2 W K W for the weights W and the inner products K of derivatives of the
    points' features, since the rest of it vanishes with the MMD.  Its inverse, averaged over
    coordinates, is the initial one of L-BFGS.  Steps are shortened by quadratic interpolation until
    the Armijo condition holds.
    """
    d, N = X.shape
    x, y, g, h = X.copy(), np.empty((d, N)), np.empty((d, N)), np.empty((d, N))
    steps, changes, rho = np.empty((MEMORY, d * N)), np.empty((MEMORY, d * N)), np.empty(MEMORY)
    C, direction = curvature_factors(X, scales), np.empty(d * N)
    f = energy(g, x, w, scales, A, b, heights)
    project(g, free)
    k = np.intp(0)  # not a literal 0: see `protected_steps`
    for _ in range(iterations):
        gradient = g.reshape(d * N)
        quasi_newton(direction, gradient, w, C, steps, changes, rho, k)
        project(direction.reshape(d, N), free)
        slope = dot(direction, gradient)
        if not slope < 0.0:
            break
        length, trial = 1.0, 0
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
