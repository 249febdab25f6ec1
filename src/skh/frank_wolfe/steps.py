r"""Lines 4 to 6 of Algorithm 1: how the next iterate is made of the last one and the new vertex.

A step is a small frozen value; ``step.start(target, n)`` gives the mutable iterate that the loop in
`fw_quad` drives.  It leaves the vertex search (line 3) to `search`, which tells the vertex and the
value :math:`g_k(x) = \langle g_k, \Phi(x)\rangle` there.  From them come the step size and the MMD,
without approximation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Protocol

import numpy as np

from skh import _checks
from skh._compiled.corrective import protected_steps
from skh._compiled.qp import GRADIENT
from skh._compiled.walk import Walk
from skh._typing import Array, Indices
from skh.frank_wolfe.single_precision_search import blending_search, combining_search
from skh.frank_wolfe.vertex_search import FullCombine, Target
from skh.kernels.quadrature_weights import effective_size, protected_weights, resolution
from skh.kernels.simplex_qp import SimplexQP


class Iterate(Protocol):
    """A convex combination of vertices, and the vertex that the search found for it (line 3)."""

    def move(self) -> bool:
        """Take in the vertex and search the next; False where rounding allows no progress."""
        ...

    @property
    def mmd2(self) -> float:
        """Squared distance to the target; rounding may make it slightly negative."""
        ...

    @property
    def combination(self) -> tuple[Indices, Array]:
        """The search points taken in so far, and their weights, up to a factor."""
        ...


class Step(Protocol):
    """A way to form the next iterate: `Herding`, `LineSearch`, `FullyCorrective` or your own."""

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0, ready for at most ``n`` moves."""
        ...


class ConvexIterate:
    """The iterate that takes in one vertex at a time, with step sizes that may be known ahead."""

    def __init__(self, target: Target, steps: Array) -> None:
        first = target.first
        self._walk = Walk.start(steps, first, float(target.mu[first]), target.norm2)
        self._k = 0
        self.search = blending_search(target, len(steps))

    def move(self) -> bool:
        """One step, and the vertex for the next one."""
        return self.moves(1) == 1

    def moves(self, n: int) -> int:
        """Up to n steps; fewer where rounding allows no progress."""
        before, self._k = self._k, self.search.run(self._walk, self._k, self._k + n)
        return self._k - before

    @property
    def mmd2_trace(self) -> Array:
        """Squared distances to the target after each step."""
        return self._walk.mmd2[1 : self._k + 1]

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return float(self.mmd2_trace[-1]) if self._k else float(self._walk.mmd2[0])

    @property
    def combination(self) -> tuple[Indices, Array]:
        """The search points taken in so far, and their weights."""
        step = self._walk.steps[: self._k]
        kept = np.append(np.cumprod(1.0 - step[:0:-1])[::-1], 1.0)  # by all later steps
        return self._walk.vertices[: self._k], step * kept


class GreedyIterate(ConvexIterate):
    r"""The sum of k features divided by k + 1: its scores tell what one more point does to the MMD.

    With a point x more, :math:`\mathrm{MMD}^2` is :math:`2 (g_k - \mu_p)(x) / (k + 1)` plus what
    does not depend on x.
    """

    @property
    def mmd2_trace(self) -> Array:
        """Squared distances of the points, equally weighted, to the target."""
        k, walk = np.arange(1, self._k + 1), self._walk
        scale = (k + 1) / k
        square: Array = scale * (scale * walk.norm2[k] - 2 * walk.inner[k]) + walk.mmd2[0]
        return square


@dataclass(frozen=True)
class Herding:
    """The step size 1/(k+1) of kernel herding: option (1) of Algorithm 1, equal weights.

    With ``greedy`` each point is the one that lowers the MMD most, where the paper takes the one
    that lowers its linearisation most (compare Teymur et al., 2021).  Which of them ends lower
    depends on the mixture.
    """

    greedy: bool = False

    def __post_init__(self) -> None:
        _checks.truth("greedy", self.greedy)

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0."""
        if self.greedy:
            return GreedyIterate(target, 1 / (np.arange(n) + 2))
        return ConvexIterate(target, 1 / (np.arange(n) + 1))


@dataclass(frozen=True)
class OpenLoop:
    """The step size 2/(k+2) that the paper mentions beside 1/(k+1): later points weigh more."""

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0."""
        return ConvexIterate(target, 2 / (np.arange(n) + 2))


