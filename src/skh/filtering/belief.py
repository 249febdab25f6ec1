"""Filtering distributions (`Belief`) and the result of a filter run (`FilterResult`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skh import _checks
from skh._typing import Array, Indices
from skh.filtering.likelihood_information import LearnedInformation
from skh.filtering.plans import Look
from skh.gaussians.linear_algebra import mixture_moments
from skh.gaussians.predictive import Predictive
from skh.rules.base import WeightedPoints


class Predicted(NamedTuple):
    """Particles after step 3, before reweighting, with their carried records."""

    points: WeightedPoints
    carry: Any

    @property
    def x(self) -> Array:
        """The particles."""
        return self.points.x

    @property
    def w(self) -> Array:
        """Their weights."""
        return self.points.w


def ancestors(points: WeightedPoints, p: Predictive) -> Indices:
    """Return the particle that the component of each point belongs to."""
    ancestor = points.component // p.components_per_particle
    ancestor.setflags(write=False)
    return ancestor


@dataclass(frozen=True, eq=False)
class Belief:
    """Filtering distribution at time ``t``: particles ``x`` (n, d) with weights ``w`` (n,).

    ``ancestor`` (n,) indexes the particles of the previous step (at t = 0 the prior's components).
    ``carry`` holds the records of a `CarryingModel`, ``z`` the mean and covariance of its hidden
    part given each particle.  ``mmd`` is the quadrature error of this step (NaN if the rule does
    not compute it), ``log_evidence_increment`` estimates log p(y_t | y_{0:t-1}) from
    ``n_likelihood_evaluations`` likelihoods; ``information`` is what they taught so far.  ``looks``
    has a `Look` for each look of a plan such as `SecondLook`; it is empty for a plain rule, and
    without an observation.

    >>> import skh
    >>> belief = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 100, rng=0).step(0.5)
    >>> belief.x.shape, belief.mean.shape, belief.quantile([0.1, 0.9]).shape, belief.ess < 100
    ((100, 3), (3,), (2, 3), True)
    """

    t: int
    x: Array
    w: Array
    ancestor: Indices
    log_evidence_increment: float
    mmd: float
    n_likelihood_evaluations: int
    carry: Any = None
    z: tuple[Array, Array] | None = None
    information: LearnedInformation | None = None  # learned from the likelihoods so far
    looks: tuple[Look, ...] = ()

    @property
    def n_particles(self) -> int:
        """Number of particles returned by the rule."""
        return len(self.w)

    @cached_property
    def mean(self) -> Array:
        """Filtered mean, ``(d,)``."""
        return _checks.read_only(self.w @ self.x)

    @cached_property
    def covariance(self) -> Array:
        """Filtered covariance, ``(d, d)``."""
        centred = self.x - self.mean
        return _checks.read_only((self.w * centred.T) @ centred)

    @cached_property
    def joint_moments(self) -> tuple[Array, Array]:
        """Mean and covariance of (x, z) under the mixture of the particles' Gaussians of z."""
        if self.z is None:
            raise ValueError("the moments of z need a model with hidden_moments(carry)")
        m, P = self.z
        d = self.x.shape[1]
        mean, covariance = mixture_moments(self.w, np.hstack([self.x, m]), _padded(P, d))
        return _checks.read_only(mean), _checks.read_only(covariance)

    @property
    def z_mean(self) -> Array:
        """Filtered mean of z, ``(n_z,)``."""
        return self.joint_moments[0][self.x.shape[1] :]

    @property
    def z_covariance(self) -> Array:
        """Filtered covariance of z, ``(n_z, n_z)``."""
        d = self.x.shape[1]
        return self.joint_moments[1][d:, d:]

    @property
    def ess(self) -> float:
        """Effective sample size, 1 / sum of squared weights."""
        return float(1.0 / (self.w @ self.w))

    def quantile(self, q: ArrayLike) -> Array:
        """Filtered quantiles of each coordinate, ``(..., d)``: the inverse of the weighted CDF."""
        levels = _checks.real_array("q", q)
        if levels.size and not 0 <= levels.min() <= levels.max() <= 1:
            raise ValueError(f"q must be numbers in [0, 1], got {q!r}")
        return np.quantile(self.x, levels, axis=0, weights=self.w, method="inverted_cdf")


def _padded(P: Array, d: int) -> Array:
    """Embed covariances of z in those of (x, z); the x of a particle has no variance."""
    k = P.shape[-1] + d
    padded = np.zeros((len(P), k, k))
    padded[:, d:, d:] = P
    return padded


