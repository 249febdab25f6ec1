"""What a filter knows before an observation, after it (`Belief`), and after a series of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skh import _checks
from skh._typing import Array, Indices
from skh.filtering.likelihood_information import LearnedInformation
from skh.gaussians.linear_algebra import mixture_moments


@dataclass(frozen=True, eq=False)
class Predicted:
    """Particles after step 3, before reweighting, with their carried records."""

    x: Array
    w: Array
    ancestor: Indices
    mmd: float
    carry: Any


@dataclass(frozen=True, eq=False)
class Belief:
    """The filtering distribution at time ``t``: particles ``x`` (n, d) with weights ``w`` (n,).

    ``ancestor`` (n,) points into the particles of the step before (at t = 0: into the components
    of the prior), ``carry`` holds the records of a `CarryingModel`, ``z`` the mean and covariance
    of its hidden part given each particle, ``mmd`` is the error of the quadrature at this step (NaN
    where the rule does not measure it), ``log_evidence_increment`` estimates
    log p(y_t | y_{0:t-1}).

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
    information: LearnedInformation | None = None  # what the likelihoods so far have taught

    @property
    def n_particles(self) -> int:
        """Number of particles that the rule returned."""
        return len(self.w)

    @cached_property
    def mean(self) -> Array:
        """Filtered mean, ``(d,)``."""
        return self.w @ self.x

    @cached_property
    def covariance(self) -> Array:
        """Filtered covariance, ``(d, d)``."""
        centred = self.x - self.mean
        return (self.w * centred.T) @ centred

    @cached_property
    def joint_moments(self) -> tuple[Array, Array]:
        """Mean and covariance of (x, z): those of the mixture of the particles' z."""
        if self.z is None:
            raise ValueError("the moments of z need a model with hidden_moments(carry)")
        m, P = self.z
        d = self.x.shape[1]
        mean, covariance = mixture_moments(self.w, np.hstack([self.x, m]), _padded(P, d))
        return mean, covariance

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
    """Covariances of z as covariances of (x, z) for particles, whose x has no spread."""
    k = P.shape[-1] + d
    padded = np.zeros((len(P), k, k))
    padded[:, d:, d:] = P
    return padded


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The outcome of `particle_filter` on T observations.

    The log-evidence sums the logarithms of the normalising constants of Algorithm 2.  With random
    rules the evidence itself is unbiased.  Points that were *optimised* are no unbiased sample:
    with `FWQuad` the estimate is usually much closer, but biased, and with too small a kernel
    variance it can be far off.

    Of a `skh.geometry.Charted` model, ``means``, ``covariances``, ``quantiles`` and
    `trajectories` are coordinates, each in the chart of its step; ``mean_states`` and
    `skh.geometry.paths_of` are states.
    """

    means: Array  # (T, d)
    covariances: Array  # (T, d, d)
    log_evidence_increments: Array  # (T,)
    ess: Array  # (T,)
    mmd: Array  # (T,): error of the quadrature at each step, NaN where the rule does not know it
    n_particles: NDArray[np.intp]  # (T,)
    n_likelihood_evaluations: NDArray[np.intp]  # (T,): zero where nothing was observed
    quantiles: Array  # (T, len(quantiles), d)
    z_means: Array | None = None  # (T, n_z), where the model has a hidden part z
    joint_covariances: Array | None = None  # (T, d + n_z, d + n_z) of (x, z)
    mean_states: Any = None  # (T, ...): for SE3 a Pose; None for models in R^d, which have means
    history: tuple[Belief, ...] | None = None  # the belief of each step, where it was asked for

    @property
    def z_covariances(self) -> Array | None:
        """Filtered covariances of z, (T, n_z, n_z)."""
        d = self.means.shape[1]
        return None if self.joint_covariances is None else self.joint_covariances[:, d:, d:]

    @property
    def log_evidence(self) -> float:
        """Estimate of log p(y_{0:T-1}); on its bias see above."""
        return float(self.log_evidence_increments.sum())

    def trajectories(self) -> tuple[Array, Array]:
        """The paths x_{0:T-1} that lead to the last particles, ``(n, T, d)``, and their weights.

        Read from the ancestors in the history; the further back, the fewer distinct points.  Those
        that `skh.Smoothed` has moved are read as they were.  For the states of a charted model see
        `skh.geometry.paths_of`.
        """
        path = trace_ancestors(self.history)
        return np.stack([belief.x[line] for belief, line in path], axis=1), path[-1][0].w


def trace_ancestors(history: tuple[Belief, ...] | None) -> list[tuple[Belief, Indices]]:
    """Each belief, with those of its particles that lead to the last ones, one for each."""
    if history is None:
        raise ValueError("trajectories need particle_filter(..., history=True)")
    path, line = [], np.arange(history[-1].n_particles)
    for belief in reversed(history):
        path.append((belief, line))
        line = belief.ancestor[line]
    return path[::-1]


def quantile_levels(quantiles: ArrayLike) -> Array:
    """``quantiles`` as an array of numbers in [0, 1]."""
    levels = np.atleast_1d(_checks.real_array("quantiles", quantiles))
    if levels.ndim != 1 or ((levels < 0) | (levels > 1)).any():
        raise ValueError(f"quantiles must be numbers in [0, 1], got {quantiles!r}")
    return levels


MeanState = Callable[[Belief], Any]  # of a model whose states are no vectors


def summary(
    belief: Belief, quantiles: Array, mean_state: MeanState | None = None
) -> dict[str, Any]:
    """What a belief contributes to each field of a `FilterResult`."""
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
    """Arrays along a new axis; of tuples and dicts, part by part."""
    first = values[0]
    if isinstance(first, dict):
        return {name: stack_fields([value[name] for value in values], axis) for name in first}
    if not isinstance(first, tuple):
        return np.stack(values, axis)
    parts = [stack_fields(part, axis) for part in zip(*values, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
