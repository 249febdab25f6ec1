"""Active-set steps of `kernels.simplex_qp`, where the method is described.

The active points are ``active[:a]``, in the order of the rows of the Cholesky factor ``L[:a, :a]``
of Q = K + 11' restricted to them.  The last two rows of ``L`` are L^-1 c and L^-1 1, updated with
the factor; the `SCRATCH` rows before them are for intermediate results, as allocating memory for
few numbers takes longer than the sums.
"""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np

from skh._numba.compiling import inlined, summing
from skh._numba.vectors import fill, total

# Both are relative to a kernel with diagonal 1.  A vertex whose pivot is below PIVOT is numerically
# an affine combination of the active ones.  GRADIENT must be >= PIVOT: then a weight vanishes
# before the curvature along such a combination can matter (see `enter`).
PIVOT = 1e-14
GRADIENT = 1e-14

# Residual below which the affine minimiser is not refined; well below GRADIENT.
WEIGHT_ROUNDING = 1e-15
ROUNDS = 3  # of refinement
SCRATCH = 3  # rows


@summing
def leading_dot(x, y, n):
    """``sum(x[:n] * y[:n])``."""
    result = 0.0
    for i in range(n):
        result += x[i] * y[i]
    return result


@summing
def forward(L, a, b):
    """``b <- L^-1 b``."""
    for i in range(a):
        b[i] = (b[i] - leading_dot(L[i], b, i)) / L[i, i]


@summing
def backward(L, a, b):
    """``b <- L'^-1 b``."""
    for i in range(a - 1, -1, -1):
        b[i] /= L[i, i]
        row, x = L[i], b[i]
        for k in range(i):
            b[k] -= row[k] * x


@inlined
def join(c, L, active, a, j, pivot):
    """Make vertex j active; its row of the factor is already there, but for sqrt(pivot)."""
    L[a, a] = sqrt(pivot)
    L[-2, a] = (c[j] - leading_dot(L[a], L[-2], a)) / L[a, a]
    L[-1, a] = (1.0 - leading_dot(L[a], L[-1], a)) / L[a, a]
    active[a] = j
    return a + 1


@summing
def rotate(row, i, c, s):
    """Apply a Givens rotation to entries i and i + 1 of a row."""
    x, y = row[i], row[i + 1]
    row[i], row[i + 1] = c * x + s * y, c * y - s * x


@summing
def drop(L, active, a, r):
    """Remove the r-th active point; Givens rotations make the factor triangular again."""
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
    everywhere = np.zeros(n)  # v at all vertices, so that rows of K are read contiguously
    for i in range(v.size):
        everywhere[active[i]] = v[i]
    out, sum_of_all = np.empty(v.size), total(v)
    for i in range(v.size):
        out[i] = c[active[i]] + nu - sum_of_all - leading_dot(K[active[i]], everywhere, n)
    return out


@inlined
def largest(x):
    """``max |x|``, 0 if empty."""
    most = 0.0
    for i in range(x.size):
        most = max(most, abs(x[i]))
    return most


@inlined
def affine_minimiser(K, c, L, active, a, n, rounds):
    """The minimiser with sum one and free signs: Q v = c + nu 1, 1'v = 1.

    Also returns the level of the gradient, K v - c = nu - 1.  Iterative refinement with K makes the
    result independent of the number of updates of the factor, given several ``rounds``.
    """
    ones, rest, v, nu, missing = L[-1, :a], L[-3, :a], L[-4, :a], 0.0, 1.0
    for i in range(a):
        rest[i], v[i] = L[-2, i], 0.0
    for r in range(rounds):
        change = (missing - leading_dot(rest, ones, a)) / leading_dot(ones, ones, a)
        nu += change
        for i in range(a):
            rest[i] += change * ones[i]
        backward(L, a, rest)
        for i in range(a):
            v[i] += rest[i]
        if r + 1 == rounds:
            break
        missing, rest = 1.0 - total(v), residual(K, c, active, v, nu, n)
        if max(largest(rest), abs(missing)) < WEIGHT_ROUNDING:
            break
        forward(L, a, rest)
    return v, nu - total(v)


