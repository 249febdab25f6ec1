r"""Move all points together: gradient descent of the MMD in the positions at fixed weights.

Frank-Wolfe adds one point at a time and never moves it again, but the squared MMD

.. math:: \sum_{ij} w_i w_j \kappa(x_i, x_j) - 2 \sum_i w_i \mu_p(x_i) + \|\mu_p\|^2

is a smooth function of all positions, with a closed-form gradient that costs N (N + K) exponentials
and no search points.  A few iterations of L-BFGS, from an inverse Hessian that knows which points
are close, lower the MMD of any rule's points several times (compare the stationary points of Chen
et al., 2025).  Ancestors of moved points are sampled again.

Where components are much narrower than the kernel, or singular, the MMD does not notice when points
leave them.  So points never move along axes without any spread, and points of many point masses,
which simulated draws are, stay where they are.  Otherwise, if components differ along such axes, or
if any point ends up far from all components, sorted Sobol points, which are on them and have no
bias, are moved instead, each only along the axes of its component that the kernel resolves.  Those
that end up far away nevertheless stay where they were.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skh import _checks
from skh._numba.lbfgs import descend
from skh._numba.mmd_energy import energy
from skh._runtime.compile_notice import notice_while_compiling
from skh._typing import RNG, Array
from skh.gaussians.linear_algebra import whitener
from skh.gaussians.mixture import GaussianMixture, check_mixture
from skh.kernels.adaptive import adaptive_kernel
from skh.kernels.base import Kernel
from skh.kernels.gaussian_kernel import GaussianKernel, root
from skh.kernels.quadrature_weights import mix_with_equal_weights, protected_weights
from skh.rules.ancestor_sampling import sample_ancestors
from skh.rules.base import P, Rule, WeightedPoints, check_call, checked_points, uses_information
from skh.rules.parts import place_in_parts
from skh.rules.sampling import QuasiMonteCarlo, draw_points
from skh.rules.support import Support

UNBIASED = QuasiMonteCarlo("hilbert")  # the start of points that must stay on components


@dataclass(frozen=True)
class Refine:
    """Move all points by some ``iterations`` of L-BFGS.

    With ``reweigh`` the weights are optimised again afterwards (see `protected_weights`), with a
    ``ridge`` against vanishing weights and an effective sample size of at least ``min_ess`` n.

    >>> import skh
    >>> p, kernel = skh.GaussianMixture([1.0], [[0.0]], 1.0), skh.GaussianKernel(1.0)
    >>> plain, moved = skh.FWQuad(kernel), skh.FWQuad(kernel, refine=skh.Refine())
    >>> moved(p, 10, rng=0).mmd < 0.5 * plain(p, 10, rng=0).mmd
    True
    """

    iterations: int = 30
    reweigh: bool = False
    ridge: float = 1e-4
    min_ess: float = 0.5

    def __post_init__(self) -> None:
        _checks.positive_int("iterations", self.iterations)
        _checks.boolean("reweigh", self.reweigh)
        _checks.fraction("min_ess", self.min_ess)
        _checks.non_negative("ridge", self.ridge)

    def __call__(
        self,
        kernel: Kernel,
        p: GaussianMixture,
        points: P,
        *,
        rng: RNG = None,
        norm2: float | None = None,
    ) -> P:
        """Move points to reduce their MMD to ``p``; ``norm2`` is its ``mean_norm2`` if known."""
        if not isinstance(kernel, GaussianKernel):
            raise TypeError(f"kernel must be a GaussianKernel, got {kernel!r}")
        check_mixture("p", p)
        if not isinstance(points, WeightedPoints):
            raise TypeError(f"points must be WeightedPoints, got {points!r}")
        _checks.points("x", points.x, p.d)
        rng = _checks.generator(rng)
        mmd2 = Energy(kernel, p)
        points, x, X = self._displace(mmd2, Support(kernel, p), p, points, rng)
        w = points.w
        square = mmd2.value(X, w)
        if self.reweigh:
            even = mix_with_equal_weights(w, self.min_ess)
            choices = even, mmd2.weights(X, self.ridge, self.min_ess)
            square, w = min(((mmd2.value(X, w), w) for w in choices), key=lambda found: found[0])
        square += kernel.mean_norm2(p) if norm2 is None else norm2
        component = sample_ancestors(p, x, rng)
        return points.with_fields(x=x, w=w, component=component, mmd=root(square), shift=None)

    def longer(self, factor: int) -> Refine:
        """Return the same with ``factor`` times as many iterations."""
        return replace(self, iterations=factor * self.iterations)

    def _displace(
        self,
        mmd2: Energy,
        support: Support,
        p: GaussianMixture,
        points: P,
        rng: np.random.Generator,
    ) -> tuple[P, Array, Array]:
        """Return the points to start from, where they move, and the same in coordinates (d, n)."""
        kernel = mmd2.kernel
        start = kernel.coordinates_of(points.x)
        if support.fixed and len(p) > len(points):  # the rule has chosen among the masses
            return points, points.x, start
        if not support.scattered:
            free = support.spread_axes(points.component)
            moved = self._descend(mmd2, support, start, points.w, free)
            x = points.x + kernel.from_coordinates(moved)  # exact for points that stay
            if support.holds(points, moved, x):
                return points, x, start + moved
        x, component = draw_points(UNBIASED, p, len(points), rng)
        w, start = np.full(len(x), 1.0 / len(x)), kernel.coordinates_of(x)
        moved = self._descend(mmd2, support, start, w, support.resolved_axes(component))
        moved = np.where(support.near(x, moved), moved, 0.0)
        points = points.with_fields(x=x, w=w, component=component)
        return points, x + kernel.from_coordinates(moved), start + moved

    def _descend(
        self, mmd2: Energy, support: Support, start: Array, w: Array, free: Array | None
    ) -> Array:
        """Return the displacements (d, n) of points that start at these coordinates."""
        moved = support.on_grid(mmd2.descend(start, w, self.iterations, free) - start)
        return moved if free is None else np.einsum("nij,jn->in", free, moved)


@dataclass(frozen=True)
class Refined:
    """Points of another rule, moved to lower their MMD; without search points.

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

    @property
    def uses_information(self) -> bool:
        """True if the kernel is adaptive or the inner rule uses it."""
        return self.kernel is None or uses_information(self.rule)

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """Return ``n`` points of the rule, moved."""
        n, rng = check_call(p, n, rng)
        with notice_while_compiling():
            if (kernel := self.kernel) is None:
                kernel = adaptive_kernel(p, n)
                if parts := place_in_parts(self, p, n, rng, kernel.finest(p.d)):
                    return parts
            points = checked_points(self.rule(p, n, rng=rng), p)
            return self.refine(kernel, p, points, rng=rng)


