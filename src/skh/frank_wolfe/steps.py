r"""Steps that add one vertex at a time: options (1) and (2) of Algorithm 1.

.. math:: g_{k+1} = (1 - \gamma_k) g_k + \gamma_k \Phi(x^{(k+1)})

:math:`\gamma_k` is fixed in advance (herding, open loop) or follows from the value of :math:`g_k`
at the vertex (line search).  The squared norm of the iterate and its product with the mean element
follow the same recursion, so the exact MMD costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from skh import _checks
from skh._numba.iterate_history import IterateHistory
from skh._typing import Array
from skh.frank_wolfe.iterate import Iterate, Solution, Stop
from skh.frank_wolfe.search_choice import blending_search
from skh.frank_wolfe.vertex_search import Target


class BlendedIterate(Iterate):
    """Iterate with given step sizes; NaN stands for exact line search."""

    def __init__(self, target: Target, sizes: Array) -> None:
        first = target.first
        self._history = IterateHistory.start(sizes, first, target.mean_map.at(first), target.norm2)
        self._k = 0
        self.search = blending_search(target, len(sizes))

    def move(self) -> bool:
        """Take one step and search for the next vertex."""
        return self._advance(1) == 1

    def run(self, n: int, tol: float | None = None) -> tuple[Array, Stop]:
        """Take all steps in one compiled call, unless ``tol`` must be checked."""
        if tol is not None:
            return super().run(n, tol)
        taken = self._advance(n)
        trace = np.sqrt(np.maximum(self.mmd2_trace, 0.0))
        return trace, Stop.POINTS if taken == n else Stop.PRECISION

    def _advance(self, n: int) -> int:
        before, self._k = self._k, self.search.run(self._history, self._k, self._k + n)
        return self._k - before

    @property
    def mmd2_trace(self) -> Array:
        """Squared distances to the target after each step."""
        return self._history.mmd2[1 : self._k + 1]

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return float(self.mmd2_trace[-1]) if self._k else float(self._history.mmd2[0])

    def solution(self) -> Solution:
        """All vertices; each step has shrunk the weights of earlier ones."""
        sizes = self._history.steps[: self._k]
        kept = np.append(np.cumprod(1.0 - sizes[:0:-1])[::-1], 1.0)  # by all later steps
        return Solution(self._history.vertices[: self._k], sizes * kept, self.mmd2)


class GreedyIterate(BlendedIterate):
    r"""Sum of k features divided by k + 1, whose scores rank points by the resulting MMD.

    With another point x, :math:`\mathrm{MMD}^2` is :math:`2 (g_k - \mu_p)(x) / (k + 1)` + const.
    """

    @property
    def mmd2_trace(self) -> Array:
        """Squared distances of the equally weighted points to the target."""
        k, history = np.arange(1, self._k + 1), self._history
        scale = (k + 1) / k
        square: Array = scale * (scale * history.norm2[k] - 2 * history.inner[k]) + history.mmd2[0]
        return square


@dataclass(frozen=True)
class Herding:
    """Step size 1/(k+1) of kernel herding: option (1) of Algorithm 1, equal weights.

    With ``greedy`` each point minimises the MMD instead of its linearisation (see Teymur et al.,
    2021); which is better depends on the mixture.
    """

    greedy: bool = False

    def __post_init__(self) -> None:
        _checks.boolean("greedy", self.greedy)

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        if self.greedy:
            return GreedyIterate(target, 1 / (np.arange(n) + 2))
        return BlendedIterate(target, 1 / (np.arange(n) + 1))


@dataclass(frozen=True)
class OpenLoop:
    """Step size 2/(k+2), which the paper mentions beside 1/(k+1): later points weigh more."""

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        return BlendedIterate(target, 2 / (np.arange(n) + 2))


@dataclass(frozen=True)
class LineSearch:
    """Step size that minimises the MMD along the segment: option (2) of Algorithm 1 (FW-LS)."""

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        return BlendedIterate(target, np.full(n, nan))