@summing
def first_blocked(w, active, a, v):
    """Largest step <= 1 from w towards v with weights >= 0, and the row that blocks it, or -1."""
    step, row = 1.0, -1
    for i in range(a):
        old = w[active[i]]
        if v[i] <= 0.0 and old <= step * (old - v[i]):
            step = old / (old - v[i]) if old > 0.0 else 0.0
            row = i
    return step, row


@inlined
def settle(K, c, w, L, active, a, n, rounds):
    """Wolfe's minor cycle: go to the affine minimiser, dropping points; return a and its level.

    Points that are dropped rotate the factor, which then has further rounding errors to refine.
    """
    while True:
        v, level = affine_minimiser(K, c, L, active, a, n, rounds)
        step, row = first_blocked(w, active, a, v)
        if row < 0:
            for i in range(a):
                w[active[i]] = v[i]
            return a, level
        for i in range(a):
            w[active[i]] += step * (v[i] - w[active[i]])
        w[active[row]] = 0.0
        a, rounds = drop(L, active, a, row), ROUNDS


@summing
def first_emptied(w, active, a, q):
    """Largest move along -q with weights >= 0, and the row that blocks it."""
    move, row = np.inf, -1
    for i in range(a):
        if q[i] > 0.0 and w[active[i]] < move * q[i]:
            move, row = w[active[i]] / q[i], i
    return move, row


@inlined
def enter(K, c, w, L, active, a, j):
    """Make vertex j active.

    If j is affinely dependent on the active points (its pivot vanishes), moving weight from its
    combination onto j leaves the quadratic part unchanged and lowers the linear part.  So weight is
    moved until one of them vanishes; that point is dropped, and j is tried again.
    """
    while True:
        q = L[a]
        for i in range(a):
            q[i] = K[j, active[i]] + 1.0
        forward(L, a, q)
        pivot = K[j, j] + 1.0 - leading_dot(q, q, a)
        if pivot > PIVOT or a == 0:
            return join(c, L, active, a, j, pivot)
        backward(L, a, q)
        move, row = first_emptied(w, active, a, q)
        for i in range(a):
            w[active[i]] -= move * q[i]
        w[j] += move
        w[active[row]] = 0.0
        a = drop(L, active, a, row)


@inlined
def steepest(K, c, w, n, tried, level):
    """The vertex of zero weight with the lowest gradient, if below ``level``; or -1."""
    best, j = level, -1
    for i in range(n):
        if w[i] == 0.0 and tried[i] == 0.0:
            g = leading_dot(K[i], w, n) - c[i]
            if g < best:
                best, j = g, i
    return j


@summing
def solve(K, c, w, L, active, a, n, level, rounds):
    """Optimise the weights of the first n vertices, from the optimum on the active set.

    One of ``rounds`` finds the weights, the others refine them; `ROUNDS` if points are dropped.
    Returns the number of active points, the level of the gradient at them (an argument of the next
    call) and the objective.  A vertex that is dropped as soon as it enters, because its gain is
    below rounding, is not tried again before another one has made progress.
    """
    tried = L[-5, :n]
    fill(tried, 0.0)
    for _ in range(100 + 20 * n):  # never reached; a bound in case rounding makes it cycle
        j = steepest(K, c, w, n, tried, level - GRADIENT if a else np.inf)
        if j < 0:
            break
        entered = enter(K, c, w, L, active, a, j)
        rounds = rounds if entered == a + 1 else ROUNDS
        a, level = settle(K, c, w, L, active, entered, n, rounds)
        if w[j] > 0.0:
            fill(tried, 0.0)
        tried[j] = 1.0
    sum_of_all = total(w[:n])
    for i in range(n):
        w[i] /= sum_of_all
    return a, level, level - leading_dot(w, c, n)
