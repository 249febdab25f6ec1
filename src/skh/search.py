r"""Line 3 of Algorithm 1: the search point at which :math:`g_k - \mu_p` is lowest.

Two ways to the same point.  The *full* search knows :math:`g_k` at all M search points.  The *lazy*
search skips most of them in most iterations, by lower bounds of the score
:math:`f(x) = g_k(x) - \mu_p(x)` that cost no kernel evaluation at x:

1. kernels are positive: :math:`f(x) \ge -\mu_p(x)`; and a value known from an earlier iteration
   has since only been multiplied by :math:`1 - \gamma` and added to;
2. f has a known norm, the MMD.  With :math:`\Phi_c` the second-order Taylor polynomial of
   :math:`\Phi` around a point c, :math:`\langle f, \Phi_c(x)\rangle` is the Taylor polynomial
   of f, and :math:`|f(x) - \langle f, \Phi_c(x)\rangle| \le \|f\| \|\Phi(x) - \Phi_c(x)\|`,
   whose last factor depends on :math:`|x - c|` alone.  So one kernel evaluation at the centre of a
   small cell bounds f at all points of the cell.

A point whose bound lies above the best value found so far cannot win.  All others are evaluated by
the same operations in the same order as in the full search, so the result is equal to the bit.  A
third way, in rough arithmetic, is in `rough_search`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Protocol

import numpy as np

from skh._checks import Array, Indices
from skh._compiled.base import combine_and_search, kernel_row
from skh._compiled.corrective import HIDDEN
from skh._compiled.extremes import first_highest
from skh._compiled.lazy import Cells, lazy_steps, sort_by_cell
from skh._compiled.walk import Walk, catch_up, full_steps
from skh.threads import get_threads, in_threads

CELL_WIDTH = 0.5  # of a cell at most, in the kernel's smallest standard deviation
CELL_POINTS = 16  # in a cell, on average, unless that takes wider ones
CROWD = 100  # points in a cell of that width from which the lazy search of herding is the faster
CHUNK = 64  # points per chunk of falling mean map
# What rounding may do to a score or to a squared MMD in some ten thousand steps.
SLACK = 1e-11


@dataclass(frozen=True, eq=False)
class Target:
    """The mean element of a mixture as seen from M search points."""

    X: Array  # (d, M): the search points, in the coordinates of the kernel
    mu: Array  # (M,): the mean map there
    norm2: float  # the squared norm of the mean element
    scales: Array  # (2, S): the rates and weights of the kernel's Gaussians
    # The Taylor polynomials of the mean map at the columns of its argument, where there is a way to
    # have them (see `_compiled.lazy` for the coefficients).
    expand: Callable[[Array], Array] | None = None
    lazy: bool | None = None  # whether to skip points; None: where that is faster

    @cached_property
    def first(self) -> int:
        """The first vertex: for g_0 = 0 the highest value of the mean map."""
        return int(in_threads(first_highest, self.mu.size)(self.mu))

    def groups(self) -> Cells | None:
        """The search points grouped for a lazy search, or None for a full one."""
        if self.lazy is None:
            # In more dimensions the rough search is faster, and so it is in threads.
            return self.cells(CROWD) if len(self.X) == 1 and get_threads() == 1 else None
        return self.cells(0) or self.levels() if self.lazy else None

    def cells(self, crowd: int) -> Cells | None:
        """The search points in cells of about CELL_POINTS, if cells of that size are small enough.

        None as well if not even cells of the greatest width hold ``crowd`` points each.
        """
        if self.expand is None:
            return None
        d, M = self.X.shape
        extent, origin = np.ptp(self.X, axis=1), self.X.min(axis=1)
        widest = CELL_WIDTH * sqrt(0.5 / self.scales[0].max())
        if crowd * (extent / widest + 1).prod() > M:
            return None
        width = min(widest, (extent.prod() * CELL_POINTS / M) ** (1 / d)) or widest
        shape = (extent / width).clip(max=M) + 1
        if shape.prod() > M:
            return None
        order, start, pivots = sort_by_cell(self.X, origin, width, shape.astype(np.intp))
        # The third derivative of the features along a unit vector has the squared norm
        # 15 / variance^3, wherever and whichever way.
        rates, weights = self.scales
        third = sqrt(15 * (weights @ (2 * rates) ** 3)) / 6
        return self._sorted(order, start, pivots, self.expand(pivots), width / 2, third)

    def levels(self) -> Cells:
        """The search points in chunks of falling mean map: enough for the first kind of bound."""
        d, M = self.X.shape
        order = np.argsort(-self.mu, kind="stable")
        start = np.append(np.arange(0, M, CHUNK), M)
        return self._sorted(order, start, np.empty((d, 0)), np.empty((0, 0)), 0.0, 0.0)

    def _sorted(
        self,
        order: Indices,
        start: Indices,
        pivots: Array,
        expansion: Array,
        half: float,
        third: float,
    ) -> Cells:
        X, mu = np.ascontiguousarray(self.X[:, order]), self.mu[order]
        top = np.maximum.reduceat(mu, start[:-1])
        return Cells(X, mu, order, start, pivots, expansion, top, half, third, self.scales)


class FullBlend:
    """The search for iterates that blend in one vertex at a time, at all points."""

    def __init__(self, target: Target) -> None:
        self._g = np.zeros(target.mu.size)
        self._arrays = self._g, target.mu, target.X, target.scales
        self._steps = in_threads(full_steps, target.mu.size)
        self._threads = get_threads()

    def run(self, walk: Walk, k: int, n: int) -> int:
        """Take steps k to n and search after each; how many have then been taken."""
        return int(self._steps(walk, k, n, *self._arrays, self._threads))

    def catch_up(self, walk: Walk, k: int) -> None:
        """Take the first k steps of a walk, whose vertices are known."""
        catch_up(walk, k, *self._arrays)


class Combination(Protocol):
    """Weights of chosen points."""

    w: Array

    @property
    def active(self) -> Indices:
        """The points with positive weight."""
        ...


class FullCombine:
    """The search for iterates that change all weights, at all points: keeps the kernel rows."""

    def __init__(self, target: Target, n: int) -> None:
        self._target = target
        self.rows = np.empty((n, target.mu.size))
        self.g = np.empty(target.mu.size)

    def add(self, chosen: Indices) -> Array:
        """Take in the last of the chosen points; its kernel values to all of them."""
        t, k = self._target, len(chosen)
        kernel_row(self.rows[k - 1], t.X, t.X[:, chosen[-1]], t.scales)
        return self.rows[:k, chosen[-1]]

    def hide(self, j: int) -> None:
        """Never find search point ``j`` again."""
        self._target.mu[j] = HIDDEN

    def __call__(self, qp: Combination, mmd2: float) -> tuple[int, float]:
        """The next vertex for the weights of the programme, and the iterate there."""
        t = self._target
        vertex = combine_and_search(self.g, t.mu, self.rows, qp.active, qp.w)
        return vertex, float(self.g[vertex])


class LazyBlend:
    """The same as `FullBlend`, for less."""

    def __init__(self, target: Target, cells: Cells, n: int) -> None:
        (d, M), zeros = target.X.shape, np.zeros
        self._arrays = target.X, cells, -cells.expansion, zeros(M), zeros(M, np.intp)
        self._history = np.empty((d, n)), np.empty(n)  # centres, and what is kept of the past
        self.kernel_evaluations = 0

    def run(self, walk: Walk, k: int, n: int) -> int:
        """Take steps k to n and search after each; how many have then been taken."""
        k, count = lazy_steps(walk, k, n, *self._arrays, *self._history, SLACK)
        self.kernel_evaluations += count
        return int(k)
