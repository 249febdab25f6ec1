r"""Lines 4 to 6 of Algorithm 1: how the next iterate is made of the last one and the new vertex.

A step is a small frozen value; ``step.start(target, n)`` gives the mutable iterate that the loop in
`fw_quad` drives.  An iterate is known by the values :math:`g_k(x) = \langle g_k, \Phi(x)\rangle` at
all M search points.  From them come the vertex search, the step size and the MMD, all without
approximation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skh import _compiled
from skh._checks import Array, Indices
from skh._compiled_qp import GRADIENT
from skh.simplex_qp import SimplexQP


@dataclass(frozen=True, eq=False)
class Target:
    """The mean element of a mixture as seen from M search points."""

    X: Array  # (d, M): the search points, in the coordinates of the kernel
    mu: Array  # (M,): the mean map there
    norm2: float  # the squared norm of the mean element
    rates: Array  # (S,): kernel(x, y) = average over s of exp(-rates[s] |x - y|^2)


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
        """The search points taken in so far, and their weights."""
        ...


class Step(Protocol):
    """A way to form the next iterate: `Herding`, `LineSearch`, `FullyCorrective` or your own."""

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0, ready for at most ``n`` moves."""
        ...


class ConvexIterate:
    r"""The iterate :math:`g_{k+1} = (1 - \gamma_k) g_k + \gamma_k \Phi(x^{(k+1)})`.

    Its squared norm and its product with the mean element follow the same recursion, so the MMD
    costs nothing.
    """

    def __init__(self, target: Target, n: int, size: StepSize) -> None:
        self._target, self._size = target, size
        self._chosen, self._w = np.empty(n, np.intp), np.zeros(n)
        self.k = 0
        self.g = np.zeros(target.mu.size)
        self.g_norm2 = self.g_mu = 0.0
        self._vertex = int(np.argmax(target.mu))

    @property
    def vertex_values(self) -> tuple[float, float]:
        """The iterate and the mean map at the vertex."""
        return float(self.g[self._vertex]), float(self._target.mu[self._vertex])

    def move(self) -> bool:
        """Lines 4 to 6, then line 3 of the next iteration."""
        t, j, k = self._target, self._vertex, self.k
        g, mu = self.vertex_values
        # g_0 = 0 is no convex combination of vertices: the first step goes all the way.
        step = self._size(self) if k else 1.0
        if step == 0.0:
            return False
        keep = 1.0 - step
        self.g_norm2 = keep * keep * self.g_norm2 + 2 * keep * step * g + step * step
        self.g_mu = keep * self.g_mu + step * mu
        self._w[:k] *= keep
        self._w[k], self._chosen[k] = step, j
        self._vertex = _compiled.step_and_search(self.g, t.mu, t.X, t.X[:, j], t.rates, step)
        self.k += 1
        return True

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return self.g_norm2 - 2 * self.g_mu + self._target.norm2

    @property
    def combination(self) -> tuple[Indices, Array]:
        """The search points taken in so far, and their weights."""
        return self._chosen[: self.k], self._w[: self.k]


class StepSize(Protocol):
    """The step size of a convex iterate."""

    def __call__(self, iterate: ConvexIterate) -> float:
        """The step size at this iterate, in [0, 1]."""
        ...


@dataclass(frozen=True)
class Herding:
    """The step size 1/(k+1) of kernel herding: option (1) of Algorithm 1, equal weights."""

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0."""
        return ConvexIterate(target, n, lambda iterate: 1.0 / (iterate.k + 1))


@dataclass(frozen=True)
class LineSearch:
    """The step size that minimises the MMD along the segment: option (2) of Algorithm 1 (FW-LS)."""

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0."""
        return ConvexIterate(target, n, _exact_line_search)


def _exact_line_search(iterate: ConvexIterate) -> float:
    g, mu = iterate.vertex_values
    slope = iterate.g_norm2 - iterate.g_mu - (g - mu)
    curvature = iterate.g_norm2 - 2 * g + 1.0
    return min(slope / curvature, 1.0) if slope > 0.0 < curvature else 0.0


class CorrectiveIterate:
    """The best convex combination of all vertices found so far.

    The weights of all vertices change at each move, so the kernel values between the vertices and
    the search points are kept: n rows of M numbers.
    """

    def __init__(self, target: Target, n: int) -> None:
        self._target = target
        self._qp = SimplexQP(n)
        self._chosen = np.empty(n, np.intp)
        self._rows = np.empty((n, target.mu.size))
        self._g = np.zeros(target.mu.size)
        self._vertex = int(np.argmax(target.mu))
        self._k = 0

    def move(self) -> bool:
        """Add the vertex, optimise all weights, search the next vertex."""
        t, qp, j, k = self._target, self._qp, self._vertex, self._k
        if k and self._gap() <= GRADIENT:
            return False
        self._chosen[k] = j
        _compiled.kernel_row(self._rows[k], t.X, t.X[:, j], t.rates)
        qp.add(self._rows[: k + 1, j], t.mu[j])
        self._k += 1
        self._vertex = _compiled.combine_and_search(self._g, t.mu, self._rows, qp.active, qp.w)
        return bool(qp.w[k] > 0.0)

    def _gap(self) -> float:
        """By how much the vertex lies below the level of the active points: the Frank-Wolfe gap."""
        t, qp = self._target, self._qp
        i = self._chosen[qp.active]
        level = qp.w[qp.active] @ (self._g[i] - t.mu[i])
        return float(level - (self._g[self._vertex] - t.mu[self._vertex]))

    @property
    def mmd2(self) -> float:
        """Squared distance to the target."""
        return self._qp.objective + self._target.norm2

    @property
    def combination(self) -> tuple[Indices, Array]:
        """The search points taken in so far, and their weights, many of which may be zero."""
        return self._chosen[: self._k], self._qp.w[: self._k]


@dataclass(frozen=True)
class FullyCorrective:
    """All weights optimised anew on the simplex at each step (FCFW); see `simplex_qp`."""

    def start(self, target: Target, n: int) -> Iterate:
        """The iterate g_0 = 0."""
        return CorrectiveIterate(target, n)
