"""The compiled active-set steps behind `simplex_qp`; see there for the method.

The active points stand in ``active[:a]`` in the order of the rows of the Cholesky factor
``L[:a, :a]`` of Q = K + 11' restricted to them.  The last two rows of ``L`` are the right-hand
sides, c and 1, as far as they can be solved for without knowing which points come next: L^-1 c and
L^-1 1.  They grow and shrink with the factor.
"""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np

from skh._numba.array_checks import total
from skh._numba.compiling import inlined
from skh._numba.compiling import summing as compiled

# Both are relative to a kernel with diagonal 1.  A vertex whose pivot is below PIVOT is numerically
# an affine combination of the active ones.  GRADIENT must not be below PIVOT: then the weights are
# blocked before the curvature along such a combination can matter (see `enter`).
PIVOT = 1e-14
GRADIENT = 1e-14

# What a gradient may be off without refinement: it is compared with others by GRADIENT.
WEIGHT_ROUNDING = 1e-15


@compiled
def leading_dot(x, y, n):
    """Sum of the first n products."""
    result = 0.0
    for i in range(n):
        result += x[i] * y[i]
    return result


@compiled
def forward(L, a, b):
    """``b <- L^-1 b``."""
    for i in range(a):
        b[i] = (b[i] - leading_dot(L[i], b, i)) / L[i, i]


@compiled
def backward(L, a, b):
    """``b <- L'^-1 b``."""
    for i in range(a - 1, -1, -1):
        b[i] /= L[i, i]
        row, x = L[i], b[i]
        for k in range(i):
            b[k] -= row[k] * x


@inlined
def join(c, L, active, a, j, q, pivot):
    """Make vertex j active, whose row of the factor is ``q`` and then the root of the pivot."""
    for i in range(a):
        L[a, i] = q[i]
    L[a, a] = sqrt(pivot)
    L[-2, a] = (c[j] - leading_dot(q, L[-2], a)) / L[a, a]
    L[-1, a] = (1.0 - leading_dot(q, L[-1], a)) / L[a, a]
    active[a] = j
    return a + 1


@compiled
def rotate(row, i, c, s):
    """Rotate the entries i and i + 1 of a row."""
    x, y = row[i], row[i + 1]
    row[i], row[i + 1] = c * x + s * y, c * y - s * x


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
            rotate(L[k], i, c, s)
        rotate(L[-2], i, c, s)
        rotate(L[-1], i, c, s)
    return a - 1


@inlined
def residual(K, c, active, v, nu, n):
    """``c + nu 1 - Q v`` at the active points."""
    everywhere = np.zeros(n)  # v at all vertices, so that rows of K are read in one go
    for i in range(v.size):
        everywhere[active[i]] = v[i]
    out, sum_of_all = np.empty(v.size), total(v)
    for i in range(v.size):
        out[i] = c[active[i]] + nu - sum_of_all - leading_dot(K[active[i]], everywhere, n)
    return out


@inlined
def largest(x):
    """The greatest absolute value, or 0."""
    most = 0.0
    for i in range(x.size):
        most = max(most, abs(x[i]))
    return most


@inlined
def affine_minimiser(K, c, L, active, a, n):
    """The minimiser with sum one but free signs: Q v = c + nu 1, 1'v = 1, refined where it must be.

    Returns the level of the gradient, K v - c = nu - 1, as well.  Refinement with the true K makes
    the result independent of how many points came and went since the factor was made.
    """
    ones, rest = L[-1, :a], L[-2, :a].copy()
    v, nu, missing = np.zeros(a), 0.0, 1.0
    for _ in range(3):
        change = (missing - leading_dot(rest, ones, a)) / leading_dot(ones, ones, a)
        nu += change
        for i in range(a):
            rest[i] += change * ones[i]
        backward(L, a, rest)
        for i in range(a):
            v[i] += rest[i]
        missing, rest = 1.0 - total(v), residual(K, c, active, v, nu, n)
        if max(largest(rest), abs(missing)) < WEIGHT_ROUNDING:
            break
        forward(L, a, rest)
    return v, nu - total(v)


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


@inlined
def settle(K, c, w, L, active, a, n):
    """Wolfe's minor cycle: go to the affine minimiser, dropping points whose weight vanishes.

    Returns the number of active points and the level of the gradient at them.
    """
    while True:
        v, level = affine_minimiser(K, c, L, active, a, n)
        step, row = first_blocked(w, active, a, v)
        if row < 0:
            for i in range(a):
                w[active[i]] = v[i]
            return a, level
        for i in range(a):
            w[active[i]] += step * (v[i] - w[active[i]])
        w[active[row]] = 0.0
        a = drop(L, active, a, row)


@compiled
def first_emptied(w, active, a, q):
    """How far weights can move along -q before one vanishes, and whose."""
    move, row = np.inf, -1
    for i in range(a):
        if q[i] > 0.0 and w[active[i]] < move * q[i]:
            move, row = w[active[i]] / q[i], i
    return move, row


@inlined
def enter(K, c, w, L, active, a, j):
    """Make vertex j active.

    Where j is affinely dependent on the active points (its pivot vanishes), moving weight from its
    combination onto j leaves the quadratic part alone and lowers the linear part, so the move goes
    on until a weight vanishes; without that point j is tried again.
    """
    while True:
        q = np.empty(a)
        for i in range(a):
            q[i] = K[j, active[i]] + 1.0
        forward(L, a, q)
        pivot = K[j, j] + 1.0 - leading_dot(q, q, a)
        if pivot > PIVOT or a == 0:
            return join(c, L, active, a, j, q, pivot)
        backward(L, a, q)
        move, row = first_emptied(w, active, a, q)
        for i in range(a):
            w[active[i]] -= move * q[i]
        w[j] += move
        w[active[row]] = 0.0
        a = drop(L, active, a, row)


@inlined
def steepest(K, c, w, n, tried, level):
    """The vertex without weight whose gradient is lowest, if below ``level``; or -1."""
    best, j = level, -1
    for i in range(n):
        if w[i] == 0.0 and not tried[i]:
            g = leading_dot(K[i], w, n) - c[i]
            if g < best:
                best, j = g, i
    return j


@compiled
def solve(K, c, w, L, active, a, n, level):
    """Optimal weights on the first n vertices, starting from the optimal ones of the active set.

    Returns the number of active points, the level of the gradient at them, which is to be handed in
    the next time, and the objective.  A vertex that enters and is at once dropped again, because
    its gain is below rounding, is not tried a second time before another one has made progress.
    """
    tried = np.zeros(n, np.bool_)
    for _ in range(100 + 20 * n):  # far above what is ever needed: rounding must not make it cycle
        j = steepest(K, c, w, n, tried, level - GRADIENT if a else np.inf)
        if j < 0:
            break
        a, level = settle(K, c, w, L, active, enter(K, c, w, L, active, a, j), n)
        if w[j] > 0.0:
            for i in range(n):
                tried[i] = False
        tried[j] = True
    sum_of_all = total(w[:n])
    for i in range(n):
        w[i] /= sum_of_all
    return a, level, level - leading_dot(w, c, n)
