r"""Moving all points at once: gradient descent of the MMD in the positions, weights held.

Where Frank-Wolfe places one point after the other and never moves one again, the squared MMD

.. math:: \sum_{ij} w_i w_j \kappa(x_i, x_j) - 2 \sum_i w_i \mu_p(x_i) + \|\mu_p\|^2

is a smooth function of all positions, with a closed-form gradient that costs N (N + K) exponentials
and no search point.  A few iterations of L-BFGS lower the MMD of any rule's points several times
(compare the stationary points of Chen et al., 2025).

*Ancestors.*  A point that has moved was no longer drawn from the component that it came with. Its
ancestor is drawn anew from :math:`P(i | x) \propto \pi_i \mathcal N(x | \mu_i, \Sigma_i)`, the
probability that a draw of the mixture that lies at x came from component i.  Then (x, i) is
distributed as the filter assumes given x, which is what Rao-Blackwellization needs: the law of the
hidden part given the point is the mixture over its possible ancestors, not that of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isnan
from typing import TypeVar

import numpy as np
from scipy.optimize import minimize

from skh import _checks, _compiled_refine
from skh._checks import RNG, Array, Indices
from skh.automatic import automatic_kernel
from skh.first_use import announced
from skh.gaussian import whitener
from skh.hilbert import hilbert_order
from skh.kernel import GaussianKernel, root
from skh.mixture import GaussianMixture
from skh.rule import Rule, WeightedPoints
from skh.sampling import QuasiMonteCarlo
from skh.weights import evened, protected_weights

P = TypeVar("P", bound=WeightedPoints)
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
GRID = 2.0**-14  # in units of the kernel's smallest length


@dataclass(frozen=True)
class Refine:
    """How points are moved: L-BFGS ``iterations`` on all positions.

    With ``reweigh`` the weights are optimised again afterwards (see `protected_weights`), on the
    simplex with a ``ridge`` that keeps them from vanishing and an effective sample size of at least
    ``min_ess`` times their number.
    """

    iterations: int = 30
    reweigh: bool = False
    ridge: float = 1e-4
    min_ess: float = 0.5

    def __post_init__(self) -> None:
        _checks.positive_int("iterations", self.iterations)
        _checks.fraction("min_ess", self.min_ess)
        _checks.non_negative("ridge", self.ridge)

    def __call__(
        self, kernel: GaussianKernel, p: GaussianMixture, points: P, *, rng: RNG = None
    ) -> P:
        """The points moved to where the MMD to ``p`` is lower."""
        X, energy = kernel.coordinates(points.x, p.d), Energy(kernel, p, points)
        X = rounded(energy.descend(X, points.w, self.iterations), kernel, p)
        w, square = points.w, energy(X, points.w)[0]
        if self.reweigh:
            choices = evened(w, self.min_ess), energy.weights(X, self.ridge, self.min_ess)
            square, w = min(((energy(X, w)[0], w) for w in choices), key=lambda found: found[0])
        x = kernel.from_coordinates(X)
        component = responsible(p, x, np.random.default_rng(rng))
        return replace(points, x=x, w=w, component=component, mmd=root(square))


@dataclass(frozen=True)
class Refined:
    """The points of another rule, moved: no search at all.

    >>> import skh
    >>> p = skh.GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 1.0)
    >>> rule = skh.Refined(skh.Stratified(), skh.GaussianKernel(1.0))
    >>> rule(p, 20, rng=0).mmd < 0.005
    True
    """

    rule: Rule = field(default_factory=lambda: QuasiMonteCarlo("hilbert"))
    kernel: GaussianKernel | None = None
    refine: Refine = Refine()

    def __post_init__(self) -> None:
        _checks.rule("rule", self.rule)
        if not isinstance(self.kernel, GaussianKernel | None):
            raise TypeError(f"kernel must be a GaussianKernel or None, got {self.kernel!r}")
        if not isinstance(self.refine, Refine):
            raise TypeError(f"refine must be a skh.Refine, got {self.refine!r}")

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """``n`` points of the rule, moved."""
        rng = np.random.default_rng(rng)
        with announced():
            kernel = self.kernel or automatic_kernel(p, n)
            return self.refine(kernel, p, self.rule(p, n, rng=rng), rng=rng)


def rounded(X: Array, kernel: GaussianKernel, p: GaussianMixture) -> Array:
    """Points on a grid far finer than the kernel, centred at the mean of ``p``.

    A descent in many dimensions magnifies the last bit of its data a thousandfold, and the filter
    would do so at each step.  Rounding cuts that off: the same model in other units gives the same
    particles.
    """
    origin = kernel.coordinates(p.mean[None])
    grid = GRID * np.sqrt(kernel.variances.min())
    return np.asarray(origin + grid * np.round((X - origin) / grid))


class Energy:
    """The squared MMD to a mixture as a function of points in the kernel's coordinates."""

    def __init__(
        self, kernel: GaussianKernel, p: GaussianMixture, measured: WeightedPoints | None = None
    ) -> None:
        self._kernel, self._p, self._norm2 = kernel, p, 0.0
        self._attraction = Attraction.of(kernel, kernel.mixture(p))
        if measured is None or isnan(measured.mmd):
            self._norm2 = kernel.mean_norm2(p)
        else:  # no need for the sum over all pairs of components
            self._norm2 = measured.mmd**2 - self(kernel.coordinates(measured.x), measured.w)[0]

    def __call__(self, X: Array, w: Array) -> tuple[float, Array]:
        """The squared MMD and its gradient, for points (d, n)."""
        turn = self._attraction.axes
        Y = X if turn is None else turn @ X
        G = np.zeros_like(Y)
        square = _compiled_refine.repulsion(G, Y, w, self._kernel.scales)
        square -= self._attraction(G, Y, w)
        return square + self._norm2, G if turn is None else turn.T @ G

    def descend(self, X: Array, w: Array, iterations: int) -> Array:
        """``X`` after some iterations of L-BFGS."""
        start = self(X, w)[0]
        if start <= 0.0:  # as good as rounding lets us see
            return X

        def relative(x: Array) -> tuple[float, Array]:
            square, G = self(x.reshape(X.shape), w)
            return square / start, G.ravel() / start

        # No tolerance: what counts as small depends on the kernel, and iterations are cheap.
        found = minimize(
            relative,
            X.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations, "ftol": 0.0, "gtol": 0.0},
        )
        return np.asarray(found.x.reshape(X.shape)) if found.fun < 1.0 else X

    def weights(self, X: Array, ridge: float, min_ess: float) -> Array:
        """The best weights of the points ``X``."""
        x = self._kernel.from_coordinates(X)
        K, c = self._kernel.gram(x, x), self._kernel.mean_map_at(self._p, X)
        return protected_weights(K, c, ridge, min_ess)


