"""The compiled active-set steps behind `simplex_qp`; see there for the method.

The active points stand in ``active[:a]`` in the order of the rows of the Cholesky factor
``L[:a, :a]`` of Q = K + 11' restricted to them.
"""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np

# Sums may be reordered here, which lets them vectorise; refinement and the optimality check work on
# the result, whatever its last bits.
from skh._compiled import summing as compiled

# Both are relative to a kernel with diagonal 1.  A vertex whose pivot is below PIVOT is numerically
# an affine combination of the active ones.  GRADIENT must not be below PIVOT: then the weights are
# blocked before the curvature along such a combination can matter (see `enter`).
PIVOT = 1e-14
GRADIENT = 1e-14


@compiled
def dot(x, y, n):
    """Sum of the first n products."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@compiled
def factor_solve(L, a, b):
    """``b <- (L L')^-1 b``."""
    for i in range(a):
        b[i] = (b[i] - dot(L[i], b, i)) / L[i, i]
    backward(L, a, b)


@compiled
def backward(L, a, b):
    """``b <- L'^-1 b``."""
    for i in range(a - 1, -1, -1):
        b[i] /= L[i, i]
        row, x = L[i], b[i]
        for k in range(i):
            b[k] -= row[k] * x


@compiled
def drop(L, active, a, r):
    """Take the r-th active point out; Givens rotations make the factor triangular again."""
    for i in range(r, a - 1):
        active[i] = active[i + 1]
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    for i in range(r, a - 1):
        h = hypot(L[i, i], L[i, i + 1])
        c, s = L[i, i] / h, L[i, i + 1] / h
        for k in range(i, a - 1):
            x, y = L[k, i], L[k, i + 1]
            L[k, i], L[k, i + 1] = c * x + s * y, c * y - s * x
    return a - 1


@compiled
def affine_minimiser(K, c, L, active, a, n):
    """The minimiser with sum one but free signs: Q v = c + nu 1, 1'v = 1, refined once.

    Refinement with the true K makes the result independent of how many points came and went since
    the factor was made.
    """
    ones, v, residual = np.ones(a), np.zeros(a), np.empty(a)
    factor_solve(L, a, ones)
    everywhere = np.zeros(n)  # v at all vertices, so that rows of K are read in one go
    nu = 0.0
    for _ in range(2):
        total = v.sum()
        for i in range(a):
            known = dot(K[active[i]], everywhere, n) if total != 0.0 else 0.0
            residual[i] = c[active[i]] + nu - total - known
        factor_solve(L, a, residual)
        change = (1.0 - total - residual.sum()) / ones.sum()
        nu += change
        for i in range(a):
            v[i] += residual[i] + change * ones[i]
            everywhere[active[i]] = v[i]
    return v


@compiled
def first_blocked(w, active, a, v):
    """How far w can go towards v (at most 1) before a weight vanishes, and whose (-1: nobody's)."""
    step, row = 1.0, -1
    for i in range(a):
        old = w[active[i]]
        if v[i] <= 0.0 and old <= step * (old - v[i]):
            step = old / (old - v[i]) if old > 0.0 else 0.0
            row = i
    return step, row


@compiled
def settle(K, c, w, L, active, a, n):
    """Wolfe's minor cycle: go to the affine minimiser, dropping points whose weight vanishes."""
    while True:
        v = affine_minimiser(K, c, L, active, a, n)
        step, row = first_blocked(w, active, a, v)
        for i in range(a):
            w[active[i]] += step * (v[i] - w[active[i]])
        if row < 0:
            return a
        w[active[row]] = 0.0
        a = drop(L, active, a, row)


@compiled
def enter(K, w, L, active, a, j):
    """Make vertex j active.

    Where j is affinely dependent on the active points (its pivot vanishes), moving weight from its
    combination onto j leaves the quadratic part alone and lowers the linear part, so the move goes
    on until a weight vanishes; without that point j is tried again.
    """
    while True:
        q = np.empty(a)
        for i in range(a):
            q[i] = K[active[i], j] + 1.0
        for i in range(a):
            q[i] = (q[i] - dot(L[i], q, i)) / L[i, i]
        pivot = K[j, j] + 1.0 - dot(q, q, a)
        if pivot > PIVOT or a == 0:
            L[a, :a] = q
            L[a, a] = sqrt(pivot)
            active[a] = j
            return a + 1
        backward(L, a, q)
        move, row = np.inf, -1
        for i in range(a):
            if q[i] > 0.0 and w[active[i]] < move * q[i]:
                move, row = w[active[i]] / q[i], i
        for i in range(a):
            w[active[i]] -= move * q[i]
        w[j] += move
        w[active[row]] = 0.0
        a = drop(L, active, a, row)


@compiled
def solve(K, c, w, L, active, a, n):
    """Optimal weights on the first n vertices, starting from the optimal ones of the active set.

    Returns the number of active points and the objective.  A vertex that enters and is at once
    dropped again, because its gain is below rounding, is not tried a second time before another one
    has made progress.
    """
    tried = np.zeros(n, np.bool_)
    level = 0.0
    for _ in range(100 + 20 * n):  # far above what is ever needed: rounding must not make it cycle
        g = np.empty(n)
        for i in range(n):
            g[i] = dot(K[i], w, n) - c[i]
        level = dot(w, g, n)
        best, j = level - GRADIENT if a else np.inf, -1
        for i in range(n):
            if g[i] < best and not tried[i]:
                best, j = g[i], i
        if j < 0:
            break
        a = settle(K, c, w, L, active, enter(K, w, L, active, a, j), n)
        if w[j] > 0.0:
            tried[:] = False
        tried[j] = True
    w[:n] /= w[:n].sum()
    return a, level - dot(w, c, n)
