"""Filtering distributions: `Belief`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array, Indices
from skh.filtering.likelihood_information import LearnedInformation
from skh.filtering.plans import Look
from skh.gaussians.linear_algebra import mixture_moments
from skh.gaussians.predictive import Predictive
from skh.rules.base import WeightedPoints
from skh.views.html import belief_html, belief_text


class Seconds(NamedTuple):
    """Seconds of a step by the clock: choosing points, evaluating the likelihood, all the rest.

    In a `FilterResult` each part is an array with one number per step.  With `ask` and `tell` the
    time between them counts as likelihood.
    """

    rule: Any
    likelihood: Any
    rest: Any

    @property
    def total(self) -> Any:
        """The sum of the three."""
        return self.rule + self.likelihood + self.rest


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
    each = p.components_per_particle
    ancestor = points.component.view() if each == 1 else points.component // each
    ancestor.setflags(write=False)
    return ancestor


@dataclass(frozen=True, eq=False, repr=False)
class Belief:
    """Filtering distribution at time ``t``: particles ``x`` (n, d) with weights ``w`` (n,).

    ``ancestor`` (n,) indexes the particles of the previous step (at t = 0 the prior's components).
    ``carry`` holds the records of a `CarryingModel`, ``z`` the mean and covariance of its hidden
    part given each particle.  ``mmd`` is the quadrature error of this step (NaN if the rule does
    not compute it), ``log_evidence_increment`` estimates log p(y_t | y_{0:t-1}) from
    ``n_likelihood_evaluations`` likelihoods; ``information`` is what they taught so far.  ``looks``
    has a `Look` for each look of a plan such as `SecondLook`; it is empty for a plain rule, and
    without an observation.  ``n_looks`` counts how often the step asked for likelihoods, and
    ``seconds`` says what its time was spent on (None for a belief that no filter computed).
    ``time`` is when y was observed, if the filter was told.

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
    n_looks: int = 0
    seconds: Seconds | None = None
    time: Any = None  # a number or a date

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
        levels = _checks.levels("q", q)
        return np.quantile(self.x, levels, axis=0, weights=self.w, method="inverted_cdf")

    def __repr__(self) -> str:
        return belief_text(self)

    def _repr_html_(self) -> str:
        return belief_html(self)


def _padded(P: Array, d: int) -> Array:
    """Embed covariances of z in those of (x, z); the x of a particle has no variance."""
    k = P.shape[-1] + d
    padded = np.zeros((len(P), k, k))
    padded[:, d:, d:] = P
    return padded