@dataclass(frozen=True)
class LineSearch:
    """The step size that minimises the MMD along the segment: option (2) of Algorithm 1 (FW-LS)."""

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0."""
        return ConvexIterate(target, np.full(n, nan))


class CorrectiveIterate:
    """The best convex combination of all vertices found so far."""

    def __init__(self, target: Target, n: int) -> None:
        self._target = target
        self._qp = SimplexQP(n)
        self._chosen = np.empty(n, np.intp)
        self.search = combining_search(target, n)
        self._vertex, self._g = target.first, 0.0
        self._k = 0

    def move(self) -> bool:
        """Add the vertex, optimise all weights, search the next vertex."""
        qp, j, k = self._qp, self._vertex, self._k
        if k and self._gap() <= GRADIENT:
            return False
        self._chosen[k] = j
        self._k += 1
        qp.add(self.search.add(self._chosen[: k + 1]), self._target.mu[j])
        self._vertex, self._g = self.search(qp, self.mmd2)
        return bool(qp.w[k] > 0.0)

    def _gap(self) -> float:
        """By how much the vertex lies below the level of the active points: the Frank-Wolfe gap."""
        return float(self._qp.level - (self._g - self._target.mu[self._vertex]))

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return self._qp.objective + self._target.norm2

    @property
    def combination(self) -> tuple[Indices, Array]:
        """The search points taken in so far, and their weights, many of which may be zero."""
        return self._chosen[: self._k], self._qp.w[: self._k]


class ProtectedIterate(CorrectiveIterate):
    """The same with a ridge on the weights and a floor under their effective sample size.

    No search point is taken twice and none is given up, so that there are as many as asked for.
    """

    def __init__(self, target: Target, n: int, ridge: float, min_ess: float) -> None:
        hiding = replace(target, mu=target.mu.copy())
        super().__init__(hiding, n)
        self._ridge, self._min_ess = ridge, min_ess
        self._w, self._mmd2, self._trace = np.zeros(0), target.norm2, np.empty(n)

    def move(self) -> bool:
        """Add the vertex, even if the programme has no use for it; never take it again."""
        qp, j, k = self._qp, self._vertex, self._k
        self._chosen[k] = j
        self._k += 1
        qp.add(self.search.add(self._chosen[: k + 1]), self._target.mu[j], self._ridge)
        self.search.hide(j)
        w = self._w = qp.w[: k + 1]
        self._mmd2 = qp.objective - self._ridge * float(w @ w) + self._target.norm2
        self._trace[k] = self._mmd2
        self._vertex, self._g = self.search(qp, self.mmd2)
        return True

    def moves(self, n: int) -> int:
        """n moves, in one compiled call if they are all there will be and rows are kept in full."""
        if isinstance(self.search, FullCombine) and self._k == 0 and n == len(self._chosen):
            self._move_all(self.search)
            return n
        return sum(self.move() for _ in range(n))

    def _move_all(self, search: FullCombine) -> None:
        t, qp = self._target, self._qp
        room, points = (search.rows, search.g), (t.mu, t.X, t.scales)
        state = protected_steps(
            *(self._chosen, self._trace, *qp.arrays, *room, *points, self._ridge, self._vertex)
        )
        qp.set_state(len(self._chosen), *state)
        self._trace += t.norm2
        self._k, self._w, self._mmd2 = len(self._chosen), qp.w, float(self._trace[-1])

    @property
    def mmd2_trace(self) -> Array:
        """Squared distances to the target after each step."""
        return self._trace[: self._k]

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return self._mmd2

    @property
    def combination(self) -> tuple[Indices, Array]:
        """The search points taken in so far, and their weights, all positive."""
        if self._w.min() <= 0.0 or effective_size(self._w) < self._min_ess * self._k:
            self._protect()
        return self._chosen[: self._k], self._w

    def _protect(self) -> None:
        k = self._k
        K, c = self._qp.K[:k, :k] - self._ridge * np.eye(k), self._qp.c[:k]
        w = self._w = protected_weights(K, c, self._ridge, self._min_ess)
        self._mmd2 = float(w @ (K @ w) - 2 * (c @ w)) + self._target.norm2


@dataclass(frozen=True)
class FullyCorrective:
    """All weights optimised anew on the simplex at each step (FCFW); see `simplex_qp`.

    The best weights are zero for many points, and such points are not returned.  With a ``ridge``
    on the weights or an effective sample size of at least ``min_ess`` n they are protected from
    that (`weights`): exactly n different search points are returned, at little loss.  A ridge of
    None stands for `resolution`: the fewer points there are for a dimension, the more even.

    >>> import skh
    >>> p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    >>> steps = skh.FullyCorrective(), skh.FullyCorrective(ridge=1e-4)
    >>> few, all_ = (skh.FWQuad(skh.GaussianKernel(1.0), step)(p, 40, rng=0) for step in steps)
    >>> len(few) < 40, len(all_)
    (True, 40)
    """

    ridge: float | None = 0.0
    min_ess: float = 0.0

    def __post_init__(self) -> None:
        if self.ridge is not None:
            _checks.non_negative("ridge", self.ridge)
        _checks.fraction("min_ess", self.min_ess)

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0."""
        if self.ridge == self.min_ess == 0.0:
            return CorrectiveIterate(target, n)
        if n > target.mu.size:
            raise ValueError(f"search_points must be at least n = {n}, got {target.mu.size}")
        ridge = resolution(n, len(target.X)) if self.ridge is None else self.ridge
        return ProtectedIterate(target, n, ridge, self.min_ess)
