r"""Steps that move weight from one point to another: pairwise and blended pairwise Frank-Wolfe.

A plain step shrinks all weights to make room for the new vertex, the bad ones along with the good.
A *pairwise* step (Lacoste-Julien, Jaggi, 2015) takes the weight from the worst active point alone.
The *blended* variant (Tsuji, Tanaka, Pokutta, 2022) first moves weight between the points that it
has, as long as that promises more than a new vertex does: nearly the accuracy of fully corrective
steps without a quadratic programme.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skh._numba.simplex_qp import GRADIENT
from skh._typing import Array, Indices
from skh.frank_wolfe.iterate import Iterate, Solution
from skh.frank_wolfe.single_precision_search import combining_search
from skh.frank_wolfe.vertex_search import Target

CORRECTIONS = 20  # pairwise moves between two searches at most


class Weights:
    """Weights of chosen vertices with the quadratic that they lower, w'Kw - 2c'w."""

    def __init__(self, n: int) -> None:
        self.K, self.c, self.w = np.zeros((n, n)), np.zeros(n), np.zeros(n)

    @property
    def active(self) -> Indices:
        """The vertices with positive weight."""
        return np.flatnonzero(self.w)

    @property
    def gradient(self) -> Array:
        """Half the gradient, Kw - c."""
        return self.K @ self.w - self.c

    @property
    def objective(self) -> float:
        """w'Kw - 2c'w."""
        return float(self.w @ (self.gradient - self.c))

    def towards(self, i: int) -> float:
        """The best step of all weights towards vertex ``i``; its length."""
        direction = -self.w
        direction[i] += 1.0
        return self._go(direction, 1.0)

    def shift(self, a: int, i: int) -> float:
        """The best shift of weight from vertex ``a`` to ``i``; its length."""
        direction = np.zeros_like(self.w)
        direction[a], direction[i] = -1.0, 1.0
        return self._go(direction, float(self.w[a])) if a != i else 0.0

    def _go(self, direction: Array, most: float) -> float:
        slope = -float(self.gradient @ direction)
        curvature = float(direction @ self.K @ direction)
        length = most if slope >= most * curvature else max(slope, 0.0) / curvature
        self.w = self.w + length * direction  # reaches zero exactly: w - 1 w, or w_a - w_a
        return length


class PairwiseIterate(Iterate):
    """A convex combination that gives up its worst vertices first."""

    def __init__(self, target: Target, n: int, blended: bool) -> None:
        self._target, self._blended = target, blended
        self._weights = Weights(n)
        self._chosen = np.empty(n, np.intp)
        self.search = combining_search(target, n)
        self._vertex, self._g = target.first, 0.0
        self._k = 0

    def move(self) -> bool:
        """Take in the vertex, shift weight, search the next vertex."""
        gap = self._gap()
        if self._k and gap <= GRADIENT:
            return False
        i = self._index_of_vertex()
        self._step(i, gap)
        self._vertex, self._g = self.search(self._weights, self.mmd2)
        return True

    def _index_of_vertex(self) -> int:
        """Where the vertex is among the chosen ones, after adding it if it is new."""
        known = np.flatnonzero(self._chosen[: self._k] == self._vertex)
        if known.size:
            return int(known[0])
        k, q = self._k, self._weights
        self._chosen[k] = self._vertex
        self._k += 1
        row = self.search.add(self._chosen[: k + 1])
        q.K[k, : k + 1] = q.K[: k + 1, k] = row
        q.c[k] = self._target.mu[self._vertex]
        return k

    def _step(self, i: int, gap: float) -> None:
        q = self._weights
        if self._k == 1:
            q.w[0] = 1.0
        elif not self._blended:
            q.shift(self._worst(), i)
        else:
            q.towards(i)
            self._correct(gap)

    def _correct(self, gap: float) -> None:
        """Shift weight between the active vertices while that promises more than a new one."""
        q = self._weights
        for _ in range(CORRECTIONS):
            active, gradient = q.active, q.gradient
            best = int(active[gradient[active].argmin()])
            worst = self._worst()
            if gradient[worst] - gradient[best] < 0.5 * gap:
                return
            q.shift(worst, best)

    def _worst(self) -> int:
        active = self._weights.active
        return int(active[self._weights.gradient[active].argmax()])

    def _gap(self) -> float:
        """By how much the vertex lies below the mean level of the weights: the Frank-Wolfe gap."""
        q = self._weights
        return float(q.w @ q.gradient - (self._g - self._target.mu[self._vertex]))

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return self._weights.objective + self._target.norm2

    def solution(self) -> Solution:
        """All vertices; the weights of some may be zero."""
        return Solution(self._chosen[: self._k], self._weights.w[: self._k], self.mmd2)


@dataclass(frozen=True)
class Pairwise:
    """Each step moves weight from the worst active point to the new one, by exact line search."""

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        return PairwiseIterate(target, n, blended=False)


@dataclass(frozen=True)
class BlendedPairwise:
    """A step towards the new point, then shifts of weight between the points that are there."""

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        return PairwiseIterate(target, n, blended=True)
