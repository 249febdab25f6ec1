"""Compiled descent of the squared MMD in all positions: its value, its gradient, and L-BFGS.

Points are coordinate-major, as everywhere.  The constant, the squared norm of the mean element, is
left out.  Each inner loop runs over all pairs of points, or over all components at all scales.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._compiled import (
    _full_vectors,
    add_scaled,
    add_square,
    compiled,
    exp,
    squared_distances,
    summing,
)
from skh._compiled_checks import total

MEMORY = 10  # pairs of steps and changes of the gradient that L-BFGS keeps
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)
TRIALS = 20  # of shorter and shorter steps


@summing
def dot(a, b):
    """``sum of a b``."""
    result = 0.0
    for i in range(a.size):
        result += a[i] * b[i]
    return result


@summing
def dot3(a, b, c):
    """``sum of a b c``."""
    result = 0.0
    for i in range(a.size):
        result += a[i] * b[i] * c[i]
    return result


@compiled
def add_bump(value, slope, q, height, rate):  # pragma: no cover - intrinsic
    """One scale: ``value += e`` and ``slope += 2 rate e`` with ``e = height exp(-rate q)``."""
    _full_vectors()  # type: ignore[call-arg] # an intrinsic
    for j in range(q.size):
        e = height * exp(-rate * q[j])
        value[j] += e
        slope[j] += 2.0 * rate * e


@compiled
def add_push(out, x, slope, y, a):
    """``out += a slope (y - x)``."""
    for j in range(out.size):
        out[j] += a * slope[j] * (y - x[j])


@compiled
def multiply(out, a):
    """``out *= a``."""
    for i in range(out.size):
        out[i] *= a[i]


@compiled
def repulsion(G, X, w, scales):
    """``sum_ij w_i w_j k(x_i, x_j)``; its gradient is added to ``G``.

    Each pair once: those of point i with all before it stand from i (i - 1) / 2 on.
    """
    d, N = X.shape
    scratch = np.zeros((3, N * (N - 1) // 2))
    q, value, slope = scratch[0], scratch[1], scratch[2]  # unpacked, they would not be contiguous
    for i in range(1, N):
        first = i * (i - 1) // 2
        squared_distances(q[first : first + i], X, 0, i, X[:, i])
    for s in range(scales.shape[1]):
        add_bump(value, slope, q, scales[1, s], scales[0, s])
    result = total(scales[1]) * dot(w, w)
    for i in range(1, N):
        first = i * (i - 1) // 2
        before, push = w[:i], slope[first : first + i]
        result += 2.0 * w[i] * dot(before, value[first : first + i])
        multiply(push, before)
        pull = total(push)
        for k in range(d):
            G[k, i] -= 2.0 * w[i] * (pull * X[k, i] - dot(push, X[k, :i]))
            add_push(G[k, :i], X[k, :i], push, X[k, i], 2.0 * w[i])
    return result


@compiled
def set_affine(out, a, x, b):
    """``out = a x - b``."""
    for i in range(out.size):
        out[i] = a[i] * x - b[i]


@compiled
def set_affine_add_square(out, q, a, x, b):
    """`set_affine`, and ``q += out^2`` on the way."""
    for i in range(out.size):
        out[i] = a[i] * x - b[i]
        q[i] += out[i] * out[i]


@compiled
def set_bumps(q, heights):  # pragma: no cover - intrinsic
    """``q <- heights exp(-q / 2)``."""
    _full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        q[i] = heights[i] * exp(-0.5 * q[i])


@compiled
def attraction(G, X, w, A, b, heights, diagonal):
    """Twice the weighted sum of a mean map; its gradient is taken off ``G``.

    The mean map is the sum over m of ``heights[m] exp(-|A_m x - b_m|^2 / 2)``, one m for each scale
    and component, so that the inner loops are long; ``A`` (d, d, m) is lower triangular, or
    ``diagonal`` and then (d, 1, m), ``b`` is (d, m).
    """
    d, N = X.shape
    u, value = np.empty((d, heights.size)), np.empty(heights.size)
    result = 0.0
    for i in range(N):
        value[:] = 0.0
        for r in range(d):
            if diagonal:
                set_affine_add_square(u[r], value, A[r, 0], X[r, i], b[r])
                continue
            set_affine(u[r], A[r, r], X[r, i], b[r])
            for j in range(r):
                add_scaled(u[r], A[r, j], X[j, i])
            add_square(value, u[r], 0.0)
        set_bumps(value, heights)
        result += 2.0 * w[i] * total(value)
        for r in range(d):
            if diagonal:
                G[r, i] += 2.0 * w[i] * dot3(A[r, 0], u[r], value)
                continue
            for j in range(r + 1):
                G[j, i] += 2.0 * w[i] * dot3(A[r, j], u[r], value)
    return result


@compiled
def energy(G, X, w, scales, A, b, heights, diagonal):
    """The squared MMD without its constant; ``G`` becomes its gradient."""
    G[:] = 0.0
    return repulsion(G, X, w, scales) - attraction(G, X, w, A, b, heights, diagonal)


# --- L-BFGS on flat vectors; slice assignments and array expressions would take long to compile --


@compiled
def set_scaled(out, x, a):
    """``out = a x``."""
    for i in range(out.size):
        out[i] = a * x[i]


@compiled
def set_sum(out, x, y, a):
    """``out = x + a y``."""
    for i in range(out.size):
        out[i] = x[i] + a * y[i]


@compiled
def inverse_weights(w, d):
    """``1 / (N w)`` for each of d coordinates; without a weight there is no gradient."""
    D = np.empty(d * w.size)
    for i in range(D.size):
        weight = w[i % w.size]
        D[i] = 1.0 / (w.size * (weight if weight > 0.0 else 1.0))
    return D


@compiled
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
        set_scaled(direction, direction, 1.0 / (rho[i] * dot3(changes[i], changes[i], D)))
    for t in range(kept - 1, -1, -1):
        i = (k - 1 - t) % MEMORY
        beta = rho[i] * dot(changes[i], direction)
        add_scaled(direction, steps[i], alpha[t] - beta)


@compiled
def descend(X, w, scales, A, b, heights, diagonal, iterations):
    """Points after some iterations of L-BFGS, and the energy before and after.

    The gradient of a point is proportional to its weight, so 1 / weight is what comes first; the
    first step has unit length, as nothing is known of the curvature, and shorter steps are tried by
    fitting a parabola until one brings enough.
    """
    d, N = X.shape
    x, y, g, h = X.copy(), np.empty((d, N)), np.empty((d, N)), np.empty((d, N))
    steps, changes, rho = np.empty((MEMORY, d * N)), np.empty((MEMORY, d * N)), np.empty(MEMORY)
    D, direction = inverse_weights(w, d), np.empty(d * N)
    before = f = energy(g, x, w, scales, A, b, heights, diagonal)
    k = 0
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
            there = energy(h, y, w, scales, A, b, heights, diagonal)
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
    return x, before, f
