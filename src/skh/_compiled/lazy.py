"""The compiled vertex search that skips what cannot win; see `search` for the bounds.

Search points stand sorted by cell: those of cell b are ``start[b]:start[b + 1]``, and cell b has
its centre at ``pivots[:, b]``.  A polynomial of degree two in x - pivot is a column of
``(1 + d + d (d + 1) / 2, P)`` coefficients: the value, the slopes, the products i >= j row by row.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from skh._checks import Array, Indices
from skh._compiled.base import (
    BLOCK,
    add_exp,
    add_scaled,
    blend,
    compiled,
    inlined,
    kernel_block,
    squared_distances,
    strict,
)
from skh._compiled.walk import look_at, take_step


class Cells(NamedTuple):
    """Search points sorted into cells, with all that their bounds need and that never changes."""

    X: Array  # (d, M): the search points
    mu: Array  # (M,): the mean map there
    order: Indices  # (M,): where they stood before they were sorted
    start: Indices  # (P + 1,)
    pivots: Array  # (d, P)
    expansion: Array  # (T, P): the Taylor polynomials of the mean map, or none: (0, P)
    top: Array  # (P,): the highest mean map in each cell
    half: float  # half the width of a cell
    third: float  # a bound of the Taylor remainder of the features, over the distance cubed
    scales: Array  # (2, S): of the kernel, see `kernel_block`


@compiled
def sort_by_cell(X, origin, width, shape):
    """Put points into the cells of a grid: the order, where each occupied cell starts, its centre.

    A counting sort, so points of the same cell keep their order.
    """
    d, M = X.shape
    cell = np.zeros(M, np.intp)
    for j in range(d):
        for m in range(M):
            cell[m] = cell[m] * shape[j] + min(int((X[j, m] - origin[j]) / width), shape[j] - 1)
    rank = np.zeros(shape.prod(), np.intp)
    for m in range(M):
        rank[cell[m]] += 1
    P = (rank > 0).sum()
    start, pivots = np.zeros(P + 1, np.intp), np.empty((d, P))
    b = 0
    for i in range(rank.size):
        if rank[i] > 0:
            start[b + 1] = start[b] + rank[i]
            rank[i], rest = start[b], i
            for j in range(d - 1, -1, -1):
                pivots[j, b] = origin[j] + width * (rest % shape[j] + 0.5)
                rest //= shape[j]
            b += 1
    order = np.empty(M, np.intp)
    for m in range(M):
        order[rank[cell[m]]] = m
        rank[cell[m]] += 1
    return order, start, pivots


@compiled
def add_product(out, x, y, a, b, k, factor, constant):
    """``out += (factor (x - a) (y - b) + constant) k``."""
    for i in range(out.size):
        out[i] += (factor * (x[i] - a) * (y[i] - b) + constant) * k[i]


@compiled
def add_taylor(out, pivots, c, height, rate):
    """Add the Taylor polynomials at the pivots of ``height * exp(-rate |x - c|^2)``."""
    d, P = pivots.shape
    scratch = np.empty((3, BLOCK))
    for lo in range(0, P, BLOCK):
        hi = min(lo + BLOCK, P)
        q, k, one = scratch[0, : hi - lo], scratch[1, : hi - lo], scratch[2, : hi - lo]
        squared_distances(q, pivots, lo, hi, c)
        k[:] = 0.0
        add_exp(k, q, height, rate)
        add_scaled(out[0, lo:hi], k, 1.0)
        one[:] = 1.0
        t = 1 + d
        for i in range(d):
            x = pivots[i, lo:hi]
            add_product(out[1 + i, lo:hi], x, one, c[i], 0.0, k, -2.0 * rate, 0.0)
            for j in range(i):
                y = pivots[j, lo:hi]
                add_product(out[t, lo:hi], x, y, c[i], c[j], k, 4.0 * rate * rate, 0.0)
                t += 1
            add_product(out[t, lo:hi], x, x, c[i], c[i], k, 2.0 * rate * rate, -rate)
            t += 1


@compiled
def add_taylors(out, pivots, centres, heights, rates):
    """`add_taylor` for each centre."""
    for i in range(heights.size):
        add_taylor(out, pivots, centres[i], heights[i], rates[i])


@inlined
def point_bound(F, b, X, m, pivots, allowance):
    """Polynomial of cell b at point m, minus ``allowance`` times the cubed distance."""
    d = pivots.shape[0]
    value, square, t = F[0, b], 0.0, 1 + d
    for i in range(d):
        x = X[i, m] - pivots[i, b]
        square += x * x
        value += F[1 + i, b] * x
        for j in range(i + 1):
            value += F[t, b] * x * (X[j, m] - pivots[j, b])
            t += 1
    return value - allowance * square * sqrt(square)


@compiled
def cell_floors(floor, F, half, allowance, top):
    """A lower bound of the score in each cell: the larger of the polynomial's and ``-top``.

    The polynomial is at least its value minus all other terms at the corner of the cell, whose
    half width is ``half``; the function it stands for differs from it by at most ``allowance``.
    """
    if F.shape[0] == 0:
        for b in range(floor.size):
            floor[b] = -top[b]
        return
    d = int((2.0 * F.shape[0]) ** 0.5) - 1  # 1 + d + d (d + 1) / 2 rows
    for b in range(floor.size):
        floor[b] = F[0, b] - allowance
    for t in range(1, F.shape[0]):
        reach = half if t <= d else half * half
        row = F[t]
        for b in range(floor.size):
            floor[b] -= reach * abs(row[b])
    for b in range(floor.size):
        floor[b] = max(floor[b], -top[b])


@strict
def replay(g, row, keep, step, first):
    """What `blend` makes of g when it takes in the kernel values ``row`` one after the other."""
    for i in range(row.size):
        g = keep[first + i] * g + step[first + i] * row[i]
    return g


@strict
def replay_four(r, s, t, u, keep, step):
    """`replay` from zero on four rows at once, since each must wait for its last result."""
    e = f = g = h = 0.0
    for i in range(step.size):
        a, b = keep[i], step[i]
        e, f, g, h = a * e + b * r[i], a * f + b * s[i], a * g + b * t[i], a * h + b * u[i]
    return e, f, g, h


@compiled
def search_cells(cells, F, mmd, slack, g, since, centres, keep, step):
    """The argmin of ``g - mu``, g there and the number of kernel evaluations; exact.

    ``F`` holds the polynomials of g - mu.  ``g[m]`` is the iterate at the search point m as it was
    after ``since[m]`` steps, of which ``keep``, ``step`` and the columns of ``centres`` tell all;
    the values found are kept for the next search.
    """
    X, mu, start, pivots = cells.X, cells.mu, cells.start, cells.pivots
    P, k = start.size - 1, step.size
    floor, row, q, faded = np.empty(P), np.empty(k), np.empty(k), np.ones(k + 1)
    for i in range(k - 1, -1, -1):
        faded[i] = faded[i + 1] * keep[i]
    allowance, diagonal = mmd * cells.third, cells.half * sqrt(cells.pivots.shape[0])
    cell_floors(floor, F, cells.half, allowance * diagonal**3, cells.top)
    promising = floor.argmin()  # a good start makes the bounds of all others count
    best, arg, value_there, count = np.inf, 0, 0.0, 0
    for visit in range(-1, P):
        b = promising if visit < 0 else visit
        if floor[b] - slack > best or visit == promising:
            continue
        for m in range(start[b], start[b + 1]):
            i = since[m]
            if faded[i] * g[m] - mu[m] - slack > best:
                continue
            if F.shape[0] > 0 and point_bound(F, b, X, m, pivots, allowance) - slack > best:
                continue
            kernel_block(row[i:], q[i:], centres, i, k, X[:, m], cells.scales)
            value = replay(g[m], row[i:], keep, step, i)
            count += k - i
            g[m], since[m] = value, k
            gap = value - mu[m]
            if gap < best or (gap == best and cells.order[m] < cells.order[arg]):
                best, arg, value_there = gap, m, value
    return arg, value_there, count


@compiled
def blend_and_search(cells, F, mmd, slack, g, since, centres, keep, step):
    """Take the last step: ``F <- keep F + step (kernel - mu)`` in each cell; then search."""
    k = step.size - 1
    for t in range(F.shape[0]):
        blend(F[t], cells.expansion[t], keep[k], -step[k])
    if F.shape[0] > 0:
        for s in range(cells.scales.shape[1]):
            height = step[k] * cells.scales[1, s]
            add_taylor(F, cells.pivots, centres[:, k], height, cells.scales[0, s])
    return search_cells(cells, F, mmd, slack, g, since, centres, keep, step)


@compiled
def lazy_steps(walk, k, n, X, cells, F, g, since, centres, keep, slack):
    """`full_steps` for sorted points: the steps taken so far, and the kernels evaluated now."""
    total = 0
    while k < n and take_step(walk, k):
        for i in range(X.shape[0]):
            centres[i, k] = X[i, walk.vertices[k]]
        keep[k] = 1.0 - walk.steps[k]
        k += 1
        mmd = sqrt(max(walk.mmd2[k], 0.0) + slack)
        m, value, count = blend_and_search(
            cells, F, mmd, slack, g, since, centres, keep[:k], walk.steps[:k]
        )
        look_at(walk, k, cells.order[m], value, cells.mu[m])
        total += count + cells.pivots.shape[1]
    return k, total
