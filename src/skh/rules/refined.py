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
from skh._runtime.compile_notice import notice_while_compiling
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture, check_mixture
from skh.kernels.adaptive import adaptive_kernel
from skh.kernels.base import Kernel
from skh.kernels.gaussian_kernel import GaussianKernel, root
from skh.kernels.quadrature_weights import mix_with_equal_weights
from skh.rules.ancestor_sampling import sample_ancestors
from skh.rules.base import P, Rule, WeightedPoints, check_call, checked_points, uses_information
from skh.rules.energy import Energy
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
        points, x, X, square = self._displace(mmd2, Support(kernel, p), p, points, rng)
        w = points.w
        if self.reweigh:
            even = mix_with_equal_weights(w, self.min_ess)
            choices = even, mmd2.weights(X, self.ridge, self.min_ess)
            square, w = min(((mmd2.value(X, w), w) for w in choices), key=lambda found: found[0])
        square += kernel.mean_norm2(p) if norm2 is None else norm2
        component = sample_ancestors(p, x, rng)
        return points.with_fields(x=x, w=w, component=component, mmd=root(square), shift=None)

    def longer(self, factor: float) -> Refine:
        """Return the same with ``factor`` times as many iterations."""
        return replace(self, iterations=round(factor * self.iterations))

    def _displace(
        self,
        mmd2: Energy,
        support: Support,
        p: GaussianMixture,
        points: P,
        rng: np.random.Generator,
    ) -> tuple[P, Array, Array, float]:
        """Return the points to start from, where they move, also in coordinates, and the energy."""
        kernel, k = mmd2.kernel, self.iterations
        if support.fixed and len(p) > len(points):  # the rule has chosen among the masses
            X = kernel.coordinates_of(points.x)
            return points, points.x, X, mmd2.value(X, points.w)
        if not support.scattered:
            free = support.spread_axes(points.component)
            to, square = mmd2.move(points.x, points.w, k, free, support.grid)
            if support.holds(points, to.displacement, to.x):
                return points, to.x, to.end, square
        x, component = draw_points(UNBIASED, p, len(points), rng)
        w, free = np.full(len(x), 1.0 / len(x)), support.resolved_axes(component)
        to, _ = mmd2.move(x, w, k, free, support.grid)
        moved = np.where(support.near(x, to.displacement), to.displacement, 0.0)
        points, X = points.with_fields(x=x, w=w, component=component), kernel.coordinates_of(x)
        return points, x + kernel.from_coordinates(moved), X + moved, mmd2.value(X + moved, w)


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
