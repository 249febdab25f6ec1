"""Sampling rules with equal weights: Monte Carlo, stratified, systematic, quasi-Monte Carlo."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, log2
from typing import ClassVar, Literal, get_args

import numpy as np

from skh._checks import BELOW_ONE
from skh._numba.normal_quantiles import set_normals
from skh._numba.resampling import choose_along, systematic
from skh._numba.sobol_net import scrambled_net
from skh._typing import RNG, Array, Indices
from skh.gaussians.mixture import GaussianMixture
from skh.rules.ancestor_sampling import sample_ancestors
from skh.rules.base import Rule, WeightedPoints, check_call, checked_points
from skh.rules.random_numbers import normals, uniforms
from skh.rules.sobol_directions import sobol_directions

Order = Literal["storage", "hilbert"]
SOBOL_BITS = 52  # all bits of a float in [0, 1) but the last, to keep numbers below one


class Sampling(ABC):
    """Base class of rules that draw points of equal weight."""

    uses_information: ClassVar[bool] = False

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """Draw ``n`` points of ``p`` with equal weights."""
        n, rng = check_call(p, n, rng)
        x, component = self.draw(p, n, rng)
        return WeightedPoints(x, np.full(n, 1 / n), component)

    @abstractmethod
    def draw(self, p: GaussianMixture, n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
        """Draw points (n, d) and their components (n,)."""


def draw_points(
    rule: Rule, p: GaussianMixture, n: int, rng: np.random.Generator
) -> tuple[Array, Indices]:
    """Draw points (n, d) and their components by any rule, ignoring weights."""
    if isinstance(rule, Sampling):  # needs no check
        return rule.draw(p, n, rng)
    points = checked_points(rule(p, n, rng=rng), p)
    if points.shift is None:
        return points.x, points.component
    return points.x, sample_ancestors(p, points.x, rng)  # components of p itself


def _gaussian_draw(
    p: GaussianMixture, component: Indices, rng: np.random.Generator
) -> tuple[Array, Indices]:
    return p.place_chosen(component, normals(rng, len(component), p.d)), component


@dataclass(frozen=True)
class MonteCarlo(Sampling):
    """Independent draws; in a filter, the bootstrap particle filter with multinomial resampling.

    >>> p = GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 1.0)
    >>> points = MonteCarlo()(p, 3, rng=0)
    >>> points.x.shape, points.w.round(2), points.mmd
    ((3, 1), array([0.33, 0.33, 0.33]), nan)
    """

    def draw(self, p: GaussianMixture, n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
        """Draw independent points."""
        return _gaussian_draw(p, p.choose(uniforms(rng, n)), rng)


@dataclass(frozen=True)
class Stratified(Sampling):
    """One component from each of n equal strata of [0, 1): stratified resampling."""

    def draw(self, p: GaussianMixture, n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
        """Choose the k-th component by a number in [k/n, (k+1)/n)."""
        u = (np.arange(n) + uniforms(rng, n)) / n
        return _gaussian_draw(p, p.choose(np.minimum(u, BELOW_ONE)), rng)  # may round to one


@dataclass(frozen=True)
class Systematic(Sampling):
    """As `Stratified`, with one common offset in all strata: systematic resampling."""

    def draw(self, p: GaussianMixture, n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
        """Choose the k-th component by (k + u)/n with one u for all."""
        return _gaussian_draw(p, systematic(p._weights, n, rng.random()), rng)


@dataclass(frozen=True)
class QuasiMonteCarlo(Sampling):
    """A scrambled Sobol sequence in d + 1 dimensions (paper, appendix C.1, "QMC implementation").

    The last coordinate chooses the component by inverse transform, the first d place the point.
    ``order="storage"`` keeps the components' order, as in the paper; ``order="hilbert"`` sorts them
    along a Hilbert curve, as in sequential quasi-Monte Carlo (Gerber and Chopin, 2015).

    >>> p = GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 1.0)
    >>> x = QuasiMonteCarlo()(p, 64, rng=0).x
    >>> bool(abs(x.mean() - 2.0) < 0.05), bool(abs(x.var() - 5.0) < 0.3)
    (True, True)
    """

    order: Order = "hilbert"

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise ValueError(f"order must be 'storage' or 'hilbert', got {self.order!r}")

    def draw(self, p: GaussianMixture, n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
        """Draw points, most evenly if n is a power of two."""
        u, z = scrambled_sobol(n, p.d + 1, rng).T, np.empty((n, p.d))
        component = self._choose(p, u[-1])
        set_normals(z, u[:-1])
        return p.place_chosen(component, z), component

    def _choose(self, p: GaussianMixture, u: Array) -> Indices:
        if self.order == "storage":
            return p.choose(u)
        chosen = np.empty(len(u), np.intp)
        choose_along(chosen, p._weights, p.curve, u)
        return chosen


def scrambled_sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """First n points in (0, 1)^d of a Sobol sequence with a random scramble and shift."""
    directions = sobol_directions(d, max(ceil(log2(n)), 1), SOBOL_BITS)
    m = directions.shape[1]
    # Points are centres of cells: never 0, where quantiles are infinite.
    u = np.empty((d, n))
    scrambled_net(u, directions, rng.random((d, m + 1)), SOBOL_BITS)
    return u.T
