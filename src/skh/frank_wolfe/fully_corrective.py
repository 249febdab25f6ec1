"""Fully corrective steps (FCFW): a quadratic programme gives all weights after each vertex."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skh import _checks
from skh._numba.array_checks import positive_total
from skh._numba.fully_corrective import protected_steps
from skh._numba.simplex_qp import GRADIENT
from skh._runtime.lazy import lazy
from skh._typing import Array
from skh.frank_wolfe.iterate import Iterate, Solution, Stop
from skh.frank_wolfe.search_choice import MIN_POINTS_FOR_ROWS, combining_search
from skh.frank_wolfe.vertex_search import CombiningSearch, Target
from skh.kernels.quadrature_weights import effective_sample_size, protected_weights, resolution
from skh.kernels.scale_groups import scale_groups
from skh.kernels.simplex_qp import SimplexQP

SINGLE_RIDGE = 2e-4  # above which points that single precision confuses are equally good
MAX_RIDGE = 1e8  # weights are equal up to 1e-8, as K <= 1; beyond, rounding hides the MMD


class CorrectiveIterate(Iterate):
    """Optimal convex combination of all vertices found so far."""

    def __init__(self, target: Target, n: int) -> None:
        self._target = target
        self._qp = SimplexQP(n)
        self._chosen = np.empty(n, np.intp)
        self._vertex, self._g = target.first, 0.0
        self._k = 0

    @lazy
    def search(self) -> CombiningSearch:
        """Line 3; made when first needed, since a compiled run needs none."""
        return combining_search(self._target, len(self._chosen))

    def move(self) -> bool:
        """Add the vertex, optimise all weights, search for the next vertex."""
        k = self._k
        if k and self._gap() <= GRADIENT:
            return False
        self._add_vertex(ridge=0.0)
        self._vertex, self._g = self.search(self._qp, self.mmd2)
        return bool(self._qp.w[k] > 0.0)

    def _add_vertex(self, ridge: float) -> None:
        j, k = self._vertex, self._k
        self._chosen[k] = j
        self._k += 1
        last = k + 1 == len(self._chosen)
        values, mean = self.search.add(self._chosen[: k + 1]), self._target.mean_map.at(j)
        self._qp.add(values, mean, ridge, refine=last or ridge > 0.0)

    def _gap(self) -> float:
        """Frank-Wolfe gap: the level of the active points minus that of the vertex."""
        return float(self._qp.level - (self._g - self._target.mean_map.at(self._vertex)))

    def run(self, n: int, tol: float | None = None) -> tuple[Array, Stop]:
        """Take steps in one compiled call as far as possible, unless ``tol`` must be checked."""
        if tol is not None or self._k:
            return super().run(n, tol)
        mmd2, chosen = np.empty(n), self._chosen[:n]
        chosen[0] = self._vertex
        self._vertex, self._g = self.search.corrective_steps(self._qp, chosen, mmd2)
        k = self._k = self._qp.size
        trace = np.sqrt(np.maximum(mmd2, 0.0))
        if k and self._qp.w[k - 1] == 0.0:
            return trace[: k - 1], Stop.PRECISION
        return self.continue_from(k, trace)

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return self._qp.objective + self._target.norm2

    def solution(self) -> Solution:
        """All vertices with their optimal weights, many of which may be zero."""
        return Solution(self._chosen[: self._k], self._qp.w[: self._k], self.mmd2)


class ProtectedIterate(CorrectiveIterate):
    """`CorrectiveIterate` with protected weights: exactly n different search points."""

    def __init__(self, target: Target, n: int, ridge: float, min_ess: float) -> None:
        super().__init__(target, n)
        self._ridge, self._min_ess = ridge, min_ess
        self._mmd2 = target.norm2

    def move(self) -> bool:
        """Add the vertex, even if its optimal weight is zero, and hide it from the search."""
        j, qp = self._vertex, self._qp
        self._add_vertex(self._ridge)
        self.search.hide(j)
        w = qp.w[: self._k]
        self._mmd2 = qp.objective - self._ridge * float(w @ w) + self._target.norm2
        self._vertex, self._g = self.search(qp, self.mmd2)
        return True

    def run(self, n: int, tol: float | None = None) -> tuple[Array, Stop]:
        """Take all steps in one compiled call if ``tol`` is None and there are few points."""
        t, chosen = self._target, self._chosen
        if tol is not None or t.X.shape[1] >= MIN_POINTS_FOR_ROWS or n != len(chosen):
            return Iterate.run(self, n, tol)
        qp, trace, groups = self._qp, np.empty(n), scale_groups(t.scales)
        rows = scale_groups(t.scales, np.float32) if self._ridge > SINGLE_RIDGE else groups
        *state, self._mmd2 = protected_steps(
            *(chosen, trace, t.norm2, *qp.arrays, t.mu, t.X),
            *(groups, rows, self._ridge, self._vertex),
        )
        qp.set_state(n, *state)
        self._k = n
        return trace, Stop.POINTS

    @property
    def mmd2(self) -> float:
        """Squared distance to the target before weights are protected."""
        return self._mmd2

    def solution(self) -> Solution:
        """All vertices with positive weights and the required effective sample size."""
        k = self._k
        w = self._qp.w[:k]
        if positive_total(w) and effective_sample_size(w) >= self._min_ess * k:
            return Solution(self._chosen[:k], w, self._mmd2)
        K, c = self._qp.K[:k, :k] - self._ridge * np.eye(k), self._qp.c[:k]
        w = protected_weights(K, c, self._ridge, self._min_ess)
        mmd2 = float(w @ (K @ w) - 2 * (c @ w)) + self._target.norm2
        return Solution(self._chosen[:k], w, mmd2)


@dataclass(frozen=True)
class FullyCorrective:
    """Optimise all weights on the simplex again at each step (FCFW).

    Many optimal weights are zero, and such points are not returned.  With a ``ridge`` on weights or
    an effective sample size of at least ``min_ess`` n, exactly n different search points are
    returned, at little loss.  ``ridge=None`` stands for `resolution`: more even for fewer points.

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
            object.__setattr__(self, "ridge", _checks.non_negative("ridge", self.ridge))
        object.__setattr__(self, "min_ess", _checks.fraction("min_ess", self.min_ess))

    def for_block_of(self, n: int, d: int) -> FullyCorrective:
        """Return the step for some of ``n`` points, whose ridge is that of all."""
        return self if self.ridge is not None else replace(self, ridge=resolution(n, d))

    def start(self, target: Target, n: int) -> Iterate:
        """Line 1: the iterate g_0 = 0."""
        if self.ridge == self.min_ess == 0.0:
            return CorrectiveIterate(target, n)
        if n > target.size:
            raise ValueError(f"search_points must be at least n = {n}, got {target.size}")
        ridge = resolution(n, len(target.X)) if self.ridge is None else self.ridge
        return ProtectedIterate(target, n, min(ridge, MAX_RIDGE), self.min_ess)