@dataclass(frozen=True, eq=False)
class FilterResult:
    """Result of `particle_filter` on T observations.

    - ``means`` (T, d), ``covariances`` (T, d, d), ``quantiles`` (T, len(quantiles), d): of x
    - ``log_evidence_increments`` (T,): estimates of log p(y_t | y_{0:t-1})
    - ``ess``, ``n_particles`` (T,): effective sample sizes and numbers of particles
    - ``mmd`` (T,): quadrature errors, NaN if the rule does not compute them
    - ``n_likelihood_evaluations`` (T,): zero where nothing was observed
    - ``looks``: T tuples with a `Look` for each look of a plan; empty for a plain rule
    - ``z_means`` (T, n_z), ``joint_covariances`` (T, d + n_z, d + n_z) of (x, z): for models with a
      hidden part z, else None
    - ``mean_states`` (T, ...): for `skh.geometry.Charted` models (a `Pose` for `SE3`), else None
    - ``history``: the `Belief` of each step with ``history=True``, else None

    With random rules the estimate of the evidence is unbiased.  With `FWQuad`, whose points are
    optimised, it is usually much closer but biased, and can be far off if the kernel variance is
    too small.  For charted models, moments, quantiles and `trajectories` are coordinates, each in
    the chart of its step; ``mean_states`` and `skh.geometry.paths_of` are states.
    """

    means: Array
    covariances: Array
    log_evidence_increments: Array
    ess: Array
    mmd: Array
    n_particles: NDArray[np.intp]
    n_likelihood_evaluations: NDArray[np.intp]
    quantiles: Array
    z_means: Array | None = None
    joint_covariances: Array | None = None
    mean_states: Any = None
    history: tuple[Belief, ...] | None = None
    looks: tuple[tuple[Look, ...], ...] = ()

    @property
    def z_covariances(self) -> Array | None:
        """Filtered covariances of z, (T, n_z, n_z)."""
        d = self.means.shape[1]
        return None if self.joint_covariances is None else self.joint_covariances[:, d:, d:]

    @property
    def log_evidence(self) -> float:
        """Estimate of log p(y_{0:T-1}): the sum of the increments."""
        return float(self.log_evidence_increments.sum())

    def trajectories(self) -> tuple[Array, Array]:
        """Return the paths x_{0:T-1} to the last particles, ``(n, T, d)``, and their weights.

        Needs ``history=True``; the further back, the fewer distinct points.  Ancestors displaced by
        `skh.Smoothed` keep their original x.  For charted models see `skh.geometry.paths_of`.
        """
        path = trace_ancestors(self.history)
        return np.stack([belief.x[line] for belief, line in path], axis=1), path[-1][0].w


def trace_ancestors(history: tuple[Belief, ...] | None) -> list[tuple[Belief, Indices]]:
    """Return each belief with the indices of the last particles' ancestors in it."""
    if history is None:
        raise ValueError("trajectories need particle_filter(..., history=True)")
    path, line = [], np.arange(history[-1].n_particles)
    for belief in reversed(history):
        path.append((belief, line))
        line = belief.ancestor[line]
    return path[::-1]


def quantile_levels(quantiles: ArrayLike) -> Array:
    """Validate quantile levels: a vector of numbers in [0, 1]."""
    levels = np.atleast_1d(_checks.real_array("quantiles", quantiles))
    if levels.ndim != 1 or ((levels < 0) | (levels > 1)).any():
        raise ValueError(f"quantiles must be numbers in [0, 1], got {quantiles!r}")
    return levels


MeanState = Callable[[Belief], Any]  # for models whose states are not vectors


def summary(
    belief: Belief, quantiles: Array, mean_state: MeanState | None = None
) -> dict[str, Any]:
    """Return a belief's row of each field of a `FilterResult`."""
    levels = belief.quantile(quantiles) if len(quantiles) else np.empty((0, belief.x.shape[1]))
    hidden = belief.z and {"z_means": belief.z_mean, "joint_covariances": belief.joint_moments[1]}
    return {
        **(hidden or {}),
        **({"mean_states": mean_state(belief)} if mean_state else {}),
        "means": belief.mean,
        "covariances": belief.covariance,
        "log_evidence_increments": belief.log_evidence_increment,
        "ess": belief.ess,
        "mmd": belief.mmd,
        "n_particles": belief.n_particles,
        "n_likelihood_evaluations": belief.n_likelihood_evaluations,
        "quantiles": levels,
    }


def stack_fields(values: Sequence[Any], axis: int = 0) -> Any:
    """Stack arrays along a new axis; tuples and dicts part by part."""
    first = values[0]
    if isinstance(first, dict):
        return {name: stack_fields([value[name] for value in values], axis) for name in first}
    if not isinstance(first, tuple):
        return np.stack(values, axis)
    parts = [stack_fields(part, axis) for part in zip(*values, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
