"""The loop of Algorithm 1 and the interface of its steps.

A `Step` is a frozen value; ``step.start(target, n)`` returns an `Iterate`: the convex combination
g_k with the vertex that line 3 found for it.  A step that only has other step sizes needs no
iterate of its own (NaN stands for line search)::

    class SquareRoot:
        def start(self, target, n):
            return BlendedIterate(target, 1 / np.sqrt(np.arange(n) + 1))

Any other step subclasses `Iterate`.  `Target` has the search points and their mean map;
`search_choice` has searches that keep kernel rows, but a plain one will do::

    class Greedy(Iterate):  # equal weights, each point at the lowest score
        def __init__(self, target, n):
            self.target, self.chosen, self.rows = target, [], []
        def move(self):
            t, (rates, weights) = self.target, self.target.scales
            g = np.sum(self.rows, axis=0) / (len(self.rows) or 1)
            j = int(np.argmin(g - t.mu))
            square = ((t.X - t.X[:, [j]]) ** 2).sum(axis=0)
            self.rows.append(weights @ np.exp(-np.outer(rates, square)))
            self.chosen.append(j)
            return True
        @property
        def mmd2(self):
            j, t = self.chosen, self.target
            return np.mean(self.rows, axis=0)[j].mean() - 2 * t.mu[j].mean() + t.norm2
        def solution(self):
            k = len(self.chosen)
            return Solution(np.array(self.chosen), np.full(k, 1 / k), self.mmd2)

An iterate that takes many moves in one compiled call overrides ``run``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np

from skh._typing import Array, Indices
from skh.frank_wolfe.vertex_search import Target
from skh.kernels.gaussian_kernel import root


class Stop(StrEnum):
    """Why FW-Quad stopped."""

    POINTS = "n steps were taken"
    TOLERANCE = "the MMD is at or below tol"
    PRECISION = "no search point lowers the MMD by more than rounding"


class Solution(NamedTuple):
    """A quadrature rule on search points."""

    chosen: Indices  # (k,): indices of the chosen search points
    w: Array  # (k,): their weights, up to a factor; zeros are allowed
    mmd2: float  # squared distance to the target; rounding may make it slightly negative


class Iterate(ABC):
    """The iterate g_k of Algorithm 1 and the vertex for its next step."""

    @abstractmethod
    def move(self) -> bool:
        """Add the vertex and search for the next; return False if rounding prevents progress.

        The first move always adds its vertex; whether the last one did is up to the iterate.
        """

    @property
    @abstractmethod
    def mmd2(self) -> float:
        """Squared distance to the target; rounding may make it slightly negative."""

    @abstractmethod
    def solution(self) -> Solution:
        """Return the current points and weights."""

    def run(self, n: int, tol: float | None = None) -> tuple[Array, Stop]:
        """Lines 2 to 7: make at most n moves; return the MMD after each and why it stopped."""
        return self.continue_from(0, np.empty(n), tol)

    def continue_from(
        self, first: int, trace: Array, tol: float | None = None
    ) -> tuple[Array, Stop]:
        """`run` after the ``first`` moves, whose MMDs are in ``trace``."""
        for k in range(first, len(trace)):
            if not self.move():
                return trace[:k], Stop.PRECISION
            trace[k] = root(self.mmd2)
            if tol is not None and self._is_within(tol):
                return trace[: k + 1], Stop.TOLERANCE
        return trace, Stop.POINTS

    def _is_within(self, tol: float) -> bool:
        """Whether the MMD is at or below ``tol``, also for the weights of `solution`."""
        return root(self.mmd2) <= tol and root(self.solution().mmd2) <= tol


class Step(Protocol):
    """How to form the next iterate: `Herding`, `LineSearch`, `FullyCorrective` or your own."""

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: return the iterate g_0 = 0, ready for at most ``n`` moves."""
        ...
