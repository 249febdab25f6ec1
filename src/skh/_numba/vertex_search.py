"""Vertex search of Algorithm 1, line 3, at all search points in double precision."""

from __future__ import annotations

import numpy as np
from numba import prange

from skh._numba.compiling import compiled, inlined, strict
from skh._numba.extrema import first_lowest, lowest
from skh._numba.iterate_history import look_at, take_step
from skh._numba.kernel_rows import BLOCK, count_blocks, kernel_block
from skh._numba.vectors import fill

HIDDEN = -2.0  # a mean map that excludes a point from the search


@strict
def blend(out, x, keep, step):
    """``out <- keep * out + step * x``: the update of an iterate by a kernel row."""
    for i in range(out.size):
        out[i] = keep * out[i] + step * x[i]


@strict
def add_four(out, r, s, t, u, a, b, c, d):
    """`blend` of four rows with ``keep = 1``, to the same bits, in one pass over ``out``."""
    for i in range(out.size):
        out[i] = (((out[i] + a * r[i]) + b * s[i]) + c * t[i]) + d * u[i]


@strict
def blend_to_gap(gap, out, x, mu, keep, step):
    """``out <- keep * out + step * x; gap = out - mu``."""
    for i in range(out.size):
        out[i] = keep * out[i] + step * x[i]
        gap[i] = out[i] - mu[i]


@inlined
def lowest_gap(g, mu, q):
    """``min(g - mu)`` of a block; ``q`` is scratch."""
    for i in range(q.size):
        q[i] = g[i] - mu[i]
    return lowest(q)


@inlined
def first_gap(g, mu, lows):
    """The first index at which ``g - mu`` is the least of the blocks' minima ``lows``."""
    b = first_lowest(lows)
    i = b * BLOCK
    while g[i] - mu[i] != lows[b]:
        i += 1
    return i


@compiled
def step_blocks(lows, first, last, g, mu, X, c, scales, step):
    """``g <- (1 - step) g + step * kernel(c, .)`` and ``lows = min(g - mu)`` in some blocks."""
    scratch = np.empty((2, BLOCK))
    for b in range(first, last):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, g.size)
        q, row = scratch[0, : hi - lo], scratch[1, : hi - lo]
        kernel_block(row, q, X, lo, hi, c, scales)
        blend_to_gap(q, g[lo:hi], row, mu[lo:hi], 1.0 - step, step)
        lows[b] = lowest(q)


@compiled
def full_steps(history, k, n, g, mu, X, scales, shares):
    """Take steps k to n - 1, each with its search, in ``shares`` threads; return the next k."""
    lows = np.empty(count_blocks(g.size))
    while k < n and take_step(history, k):
        c, step = X[:, history.vertices[k]].copy(), history.steps[k]
        for s in prange(shares):
            first, last = s * lows.size // shares, (s + 1) * lows.size // shares
            step_blocks(lows, first, last, g, mu, X, c, scales, step)
        k, vertex = k + 1, first_gap(g, mu, lows)
        look_at(history, k, vertex, g[vertex], mu[vertex])
    return k


@compiled
def catch_up(history, k, g, mu, X, scales):
    """Bring ``g`` to the iterate after the first k steps of a history."""
    lows = np.empty(count_blocks(g.size))
    for i in range(k):
        c = X[:, history.vertices[i]].copy()
        step_blocks(lows, 0, lows.size, g, mu, X, c, scales, history.steps[i])


@inlined
def combine(out, rows, lo, hi, active, w):
    """``out += sum_i w[i] rows[i, lo:hi]`` over the active i."""
    fours = active.size // 4 * 4
    for k in range(0, fours, 4):
        i, j, m, n = active[k], active[k + 1], active[k + 2], active[k + 3]
        r, s, t, u = rows[i, lo:hi], rows[j, lo:hi], rows[m, lo:hi], rows[n, lo:hi]
        add_four(out, r, s, t, u, w[i], w[j], w[m], w[n])
    for i in active[fours:]:
        blend(out, rows[i, lo:hi], 1.0, w[i])


@inlined
def combine_and_search(g, mu, rows, active, w):
    """``g <- sum_i w[i] rows[i]`` over the active i; return the argmin of ``g - mu``."""
    lows = np.empty(count_blocks(g.size))
    for b in range(lows.size):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, g.size)
        block = g[lo:hi]
        fill(block, 0.0)
        combine(block, rows, lo, hi, active, w)
        lows[b] = lowest_gap(block, mu[lo:hi], np.empty(hi - lo))
    return first_gap(g, mu, lows)
