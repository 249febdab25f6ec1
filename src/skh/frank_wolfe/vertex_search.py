r"""Line 3 of Algorithm 1: the search point at which :math:`g_k - \mu_p` is lowest.

The *full* search knows :math:`g_k` at all M search points in double precision.  `rough_search`
finds the same points, to the bit, in half the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from skh._compiled.base import combine_and_search, kernel_row
from skh._compiled.corrective import HIDDEN
from skh._compiled.extremes import first_highest
from skh._compiled.walk import Walk, catch_up, full_steps
from skh._runtime.threads import get_threads, in_threads
from skh._typing import Array, Indices

# What rounding may do to a score or to a squared MMD in some ten thousand steps.
SLACK = 1e-11


@dataclass(frozen=True, eq=False)
class Target:
    """The mean element of a mixture as seen from M search points."""

    X: Array  # (d, M): the search points, in the coordinates of the kernel
    mu: Array  # (M,): the mean map there
    norm2: float  # the squared norm of the mean element
    scales: Array  # (2, S): the rates and weights of the kernel's Gaussians

    @cached_property
    def first(self) -> int:
        """The first vertex: for g_0 = 0 the highest value of the mean map."""
        return int(in_threads(first_highest, self.mu.size)(self.mu))


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
