r"""The evidence as a smooth function of the parameters: at the fixed particles of one run.

A filter with particles x_t^i at parameters :math:`\theta_0` gives them predictive weights
:math:`\pi_t^i` for the mixture :math:`p_t(x) = \sum_j w_{t-1}^j f_{\theta_0}(x | x_{t-1}^j)`.  At
other parameters the same particles have the weights

.. math::

    \pi_t^i(\theta) = \pi_t^i \, \frac{\sum_j w_{t-1}^j(\theta) f_\theta(x_t^i | x_{t-1}^j)}
                                      {\sum_j w_{t-1}^j f_{\theta_0}(x_t^i | x_{t-1}^j)}, \qquad
    w_t^i(\theta) \propto \pi_t^i(\theta) \, g_\theta(y_t | x_t^i),

and the sums of :math:`\pi_t^i(\theta) g_\theta(y_t | x_t^i)` estimate the evidence.  At
:math:`\theta_0` it is the filter's, to rounding; its gradient there is that of Fisher's identity
with the N^2 recursion of the smoothed score (Poyiadjis, Doucet and Singh, 2011).  No particle
moves, so it is as smooth as the densities are, unlike the filter's own evidence, which jumps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np

from skh._numba.log_sums import log_mixture, log_sum_of_rows
from skh._numba.reweighting import set_reweighted
from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.model_protocols import WithoutCarry, as_carrying, prior_of, propagate, reseeding
from skh.filtering.observations import is_missing
from skh.gaussians.mixture import GaussianMixture
from skh.inference.problem import MakeModel, Problem


@dataclass(frozen=True, eq=False)
class FixedParticles:
    """Estimates the evidence at parameters near those of one filter run, at its particles."""

    make_model: MakeModel
    ys: Sequence[Any]
    x: tuple[Array, ...]
    log_ratios: tuple[Array, ...]  # predictive weights relative to the predictive density

    def increments(self, values: Mapping[str, float]) -> Array:
        """Return the increments of the log-evidence at some parameters, (T,)."""
        model: Any = self.make_model(**values)
        carrying = as_carrying(model)
        out, p = np.zeros(len(self.x)), prior_of(carrying)
        for t, (x, log_ratio, y) in enumerate(zip(self.x, self.log_ratios, self.ys, strict=True)):
            log_weights = log_ratio + log_density(p, x)
            if not is_missing(y):
                log_weights = log_weights + np.asarray(model.log_likelihood(t, x, y))
            w = np.empty(len(x))
            total = set_reweighted(w, np.ones(len(x)), log_weights)
            if not total > -np.inf:
                return np.full(len(self.x), -np.inf)
            out[t] = 0.0 if is_missing(y) else total
            if t + 1 < len(self.x):
                p = propagate(carrying, t, x, w, None)
        return out

    @property
    def n_likelihood_evaluations(self) -> int:
        """Number of likelihoods that one evaluation takes."""
        pairs = zip(self.x, self.ys, strict=True)
        return sum(len(x) for x, y in pairs if not is_missing(y))

    @classmethod
    def of(
        cls, problem: Problem, values: Mapping[str, float], history: Sequence[Belief]
    ) -> FixedParticles:
        """Take the particles of a run of ``problem`` at ``values``."""
        model: Any = problem.model(values)
        carrying, ratios = as_carrying(model), []
        p = prior_of(carrying)
        for belief, y in zip(history, problem.ys, strict=True):
            with np.errstate(divide="ignore"):
                log_prior = np.log(belief.w) + belief.log_evidence_increment
            if not is_missing(y):
                log_likelihood = np.asarray(model.log_likelihood(belief.t, belief.x, y))
                log_prior = log_prior - np.where(belief.w > 0, log_likelihood, 0.0)
            ratios.append(log_prior - log_density(p, belief.x))
            if belief is not history[-1]:
                p = propagate(carrying, belief.t, belief.x, belief.w, None)
        return cls(problem.make_model, problem.ys, tuple(b.x for b in history), tuple(ratios))


def has_densities(model: Any) -> bool:
    """Whether a model's transitions from particle to particle have densities.

    Not if particles carry records (a transition then depends on the whole past), if the model
    can only be simulated, or if a transition leaves some direction without noise.
    """
    carrying = as_carrying(model)
    if not isinstance(carrying, WithoutCarry) or reseeding(carrying) is not None:
        return False
    prior = prior_of(carrying)
    p = propagate(carrying, 0, prior.means, prior.weights, None)
    return is_regular(prior) and is_regular(p)


def is_regular(p: GaussianMixture) -> bool:
    """Whether all components have a density, in any units."""
    S = p.covariance_matrices
    sd = np.sqrt(np.diagonal(S, axis1=-2, axis2=-1))
    if not (sd > 0.0).all():
        return False
    correlations = S / (sd[..., :, None] * sd[..., None, :])
    return bool((np.linalg.eigvalsh(correlations) > 1e-10).all())


def log_density(p: GaussianMixture, x: Array) -> Array:
    """Return the log-density of a mixture with regular components at rows ``x``."""
    S = p.covariances
    S = S[0, 0] if S.shape == (1, 1) else S
    if S.ndim not in (0, 2):
        return np.asarray(log_sum_of_rows(p.log_densities(x)))
    origin = p.means[0]
    if S.ndim == 0:
        root, log_det = 1.0 / np.sqrt(S), 0.5 * p.d * log(S)
        z, means = (x - origin) * root, (p.means - origin) * root
    else:
        L = np.linalg.cholesky(S)
        root, log_det = np.linalg.inv(L).T, float(np.log(np.diagonal(L)).sum())
        z, means = (x - origin) @ root, (p.means - origin) @ root
    with np.errstate(divide="ignore"):
        heights = np.log(p.weights) - (log_det + 0.5 * p.d * log(2 * pi))
    return np.asarray(log_mixture(np.ascontiguousarray(z), np.ascontiguousarray(means.T), heights))