class Energy:
    """Squared MMD to a mixture up to its constant, in the kernel's coordinates."""

    def __init__(self, kernel: GaussianKernel, p: GaussianMixture) -> None:
        self.kernel, self._p = kernel, p
        self._attraction = Attraction.of(kernel, p)

    def __call__(self, X: Array, w: Array) -> tuple[float, Array]:
        """Return the energy and its gradient at points (d, n)."""
        G = np.empty(X.shape)
        return self.value(X, w, G), self._attraction.turned_back(G)

    def value(self, X: Array, w: Array, G: Array | None = None) -> float:
        """Return the energy; ``G`` is for the gradient along the axes of the mean map."""
        G = np.empty(X.shape) if G is None else G
        return float(energy(G, self._attraction.turned(X), w, *self._arguments))

    def descend(self, X: Array, w: Array, iterations: int, free: Array | None = None) -> Array:
        """Return ``X`` after some iterations of L-BFGS.

        ``free`` (n, d, d) projects the displacement of each point to the axes it may move along.
        """
        a = self._attraction
        P = np.empty((0, *X.shape[:1], *X.shape[:1])) if free is None else a.turned_axes(free)
        return a.turned_back(descend(a.turned(X), w, *self._arguments, iterations, P))

    @property
    def _arguments(self) -> tuple[Array, Array, Array, Array]:
        a = self._attraction
        return self.kernel.scales, a.A, a.b, a.heights

    def weights(self, X: Array, ridge: float, min_ess: float) -> Array:
        """Optimal weights of the points ``X``."""
        x = self.kernel.from_coordinates(X)
        K, c = self.kernel.gram(x, x), self.kernel.mean_map_at(self._p, X)
        return protected_weights(K, c, ridge, min_ess)


@dataclass(frozen=True, eq=False)
class Attraction:
    """Mean map of a mixture, as `_numba.mmd_energy` takes it."""

    A: Array  # (d, d, S K), or (d, S K) where it is diagonal
    b: Array  # (d, S K)
    heights: Array  # (S K,)
    axes: Array | None = None  # rows: common axes of all components, in which A is diagonal

    def turned(self, X: Array) -> Array:
        """Rotate points to the common axes, if any."""
        return np.ascontiguousarray(X if self.axes is None else self.axes @ X)

    def turned_back(self, X: Array) -> Array:
        """The inverse of `turned`."""
        return X if self.axes is None else self.axes.T @ X

    def turned_axes(self, P: Array) -> Array:
        """Rotate projections (n, d, d) to the common axes, if any."""
        return np.ascontiguousarray(P if self.axes is None else self.axes @ P @ self.axes.T)

    @classmethod
    def of(cls, kernel: GaussianKernel, p: GaussianMixture) -> Attraction:
        """Build it for ``p`` in the kernel's coordinates."""
        if p.covariances.ndim == 3:
            return cls._skewed(kernel, kernel.mixture(p))
        aligned = kernel.aligned_mean_map(p)
        return cls(aligned.A, aligned.b, aligned.heights, aligned.axes)

    @classmethod
    def _skewed(cls, kernel: GaussianKernel, p: GaussianMixture) -> Attraction:
        """Build it for one full matrix per component."""
        s = kernel.variances[:, None, None, None]
        W, determinant = whitener(np.eye(p.d) + p.covariances / s)  # (S, K, d, d)
        A = W / np.sqrt(s)
        b = np.einsum("skij,kj->isk", A, p.means)
        heights = kernel.scales[1][:, None] * determinant * p.weights
        return cls(
            np.ascontiguousarray(np.moveaxis(A, (2, 3), (0, 1))).reshape(p.d, p.d, -1),
            np.ascontiguousarray(b).reshape(p.d, -1),
            heights.ravel(),
        )