@dataclass(frozen=True, eq=False)
class Attraction:
    """The mean map of a mixture, as `_compiled_refine` takes it."""

    A: Array  # (d, d, S K)
    b: Array  # (d, S K)
    heights: Array  # (S K,)
    axes: Array | None = None  # rows: the axes that all components share, in which A is diagonal

    def __call__(self, G: Array, X: Array, w: Array) -> float:
        """Twice the weighted sum at the columns of ``X``; its gradient is taken off ``G``."""
        diagonal = self.axes is not None
        return float(_compiled_refine.attraction(G, X, w, self.A, self.b, self.heights, diagonal))

    @classmethod
    def of(cls, kernel: GaussianKernel, p: GaussianMixture) -> Attraction:
        """For ``p`` in the kernel's coordinates."""
        s = kernel.variances[:, None, None, None]
        if p.covariances.ndim in (0, 2):
            variances, axes = _axes(p)
            means, S = p.means @ axes, np.diag(variances)[None]
        else:
            means, S, axes = p.means, p.covariance_matrices, None
        W, determinant = whitener(np.eye(p.d) + S / s)  # (S, K or 1, d, d)
        A = np.broadcast_to(W / np.sqrt(s), (len(s), len(p), p.d, p.d))
        b = np.einsum("skij,kj->iks", A, means)
        heights = kernel.scales[1][:, None] * determinant * p.weights
        return cls(
            np.ascontiguousarray(np.moveaxis(A, (0, 1), (3, 2)).reshape(p.d, p.d, -1)),
            np.ascontiguousarray(b).reshape(p.d, -1),
            np.ascontiguousarray(heights.T).ravel(),
            None if axes is None else axes.T,
        )


def _axes(p: GaussianMixture) -> tuple[Array, Array]:
    """The principal variances and axes (columns) that all components share."""
    if p.covariances.ndim == 0:
        return np.full(p.d, float(p.covariances)), np.eye(p.d)
    variances, axes = np.linalg.eigh(p.covariances)
    return np.maximum(variances, 0.0), axes


def responsible(p: GaussianMixture, x: Array, rng: np.random.Generator) -> Indices:
    """For each row of ``x`` a component drawn from its probabilities given x.

    Each draw alone is random as it should be; together they are not independent.  Points that are
    neighbours take numbers that are far apart (a golden-ratio sequence along a Hilbert curve), so
    that what hangs on the ancestors averages out among neighbours.
    """
    log_share = p.log_densities(x)  # (n, K)
    share = np.exp(log_share - log_share.max(axis=1, keepdims=True))
    cumulative = np.cumsum(share, axis=1)
    u = np.empty(len(x))
    u[hilbert_order(x)] = (rng.random() + GOLDEN * np.arange(len(x))) % 1.0
    chosen: Indices = (cumulative <= (u * cumulative[:, -1])[:, None]).sum(axis=1)
    return chosen.clip(max=len(p) - 1)
