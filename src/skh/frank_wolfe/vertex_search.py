r"""Line 3 of Algorithm 1: find the search point at which :math:`g_k - \mu_p` is lowest.

A `BlendingSearch` serves iterates that add one vertex at a time, a `CombiningSearch` those that
change all weights.  The *full* searches here evaluate :math:`g_k` at all M search points in double
precision; `single_precision_search` finds the same points, to the bit, in half the time.  To add a
search, implement one protocol and return it from a function of `search_choice`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skh._numba.iterate_history import IterateHistory
from skh._numba.kernel_rows import kernel_row
from skh._numba.vertex_search import HIDDEN, catch_up, combine_and_search, full_steps
from skh._runtime.lazy import lazy
from skh._runtime.threads import get_threads, in_threads
from skh._typing import Array, Indices
from skh.frank_wolfe.search_mean_map import SearchMeanMap
from skh.frank_wolfe.single_target import SingleTarget
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.base import Kernel
from skh.kernels.simplex_qp import SimplexQP

SCORE_ROUNDING = 1e-11  # error of a score or squared MMD after some ten thousand steps


@dataclass(eq=False)
class Target:
    """Mean element of a mixture, at M search points."""

    X: Array  # (d, M): the search points in the kernel's coordinates
    mean_map: SearchMeanMap  # the mean map there
    norm2: float  # the squared norm of the mean element
    scales: Array  # (2, S): the rates and weights of the kernel's Gaussians

    @classmethod
    def of(cls, kernel: Kernel, p: GaussianMixture, x: Array) -> Target:
        """Take the mean element of ``p`` at the rows of ``x``."""
        X = kernel.coordinates_of(x)
        return cls(X, SearchMeanMap.of(kernel, p, X), kernel.mean_norm2(p), kernel.scales)

    @property
    def size(self) -> int:
        """Number of search points."""
        return int(self.X.shape[1])

    @property
    def mu(self) -> Array:
        """Mean map at all search points, (M,)."""
        return self.mean_map.everywhere()

    @lazy
    def single(self) -> SingleTarget | None:
        """The same in single precision, or None if that is too coarse."""
        return SingleTarget.of(self.X, self.mean_map, self.scales)

    @lazy
    def first(self) -> int:
        """Index of the first vertex, the maximum of the mean map (g_0 = 0)."""
        if self.mean_map.is_known or self.single is None:
            return int(self.mu.argmax())
        return self.mean_map.highest(self.single.mu, self.single.mu_error)


class BlendingSearch(Protocol):
    r"""Line 3 for iterates :math:`g \leftarrow (1 - \gamma) g + \gamma \Phi(x)`."""

    def run(self, history: IterateHistory, k: int, n: int) -> int:
        """Take steps k to n - 1 with a search after each; return the total number taken."""
        ...


class Combination(Protocol):
    """Weights of chosen points."""

    w: Array

    @property
    def active(self) -> Indices:
        """Indices of the points with positive weight."""
        ...


class CombiningSearch(Protocol):
    """Line 3 for iterates that change all weights."""

    def add(self, chosen: Indices) -> Array:
        """Add the last of the chosen points; return its kernel values to all of them."""
        ...

    def hide(self, j: int) -> None:
        """Exclude search point ``j`` from later searches."""
        ...

    def __call__(self, weights: Combination, mmd2: float) -> tuple[int, float]:
        """Return the next vertex for these weights, and the value of the iterate there."""
        ...

    def corrective_steps(self, qp: SimplexQP, chosen: Indices, mmd2: Array) -> tuple[int, float]:
        """Take fully corrective steps from ``chosen[0]``, in one compiled call, as far as it goes.

        Sets all arguments; returns the next vertex, and the value of the iterate there.
        """
        ...


class FullBlend:
    """A `BlendingSearch` at all points in double precision."""

    def __init__(self, target: Target) -> None:
        self._g = np.zeros(target.size)
        self._arrays = self._g, target.mu, target.X, target.scales
        self._steps = in_threads(full_steps, target.size)
        self._threads = get_threads()

    def run(self, history: IterateHistory, k: int, n: int) -> int:
        """Take steps k to n - 1 with a search after each; return the total number taken."""
        return int(self._steps(history, k, n, *self._arrays, self._threads))

    def catch_up(self, history: IterateHistory, k: int) -> None:
        """Repeat the first k steps of a history with known vertices."""
        catch_up(history, k, *self._arrays)


class FullCombine:
    """A `CombiningSearch` at all points in double precision; stores the kernel rows."""

    def __init__(self, target: Target, n: int) -> None:
        self._target, M = target, target.size
        self._rows, self._g, self._mu = np.empty((n, M)), np.empty(M), target.mu.copy()

    def corrective_steps(self, qp: SimplexQP, chosen: Indices, mmd2: Array) -> tuple[int, float]:
        """Take no step."""
        return int(chosen[0]), 0.0

    def add(self, chosen: Indices) -> Array:
        """Add the last of the chosen points; return its kernel values to all of them."""
        t, k, rows = self._target, len(chosen), self._rows
        kernel_row(rows[k - 1], t.X, t.X[:, chosen[-1]], t.scales)
        return rows[:k, chosen[-1]]

    def hide(self, j: int) -> None:
        """Exclude search point ``j`` from later searches."""
        self._mu[j] = HIDDEN

    def __call__(self, weights: Combination, mmd2: float) -> tuple[int, float]:
        """Return the next vertex for these weights, and the value of the iterate there."""
        g = self._g
        vertex = combine_and_search(g, self._mu, self._rows, weights.active, weights.w)
        return vertex, float(g[vertex])
