r"""Optimal weights of given points: :math:`\min_w w^\top K w - 2 c^\top w` on the simplex.

Wolfe's min-norm-point method (1976; Bach 2013, section 9.2): go to the minimiser on the affine hull
of an *active set* of points; if that leaves the simplex, stop at the boundary and drop the point
whose weight vanished (minor cycle), else add the vertex with the lowest gradient (major cycle),
until none is below the level of the active ones, which is the optimality condition

.. math:: (Kw - c)_i \ge \lambda \text{ for all } i, \quad \text{with equality where } w_i > 0.

On the simplex :math:`w^\top K w` and :math:`w^\top (K + 11^\top) w` differ by a constant.  The
method updates the Cholesky factor of the latter, in which linear dependence is affine dependence in
feature space: the case of non-unique weights.  Such a vertex, common for wide kernels in low
dimension, replaces an active point, so the factor stays well conditioned at any rank of K.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._numba.simplex_qp import ROUNDS, SCRATCH, solve
from skh._typing import Array, Indices
from skh.gaussians.linear_algebra import check_covariance


class SimplexQP:
    """Quadratic programme on a growing set of vertices; K has a diagonal of order one."""

    def __init__(self, capacity: int) -> None:
        self.K = np.zeros((capacity, capacity))
        self.c = np.zeros(capacity)
        self.w = np.zeros(capacity)
        self._L = np.zeros((capacity + SCRATCH + 2, capacity))
        self._active = np.zeros(capacity, dtype=np.intp)
        self._n = self._a = 0
        self.level = 0.0  # of the gradient, Kw - c, at the active vertices
        self.objective = 0.0  # w'Kw - 2c'w at the optimum

    @property
    def size(self) -> int:
        """Number of vertices."""
        return self._n

    @property
    def active(self) -> Indices:
        """Indices of the vertices with positive weight."""
        return self._active[: self._a]

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array, Indices]:
        """K, c, w, the Cholesky factor and the active set, as compiled code takes them."""
        return self.K, self.c, self.w, self._L, self._active

    def set_state(self, n: int, active: int, level: float, objective: float) -> None:
        """Set the state after compiled code has filled the arrays for ``n`` vertices."""
        self._n, self._a, self.level, self.objective = n, active, level, objective

    def add(self, k: ArrayLike, c: float, ridge: float = 0.0, refine: bool = True) -> None:
        """Add a vertex with kernel values ``k``, its own (plus ``ridge``) last; solve again.

        Without ``refine`` weights are refined only where points are dropped.
        """
        n = self._n = self._n + 1
        self.K[n - 1, :n] = self.K[:n, n - 1] = k
        self.K[n - 1, n - 1] += ridge
        self.c[n - 1] = c
        self._solve(ROUNDS if refine else 1)

    def _solve(self, rounds: int = ROUNDS) -> None:
        state = solve(*self.arrays, self._a, self._n, self.level, rounds)
        self.set_state(self._n, *state)


def solve_simplex_qp(K: ArrayLike, c: ArrayLike) -> Array:
    """Minimise ``w'Kw - 2c'w`` over the probability simplex, for PSD ``K`` of any rank.

    >>> solve_simplex_qp([[1.0, 0.0], [0.0, 1.0]], [0.6, 0.2]).round(12)
    array([0.7, 0.3])
    """
    K, c = _checks.real_array("K", K), _checks.real_array("c", c)
    n = len(c) if c.ndim == 1 else 0
    if n == 0 or K.shape != (n, n):
        raise ValueError(f"K must be (n, n) and c (n,) with n >= 1, got {K.shape} and {c.shape}")
    check_covariance("K", K)
    scale = max(np.abs(K).max(), np.abs(c).max()) or 1.0
    qp = SimplexQP(n)
    qp.K[:], qp.c[:], qp._n = K / scale, c / scale, n
    qp._solve()
    return qp.w
