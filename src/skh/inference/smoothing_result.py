"""The result of smoothing: `SmoothingResult`, weighted particles and moments for each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import RNG, Array, Indices
from skh.gaussians.linear_algebra import factorize, mixture_moments
from skh.gaussians.quantiles import marginal_quantiles


@dataclass(frozen=True, eq=False)
class SmoothedStep:
    """Particles of one step with their weights given all observations.

    ``x`` (n, d) may have been moved from where the filter had them; each then stands for a Gaussian
    with its covariance ``within`` (n, d, d).  ``cross`` (d, d) is Cov(x_{t+1}, x_t), None at the
    end.  ``pruned_pairs`` is the share of the pairs with particles of t + 1 that were left out,
    ``pruned_mass`` the probability that they had.  ``z`` are means (n, n_z) and covariances of the
    hidden part given each particle, of models that have one.
    """

    x: Array
    w: Array
    within: Array | None = None
    cross: Array | None = None
    pruned_pairs: float = 0.0
    pruned_mass: float = 0.0
    z: tuple[Array, Array] | None = None

    @cached_property
    def mean(self) -> Array:
        """Smoothed mean, ``(d,)``."""
        return _checks.read_only(self.w @ self.x)

    @cached_property
    def covariance(self) -> Array:
        """Smoothed covariance, ``(d, d)``."""
        centred = self.x - self.mean
        covariance = (self.w * centred.T) @ centred
        if self.within is not None:
            covariance = covariance + np.einsum("k,kij->ij", self.w, self.within)
        return _checks.read_only(covariance)

    @cached_property
    def joint_moments(self) -> tuple[Array, Array] | None:
        """Mean and covariance of (x, z); None for models without a hidden part."""
        if self.z is None:
            return None
        (m, P), d = self.z, self.x.shape[1]
        covariances = np.zeros((len(m), d + m.shape[1], d + m.shape[1]))
        covariances[:, d:, d:] = P
        return mixture_moments(self.w, np.hstack([self.x, m]), covariances)

    def points(self) -> tuple[Array, Array]:
        """Weighted points: the particles, or two per dimension for Gaussians in their place."""
        used = self.w > 0.0
        if self.within is None:
            return self.x[used], self.w[used]
        return cubature(self.x[used], self.within[used], self.w[used])[:2]

    def quantile(self, q: ArrayLike) -> Array:
        """Smoothed quantiles of each coordinate, ``(..., d)``.

        Between particles the distribution function is interpolated: it is in the middle of its step
        at each of them.
        """
        levels = _checks.levels("q", q)
        if self.within is not None:
            deviations = np.sqrt(np.maximum(np.linalg.diagonal(self.within), 0.0))
            return marginal_quantiles(self.w, self.x, deviations, levels)
        columns = [_interpolated(self.w, column, levels) for column in self.x.T]
        return np.stack(columns, axis=-1)


def cubature(mean: Array, covariance: Array, w: Array) -> tuple[Array, Array, Indices]:
    """Points with the moments of Gaussians (n, d): two per dimension, their weights, their rows."""
    n, d = mean.shape
    root = np.sqrt(d) * factorize(covariance)[1]
    points = mean[:, None] + np.concatenate([root, -root], axis=-1).swapaxes(1, 2)
    return points.reshape(-1, d), np.repeat(w / (2 * d), 2 * d), np.repeat(np.arange(n), 2 * d)


def _interpolated(w: Array, x: Array, levels: Array) -> Array:
    """Quantiles of weighted points in one dimension."""
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(w[order]) - w[order] / 2
    return np.asarray(np.interp(levels, reached / w.sum(), x[order]))


@dataclass(frozen=True, eq=False, repr=False)
class SmoothingResult:
    """Result of `skh.smooth` and `FilterResult.smooth` on T observations.

    - ``means`` (T, d), ``covariances`` (T, d, d): of x_t given all observations
    - ``lag_one_covariances`` (T-1, d, d): Cov(x_{t+1}, x_t) given all observations
    - ``steps``: for each step the particles ``.x`` (n, d) and their weights ``.w``
    - ``z_means`` (T, n_z), ``joint_covariances`` (T, d + n_z, d + n_z) of (x, z): for models with a
      hidden part z (for `skh.models.JumpMarkov` the probabilities of the modes), else None
    - ``mean_states``: for `skh.geometry.Charted` models, else None
    - ``pruned_pairs``, ``pruned_mass`` (T-1,): share of the pairs of particles that were pruned,
      and the probability that they had

    For charted models, moments and quantiles are coordinates, each in the chart of its step.

    >>> import numpy as np
    >>> import skh
    >>> model = skh.models.stochastic_volatility()
    >>> _, ys = model.simulate(30, rng=0)
    >>> smoothed = skh.particle_filter(model, ys, n=20, rng=1, history=True).smooth(model)
    >>> smoothed.paths(5, rng=2).shape
    (5, 30, 1)
    >>> smoothed.expectation(lambda x: np.exp(x[:, 0] / 2)).shape  # the smoothed volatility
    (30,)
    """

    steps: tuple[SmoothedStep, ...]
    mean_states: Any = None
    _chain: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, chain: Any, steps: tuple[SmoothedStep, ...]) -> SmoothingResult:
        """Return the result of smoothing a chain of beliefs."""
        return cls(steps, chain.mean_states(steps), chain)

    @cached_property
    def means(self) -> Array:
        """Smoothed means (T, d)."""
        return _checks.read_only(np.stack([step.mean for step in self.steps]))

    @cached_property
    def covariances(self) -> Array:
        """Smoothed covariances (T, d, d)."""
        return _checks.read_only(np.stack([step.covariance for step in self.steps]))

    @cached_property
    def lag_one_covariances(self) -> Array:
        """Cov(x_{t+1}, x_t) given all observations, (T-1, d, d)."""
        d = self.means.shape[1]
        rows = [step.cross for step in self.steps[:-1] if step.cross is not None]
        return _checks.read_only(np.array(rows).reshape(-1, d, d))

    @cached_property
    def z_means(self) -> Array | None:
        """Smoothed means of z, (T, n_z)."""
        d, moments = self.means.shape[1], [step.joint_moments for step in self.steps]
        rows = [pair[0][d:] for pair in moments if pair is not None]
        return np.stack(rows) if rows else None

    @cached_property
    def joint_covariances(self) -> Array | None:
        """Smoothed covariances of (x, z), (T, d + n_z, d + n_z)."""
        rows = [pair[1] for pair in (step.joint_moments for step in self.steps) if pair is not None]
        return np.stack(rows) if rows else None

    @property
    def pruned_pairs(self) -> Array:
        """Share of the pairs of particles that were pruned at each step, (T-1,)."""
        return np.array([step.pruned_pairs for step in self.steps[:-1]])

    @property
    def pruned_mass(self) -> Array:
        """Smoothed probability of the pruned pairs of each step, (T-1,)."""
        return np.array([step.pruned_mass for step in self.steps[:-1]])

    def quantile(self, q: ArrayLike) -> Array:
        """Smoothed quantiles of each coordinate, ``(T, ..., d)``."""
        return np.stack([step.quantile(q) for step in self.steps])

    def expectation(self, f: Callable[[Array], Array]) -> Array:
        """Smoothed mean of a function of the state, f (n, d) -> (n, ...), for each step."""
        if not callable(f):
            raise TypeError(f"f must be a function of the states, got {f!r}")
        return np.stack([self._mean_of(f, *step.points()) for step in self.steps])

    @staticmethod
    def _mean_of(f: Callable[[Array], Array], x: Array, w: Array) -> Array:
        values = _checks.real_array("what f returns", f(x))
        if values.shape[:1] != w.shape:
            raise ValueError(f"f must return a value for each of {len(w)} rows, got {values.shape}")
        return np.asarray(np.tensordot(w, values, axes=1))

    def paths(self, m: int, *, rng: RNG = None) -> Array:
        """Draw ``m`` paths x_{0:T-1} from their distribution given all observations, (m, T, d).

        Each path has that distribution; they depend on each other, so that their averages are
        closer to it than those of independent ones.
        """
        m, rng = _checks.positive_int("m", m), _checks.generator(rng)
        return self._chain.paths(m, rng)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        T, d = self.means.shape
        return f"SmoothingResult({T} steps, {d} dimensions)"
