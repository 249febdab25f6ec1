r"""Gaussian mixtures, the predictive distributions of particle filters (eq. 4 of the paper).

:math:`p(x) = \sum_{i=1}^K \pi_i \mathcal N(x | \mu_i, \Sigma_i)`, one component per particle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._numba.gaussian_draws import place_alike, place_balls, place_rows
from skh._numba.gaussian_products import multiplied
from skh._numba.resampling import inverse_transform, look_up
from skh._numba.spreads import set_moments
from skh._runtime.lazy import lazy
from skh._runtime.threads import in_threads
from skh._typing import RNG, Array, Indices
from skh.gaussians.bump import Bump
from skh.gaussians.densities import LogDensities
from skh.gaussians.hilbert_curve import hilbert_order
from skh.gaussians.linear_algebra import (
    check_and_factorize,
    factorize,
    identity,
    right_divide,
    symmetric,
    transpose,
)
from skh.gaussians.quantiles import marginal_quantiles


@dataclass(frozen=True, eq=False, repr=False)
class GaussianMixture:
    """A mixture of ``K`` Gaussians in ``d`` dimensions.

    Parameters
    ----------
    weights : (K,)
        Non-negative; scaled to sum to one.
    means : (K, d)
    covariances : () or (K,) or (d, d) or (K, d, d)
        One variance for all components and directions, one variance per component, one matrix for
        all components, or one matrix per component.  Singular matrices and zero (a Dirac mass) are
        allowed.  Pass a diagonal as ``np.diag(...)``: the shape (d,) is ambiguous where K = d.

    Examples
    --------
    >>> p = GaussianMixture([0.25, 0.75], [[0.0], [4.0]], 1.0)
    >>> p.mean, p.covariance
    (array([3.]), array([[4.]]))
    >>> [a.shape for a in p.sample(5, rng=0)]  # points and their components
    [(5, 1), (5,)]
    """

    weights: Array
    means: Array
    covariances: Array
    _weights: Array = field(init=False)
    _means: Array = field(init=False)

    def __init__(self, weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> None:
        w = _checks.probabilities("weights", weights)
        m = _checks.points("means", means).copy()  # the caller may reuse the array
        _checks.same_length("means", m, "weights", len(w))
        S = _checks.covariances(covariances, *m.shape)
        if S.ndim >= 2:
            S, self.__dict__["_factors"] = check_and_factorize("covariances", S)
        self._keep(w, m, S)

    def _keep(self, weights: Array, means: Array, covariances: Array) -> None:
        """Take ownership of the arrays; public attributes are read-only views."""
        self.__dict__.update(
            weights=_checks.read_only(weights),
            means=_checks.read_only(means),
            covariances=_checks.read_only(covariances),
            _weights=weights,  # writable: Numba would compile again for read-only arrays
            _means=means,
        )

    @staticmethod
    def _known(weights: Array, means: Array, covariances: Array) -> GaussianMixture:
        """Build a mixture from arrays that need no checks."""
        p = object.__new__(GaussianMixture)
        p._keep(weights, means, covariances)
        return p

    @lazy
    def _factors(self) -> Array:
        """Square roots of the covariances."""
        S = self.covariances
        return np.sqrt(S) if S.ndim <= 1 else factorize(S)[1]

    def _derived(self, p: GaussianMixture, A: Array | None = None) -> GaussianMixture:
        """Hook for subclasses: attach metadata to ``p``, derived from this mixture (by ``A``)."""
        return p

    @lazy
    def d(self) -> int:
        """Dimension of the space."""
        return int(self.means.shape[1])

    def __len__(self) -> int:
        """Number of components."""
        return len(self.weights)

    def __repr__(self) -> str:
        mean = np.array2string(self.mean, precision=4, threshold=6, edgeitems=3, separator=", ")
        return f"{type(self).__name__}(K={len(self)}, d={self.d}, mean={mean})"

    @lazy
    def mean(self) -> Array:
        """Mean of the mixture, ``(d,)``."""
        return self._moments_of_means[0]

    @lazy
    def covariance(self) -> Array:
        """Covariance of the mixture, ``(d, d)``: within plus between components."""
        return _checks.sealed(self._mean_covariance() + self.covariance_of_means)

    @property
    def covariance_of_means(self) -> Array:
        """Covariance of the components' means, ``(d, d)``."""
        if (covariance := self._moments_of_means[1]) is not None:
            return covariance
        raise ValueError(
            "means must be close enough to each other to have a finite covariance, got "
            f"numbers from {self.means.min():g} to {self.means.max():g}"
        )

    @lazy
    def _moments_of_means(self) -> tuple[Array, Array | None]:
        """Mean and covariance of the components' means; None if it overflows."""
        mean, covariance = np.empty(self.d), np.empty((self.d, self.d))
        if set_moments(mean, covariance, self._weights, self._means):
            return _checks.sealed(mean), _checks.sealed(covariance)
        return _checks.sealed(self._weights @ self._means), None

    def _mean_covariance(self) -> Array:
        S = self.covariances
        if S.ndim in (0, 1):
            return np.eye(self.d) * (S if S.ndim == 0 else self.weights @ S)
        return S if S.ndim == 2 else np.einsum("k,kij->ij", self.weights, S)

    @lazy
    def covariance_matrices(self) -> Array:
        """Covariance of each component, ``(K, d, d)``, for all forms of ``covariances``."""
        S = self.covariances
        if S.ndim in (0, 1):
            S = np.multiply.outer(S, np.eye(self.d))
        return np.broadcast_to(S, (len(self), self.d, self.d))

    @lazy
    def curve(self) -> Indices:
        """Indices of the components in the Hilbert order of their means."""
        return hilbert_order(self._means)

    def linear_map(self, A: Array) -> GaussianMixture:
        """Distribution of ``A x`` for ``x`` from this mixture."""
        A = _checks.shaped("A", A, "m", self.d)
        S = symmetric(A @ self.matrices @ A.T)
        return self._derived(self._known(self._weights, self.means @ A.T, S), A)

    @lazy
    def matrices(self) -> Array:
        """Covariance matrix shared by all components, (d, d), or one for each, (K, d, d)."""
        own = self.covariances.ndim in (1, 3)
        return self.covariance_matrices if own else self._mean_covariance()

    def widened(self, factor: float) -> GaussianMixture:
        """Return the mixture with all covariances multiplied by ``factor``."""
        factor = _checks.positive("factor", factor)
        return self.with_components(self._means, np.asarray(factor * self.covariances))

    def shrunk(self, share: float) -> GaussianMixture:
        """Move a ``share`` of the covariance of the means to all components; keep moments."""
        share = _checks.fraction("share", share)
        means = self.mean + (1 - share) ** 0.5 * (self.means - self.mean)
        return self.with_components(means, self.matrices + share * self.covariance_of_means)

    def with_components(self, means: Array, covariances: Array) -> GaussianMixture:
        """Return the mixture with other components, valid ones, of the same weights."""
        return self._derived(self._known(self._weights, means, covariances))

    def selected(self, index: Indices, weights: Array | None = None) -> GaussianMixture:
        """Return the mixture of the components ``index``, with relative weights of their own."""
        index = _checks.indices("index must hold numbers", index, len(self))
        w, S = self.weights[index] if weights is None else weights, self.covariances
        S = S[index] if S.ndim in (1, 3) else S.copy()
        return self._derived(self._known(w / w.sum(), self.means[index], S))

    def times(self, bump: Bump) -> tuple[GaussianMixture, float]:
        """Return p times ``bump``, normalised, and the logarithm of its integral.

        Components keep their order; those that shared a covariance still do.

        >>> p = GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 1.0)
        >>> q, log_Z = p.times(Bump(0.0, np.zeros(1), np.eye(1), np.zeros(1)))
        >>> q.means.ravel(), q.covariances, q.weights.round(3)
        (array([0., 2.]), array([[0.5]]), array([0.982, 0.018]))
        """
        if not isinstance(bump, Bump) or len(bump.b) != self.d:
            raise TypeError(f"bump must be a Bump in {self.d} dimensions, got {bump!r}")
        b, H, m = (np.array(a, order="C") for a in (bump.b, bump.H, bump.m))  # all writable
        means, S, w, log_norm = multiplied(self._weights, self._means, self._roots, bump.c, b, H, m)
        shared = self.covariances.ndim in (0, 2)
        return self._derived(self._known(w, means, S[0] if shared else S)), log_norm

    @property
    def _roots(self) -> Array:
        """Square roots of the covariance matrices, (1, d, d) if components share it."""
        L = self._factors
        if L.ndim <= 1:
            L = np.multiply.outer(L, identity(self.d))
        return L.reshape(-1, self.d, self.d)

    def choose(self, u: Array) -> Indices:
        """Component of each ``u`` in [0, 1) by inverse transform, in storage order."""
        u = _checks.below_one("u", u)
        cumulative = np.cumsum(self.weights)
        cumulative /= cumulative[-1]
        shared = in_threads(look_up, len(u))
        find = inverse_transform if shared is look_up else shared  # faster for sorted u
        chosen: Indices = find(cumulative, u)
        return chosen

    def place(self, component: Indices, z: Array) -> Array:
        """Map standard normal ``z`` (n, d) to points of the given components (n,)."""
        component = _checks.indices("component must hold numbers", component, len(self))
        return self.place_chosen(component, _checks.shaped("z", z, len(component), self.d))

    def place_chosen(self, component: Indices, z: Array) -> Array:
        """`place` without checks."""
        L, x, z = self._factors, np.empty(z.shape), np.ascontiguousarray(z)
        place = place_balls if L.ndim < 2 else place_rows if L.ndim == 3 else place_alike
        factors = L.reshape(-1) if L.ndim < 2 else L
        in_threads(place, len(component))(x, self._means, factors, component, z)
        return x

    def divided(self, B: Array) -> Array:
        """``inv(S) @ B`` for the covariance S of each component, (K, d, d), or of all, (d, d).

        Directions without variance are ignored.
        """
        return transpose(right_divide(transpose(B), self.matrices))

    @lazy
    def densities(self) -> LogDensities:
        """Log-densities of the components, prepared for many points."""
        variances = self.covariance.diagonal()
        return LogDensities.of(self._weights, self._means, self.covariances, self.mean, variances)

    def log_densities(self, x: Array) -> Array:
        """``log(weights[k] N(x | means[k], covariances[k]))`` for rows x, ``(n, K)``.

        Point masses and other singular components: see `gaussians.densities`.
        """
        return self.densities.at(_checks.points("x", x, self.d))

    def quantile(self, q: ArrayLike) -> Array:
        """Quantiles of each coordinate, ``(..., d)``, to the last digit; point masses included.

        >>> GaussianMixture([0.5, 0.5], [[0.0], [4.0]], [1.0, 0.0]).quantile([0.4, 0.9]).round(4)
        array([[0.8416],
               [4.    ]])
        """
        levels = _checks.levels("q", q)
        variances = np.diagonal(self.covariance_matrices, axis1=1, axis2=2)
        return marginal_quantiles(self.weights, self.means, np.sqrt(variances), levels)

    def sample(self, n: int, *, rng: RNG = None) -> tuple[Array, Indices]:
        """Draw ``n`` independent points; return them and their components."""
        n = _checks.positive_int("n", n)
        rng = _checks.generator(rng)
        component = self.choose(rng.random(n))
        return self.place_chosen(component, rng.standard_normal((n, self.d))), component


def check_mixture(name: str, value: object) -> None:
    """Raise a TypeError unless ``value`` is a GaussianMixture."""
    if not isinstance(value, GaussianMixture):
        raise TypeError(f"{name} must be a GaussianMixture, got {value!r}")
