r"""Vertex search in single precision, decided in double precision: the same points in less time.

Kernel values in single precision take half the time or less, and give the iterate at all search
points up to a known error.  Points whose rough score exceeds the exact score of the roughly best
ones by more than that error are ruled out; the others, usually one to three, are scored by the very
operations of the full search.  That takes over once scores are no larger than the error.
"""

from __future__ import annotations

import numpy as np

from skh._numba.corrective_steps import corrective_steps
from skh._numba.iterate_history import IterateHistory
from skh._numba.quantized_rows import LEVELS, combine_rows_and_search, error_of_sum, take_in
from skh._numba.row_sums import STRIP
from skh._numba.single_precision import SINGLE, SINGLE_BLOCK, single_precision_steps
from skh._numba.vertex_search import HIDDEN
from skh._runtime.threads import get_threads, in_threads
from skh._typing import Array, Indices
from skh.frank_wolfe.point_blocks import Blocks
from skh.frank_wolfe.search_mean_map import Single
from skh.frank_wolfe.single_target import SingleTarget
from skh.frank_wolfe.vertex_search import (
    SCORE_ROUNDING,
    Combination,
    FullBlend,
    FullCombine,
    Target,
)
from skh.kernels.simplex_qp import SimplexQP

# Shares computed again above which the full search is cheaper: of kernel values, and of sums.
FUTILE_SHARE, FUTILE_SUM_SHARE = 0.1, 0.02


def _lows(M: int) -> Single:
    return np.empty(-(-M // SINGLE_BLOCK), np.float32)


class SingleBlend:
    """`FullBlend` in half the time, with the same result."""

    def __init__(self, target: Target, single: SingleTarget, n: int) -> None:
        d, M = target.X.shape
        self._target, self._errors = target, np.full(n + 1, single.mu_error)
        self._gap = -single.mu
        points = single, target.X, target.mean_map.partial, target.scales
        history = np.empty((d, n)), np.empty(n), self._errors
        self._arrays = self._gap, _lows(M), *points, *history
        self._steps = in_threads(single_precision_steps, M)
        self._threads = get_threads()
        self._full: FullBlend | None = None

    def run(self, history: IterateHistory, k: int, n: int) -> int:
        """Take steps k to n - 1 with a search after each; return the total number taken."""
        if self._full is not None:
            return self._full.run(history, k, n)
        futile = FUTILE_SHARE * self._gap.size
        k, count = self._steps(history, k, n, *self._arrays, self._threads, futile)
        if count <= futile:
            return int(k)
        self._full = FullBlend(self._target)
        self._full.catch_up(history, k)
        return self._full.run(history, k, n)


class SingleCombine:
    """`FullCombine` in a quarter of the memory and time or less, with the same result.

    Rows are stored in 16 bits per value, and only in blocks within the kernel's reach.  They are
    summed up only in blocks that may hold the lowest score.
    """

    def __init__(self, target: Target, single: SingleTarget, n: int) -> None:
        blocks = Blocks.of(single.X, single.reach)
        (d, B), size, order = blocks.low.shape, blocks.size, blocks.order
        self._target, self._n, self._order = target, n, order
        self._hidden: list[int] = []
        self._place = np.empty_like(order)  # position of a search point in the blocks
        self._place[order] = np.arange(order.size)
        self._minus_mu = np.full((B, size), -HIDDEN, np.float32)
        self._minus_mu.reshape(-1)[: order.size] = -single.mu[order]
        self._gap, lows = np.empty((B, size), np.float32), np.empty(B, np.float32)
        bounds, before = np.full(B, -np.inf), np.zeros(n)
        ranges = np.zeros((2 * n, -(-B // STRIP) * STRIP), np.uint16)
        levels, owner = np.empty((B, n, size), np.uint16), np.empty((B, n), np.uintp)
        rows, centres = (levels, owner, np.zeros(B, np.intp), ranges), np.empty((d, n))
        margin = np.float32(single.error + (2 * n + 8) * SINGLE)  # of a range; sums of ranges round
        boxes = blocks.X, blocks.low, blocks.high, single.reach
        exact = target.X, target.scales, centres
        self._to_add = *rows, margin, *boxes, single.X, single.scales, *exact
        blocks_now = self._gap, lows, bounds, before, self._minus_mu
        self._to_search = *blocks_now, *rows, order, *exact, *target.mean_map.partial
        fixed = 0.5 / LEVELS + single.error + single.mu_error + SCORE_ROUNDING
        self._bounds = float(single.mu.max()) + single.mu_error, fixed
        self._chosen: Indices = np.empty(0, np.intp)
        self._full: FullCombine | None = None
        self._wasted = 0.0  # kernel values beyond the cost of the full search so far

    def corrective_steps(self, qp: SimplexQP, chosen: Indices, mmd2: Array) -> tuple[int, float]:
        """Take fully corrective steps from ``chosen[0]`` in one compiled call."""
        t = self._target
        futile, k, a, level, objective, vertex, value = corrective_steps(
            *(chosen, mmd2, qp.arrays, self._to_add, self._to_search, *self._bounds),
            *(FUTILE_SUM_SHARE, t.norm2, t.mean_map.at(int(chosen[0]))),
        )
        qp.set_state(k, a, level, objective)
        self._chosen = chosen[:k]
        if futile:
            self._go_over_to_full_search()
        return vertex, value

    def add(self, chosen: Indices) -> Array:
        """Add the last of the chosen points; return its kernel values to all of them."""
        if self._full is not None:
            return self._full.add(chosen)
        self._chosen = chosen
        values: Array = take_in(*self._to_add, len(chosen) - 1, chosen[-1])
        return values

    def hide(self, j: int) -> None:
        """Exclude search point ``j`` from later searches."""
        self._hidden.append(j)
        self._minus_mu.reshape(-1)[self._place[j]] = -HIDDEN
        if self._full is not None:
            self._full.hide(j)

    def __call__(self, weights: Combination, mmd2: float) -> tuple[int, float]:
        """Return the next vertex for these weights, and the value of the iterate there."""
        if self._full is not None:
            return self._full(weights, mmd2)
        active = weights.active
        vertex, value, _, count = combine_rows_and_search(
            *self._to_search, active, weights.w, self._bound(len(active), mmd2)
        )
        values = self._target.size * len(active)  # in all rows
        self._wasted += max(count - FUTILE_SUM_SHARE * values, 0.0)
        if self._wasted > values:
            self._go_over_to_full_search()
        return vertex, value

    def _bound(self, rows: int, mmd2: float) -> float:
        return float(error_of_sum(*self._bounds, rows, mmd2))

    def _go_over_to_full_search(self) -> None:
        self._full = FullCombine(self._target, self._n)
        for j in self._hidden:
            self._full.hide(j)
        for k in range(len(self._chosen)):
            self._full.add(self._chosen[: k + 1])
