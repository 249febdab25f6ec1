"""What a filter knows after a step (`Belief`) and after a series (`FilterResult`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skh._checks import Array, Indices


@dataclass(frozen=True, eq=False)
class Belief:
    """The filtering distribution at time ``t``: particles ``x`` (n, d) with weights ``w`` (n,).

    ``ancestor`` (n,) points into the particles of the step before, ``carry`` holds the records of a
    `CarryingModel`, ``mmd`` is the error of the quadrature at this step (NaN where the rule does
    not measure it), ``log_evidence_increment`` estimates log p(y_t | y_{0:t-1}).
    """

    t: int
    x: Array
    w: Array
    ancestor: Indices
    log_evidence_increment: float
    mmd: float
    n_likelihood_evaluations: int
    carry: Any = None

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

    @property
    def ess(self) -> float:
        """Effective sample size, 1 / sum of squared weights."""
        return float(1.0 / (self.w @ self.w))

    def quantile(self, q: ArrayLike) -> Array:
        """Filtered quantiles of each coordinate, ``(..., d)``: the inverse of the weighted CDF."""
        levels = np.asarray(q, dtype=np.float64)
        return np.quantile(self.x, levels, axis=0, weights=self.w, method="inverted_cdf")


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The outcome of `particle_filter` on T observations.

    The log-evidence sums the logarithms of the normalising constants of Algorithm 2.  With random
    rules the evidence itself is unbiased.  Points that were *optimised* are no unbiased sample:
    with `FWQuad` the estimate is usually much closer, but biased, and with too small a kernel
    variance it can be far off.
    """

    means: Array  # (T, d)
    covariances: Array  # (T, d, d)
    log_evidence_increments: Array  # (T,)
    ess: Array  # (T,)
    mmd: Array  # (T,): error of the quadrature at each step, NaN where the rule does not know it
    n_particles: NDArray[np.intp]  # (T,)
    n_likelihood_evaluations: NDArray[np.intp]  # (T,): zero where nothing was observed
    quantiles: Array  # (T, len(quantiles), d)
    history: tuple[Belief, ...] | None  # the belief of each step, where it was asked for

    @property
    def log_evidence(self) -> float:
        """Estimate of log p(y_{0:T-1}); on its bias see above."""
        return float(self.log_evidence_increments.sum())

    def trajectories(self) -> tuple[Array, Array]:
        """The paths x_{0:T-1} that lead to the last particles, ``(n, T, d)``, and their weights.

        Read from the ancestors in the history; the further back, the fewer distinct points.
        """
        if self.history is None:
            raise ValueError("trajectories need particle_filter(..., history=True)")
        path, line = [], np.arange(self.history[-1].n_particles)
        for belief in reversed(self.history):
            path.append(belief.x[line])
            line = belief.ancestor[line]
        return np.stack(path[::-1], axis=1), self.history[-1].w


def summary(belief: Belief, quantiles: Sequence[float]) -> dict[str, Any]:
    """What a belief contributes to each field of a `FilterResult`."""
    levels = belief.quantile(quantiles) if quantiles else np.empty((0, belief.x.shape[1]))
    return {
        "means": belief.mean,
        "covariances": belief.covariance,
        "log_evidence_increments": belief.log_evidence_increment,
        "ess": belief.ess,
        "mmd": belief.mmd,
        "n_particles": belief.n_particles,
        "n_likelihood_evaluations": belief.n_likelihood_evaluations,
        "quantiles": levels,
    }
