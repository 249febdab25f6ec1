r"""Vertex search in single precision, decided in double precision: the same points in less time.

Kernel values in single precision take half the time or less, and give the iterate at all search
points up to a known error.  Points whose rough score exceeds the exact score of the roughly best
ones by more than that error are ruled out; the others, usually one to three, are scored by the very
operations of the full search.  That takes over once scores are no larger than the error.

*Error of a kernel value.*  With :math:`\epsilon = 2^{-24}`, centred and rounded coordinates are off
by :math:`\epsilon |X|`, and :math:`|e| \exp(-r e^2)` is at most :math:`0.43 / \sqrt r`: that makes
:math:`1.72\, \epsilon |X| \sqrt r` for the two points.  Each of d + 5 operations on the squared
distance adds :math:`u e^{-u} \epsilon \le 0.37\, \epsilon`; the exponential, its weight and their
product are accurate to :math:`4 \epsilon`, and the sum over S scales to :math:`S \epsilon`.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh._numba.extrema import bounds
from skh._numba.iterate_history import IterateHistory
from skh._numba.quantized_rows import LEVELS, combine_rows_and_search, take_in
from skh._numba.single_precision import SINGLE, SINGLE_BLOCK, single_precision_steps, to_single
from skh._numba.vertex_search import HIDDEN
from skh._runtime.threads import get_threads, in_threads
from skh._typing import Array, Indices
from skh.frank_wolfe.point_blocks import Blocks
from skh.frank_wolfe.vertex_search import (
    SCORE_ROUNDING,
    Combination,
    FullBlend,
    FullCombine,
    Target,
)
from skh.kernels.gaussian_kernel import root

Single = NDArray[np.float32]
MIN_SCALE_RATIO = 1e-12  # of rates; below it they leave the range of single precision
MAX_KERNEL_ERROR = 1e-3  # of a kernel value; with more, hardly any point is ruled out
# Shares computed again above which the full search is cheaper: of kernel values, and of sums.
FUTILE_SHARE, FUTILE_SUM_SHARE = 0.1, 0.02


class SingleTarget(NamedTuple):
    """Search points and a kernel in single precision, in units of the kernel's smallest length."""

    X: Single
    mu: Single
    scales: Single
    error: float  # bound on the error of a kernel value

    @property
    def reach(self) -> float:
        """Distance beyond which a kernel value is less than half a level."""
        return sqrt(log(2 * LEVELS) / self.scales[0].min())

    @classmethod
    def of(cls, target: Target) -> SingleTarget | None:
        """Convert ``target``; return None if single precision is too coarse."""
        X, (rates, weights) = target.X, target.scales
        low, high = in_threads(bounds, X.size)(X)
        unit = rates.max()
        with np.errstate(over="ignore"):
            extent = np.sqrt(unit) * np.linalg.norm(0.5 * (high - low))
        reach = extent * (weights @ np.sqrt(rates / unit))
        error = float(1.72 * reach + 0.37 * (len(X) + 5) + 4 + rates.size) * SINGLE
        if not (error < MAX_KERNEL_ERROR and rates.min() > MIN_SCALE_RATIO * unit):
            return None
        single, mu = np.empty(X.shape, np.float32), np.empty(X.shape[1], np.float32)
        centre = low + 0.5 * (high - low)
        in_threads(to_single, X.size)(single, mu, X, target.mu, centre, np.sqrt(unit))
        return cls(single, mu, np.array([rates / unit, weights], np.float32), error)


def _lows(M: int) -> Single:
    return np.empty(-(-M // SINGLE_BLOCK), np.float32)


class SingleBlend:
    """`FullBlend` in half the time, with the same result."""

    def __init__(self, target: Target, single: SingleTarget, n: int) -> None:
        d, M = target.X.shape
        self._target, self._errors = target, np.full(n + 1, SINGLE)
        self._gap = -single.mu
        points = single, target.X, target.mu, target.scales
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

    Rows are stored in 16 bits per value, and only in blocks within the kernel's reach.
    """

    def __init__(self, target: Target, single: SingleTarget, n: int) -> None:
        blocks = Blocks.of(single.X, single.reach)
        (d, B), order = blocks.low.shape, blocks.order
        levels, owner = np.empty((B, n, blocks.size), np.uint16), np.empty((B, n), np.intp)
        rows, centres = (levels, owner, np.zeros(B, np.intp)), np.empty((d, n))
        boxes = blocks.X, blocks.low, blocks.high, single.reach
        self._target, self._single, self._n, self._order = target, single, n, order
        self._place = np.empty_like(order)  # position of a search point in the blocks
        self._place[order] = np.arange(order.size)
        self._mu, self._top = single.mu[order], float(target.mu.max())
        self._gap, lows = np.empty(order.size, np.float32), np.empty(B, np.float32)
        self._to_add = *rows, *boxes, single.X, single.scales, target.X, target.scales, centres
        self._exact_mu = target.mu.copy()  # with hidden points marked
        exact = target.X, self._exact_mu, target.scales, centres
        self._to_search = self._gap, lows, self._mu, *rows, order, *exact
        self._chosen: Indices = np.empty(0, np.intp)
        self._full: FullCombine | None = None
        self._wasted = 0.0  # kernel values beyond the cost of the full search so far

    def add(self, chosen: Indices) -> Array:
        """Add the last of the chosen points; return its kernel values to all of them."""
        if self._full is not None:
            return self._full.add(chosen)
        self._chosen = chosen
        values: Array = take_in(*self._to_add, len(chosen) - 1, chosen[-1])
        return values

    @property
    def kept_rows(self) -> None:
        """None: rows are stored in 16 bits."""

    def hide(self, j: int) -> None:
        """Exclude search point ``j`` from later searches."""
        self._exact_mu[j] = HIDDEN
        self._mu[self._place[j]] = HIDDEN

    def __call__(self, weights: Combination, mmd2: float) -> tuple[int, float]:
        """Return the next vertex for these weights, and the value of the iterate there."""
        if self._full is not None:
            return self._full(weights, mmd2)
        active = weights.active
        vertex, value, count = combine_rows_and_search(
            *self._to_search, active, weights.w, self._bound(len(active), mmd2)
        )
        values = self._gap.size * len(active)  # in all rows
        self._wasted += max(count - FUTILE_SUM_SHARE * values, 0.0)
        if self._wasted > values:
            self._go_over_to_full_search()
        return vertex, value

    def _bound(self, rows: int, mmd2: float) -> float:
        """Error bound of a gap between -mu and the MMD, for rows added four at a time."""
        rounding = (rows / 4 + 12) * (self._top + root(mmd2)) * SINGLE
        return 0.5 / LEVELS + self._single.error + rounding + SCORE_ROUNDING

    def _go_over_to_full_search(self) -> None:
        self._full = FullCombine(self._target, self._n, self._exact_mu)
        for k in range(len(self._chosen)):
            self._full.add(self._chosen[: k + 1])
