"""Steps that move weight from one point to another: pairwise and blended pairwise Frank-Wolfe.

A plain step shrinks all weights.  A *pairwise* step (Lacoste-Julien, Jaggi, 2015) takes weight from
the worst active point only.  The *blended* variant (Tsuji, Tanaka, Pokutta, 2022) also moves weight
between active points, as long as that promises more than a new vertex: nearly as accurate as fully
corrective steps without a quadratic programme.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skh._numba.simplex_qp import GRADIENT
from skh._typing import Array, Indices
from skh.frank_wolfe.iterate import Iterate, Solution
from skh.frank_wolfe.search_choice import combining_search
from skh.frank_wolfe.vertex_search import Target

CORRECTIONS = 20  # maximum number of pairwise moves between two searches


class Weights:
    """Weights of chosen vertices and their objective, w'Kw - 2c'w."""

    def __init__(self, n: int) -> None:
        self.K, self.c, self.w = np.zeros((n, n)), np.zeros(n), np.zeros(n)

    @property
    def active(self) -> Indices:
        """Indices of the vertices with positive weight."""
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
        """Move all weights towards vertex ``i`` by line search; return the step size."""
        direction = -self.w
        direction[i] += 1.0
        return self._go(direction, 1.0)

    def shift(self, a: int, i: int) -> float:
        """Move weight from vertex ``a`` to ``i`` by line search; return the amount."""
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
    """Convex combination that takes weight from its worst vertices first."""

    def __init__(self, target: Target, n: int, blended: bool) -> None:
        self._target, self._blended = target, blended
        self._weights = Weights(n)
        self._chosen = np.empty(n, np.intp)
        self.search = combining_search(target, n)
        self._vertex, self._g = target.first, 0.0
        self._k = 0

    def move(self) -> bool:
        """Add the vertex, shift weight, search for the next vertex."""
        gap = self._gap()
        if self._k and gap <= GRADIENT:
            return False
        i = self._index_of_vertex()
        self._step(i, gap)
        self._vertex, self._g = self.search(self._weights, self.mmd2)
        return True

    def _index_of_vertex(self) -> int:
        """Index of the vertex among the chosen ones; adds it if it is new."""
        known = np.flatnonzero(self._chosen[: self._k] == self._vertex)
        if known.size:
            return int(known[0])
        k, q = self._k, self._weights
        self._chosen[k] = self._vertex
        self._k += 1
        row = self.search.add(self._chosen[: k + 1])
        q.K[k, : k + 1] = q.K[: k + 1, k] = row
        q.c[k] = self._target.mean_map.at(self._vertex)
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
        """Shift weight between active vertices while that promises more than a new one."""
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
        """Frank-Wolfe gap: the mean level of the weights minus that of the vertex."""
        q = self._weights
        return float(q.w @ q.gradient - (self._g - self._target.mean_map.at(self._vertex)))

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return self._weights.objective + self._target.norm2

    def solution(self) -> Solution:
        """All vertices; some weights may be zero."""
        return Solution(self._chosen[: self._k], self._weights.w[: self._k], self.mmd2)


@dataclass(frozen=True)
class Pairwise:
    """Move weight from the worst active point to the new one, by exact line search."""

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        return PairwiseIterate(target, n, blended=False)


@dataclass(frozen=True)
class BlendedPairwise:
    """Step towards the new point, then shift weight between active points."""

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        return PairwiseIterate(target, n, blended=True)
