r"""Fisher information of observations, learned from log-likelihoods while filtering.

The values :math:`\ell_i = \log p(y_t | x_i)` show how sharply the likelihood falls off, and in
which directions.  `fitted_information` fits a function f to them; its mean curvature under the
posterior,

.. math:: F = -E[\nabla^2 f],

is the Fisher information in the state, zero along directions that y_t does not depend on.

With hardly more particles than dimensions, many functions fit.  f is a Gaussian process whose
covariance has the information S learned so far, plus a little in every direction, as its metric.
Each step thus learns what previous steps did not explain, and a likelihood that depends on few
directions is learned within a few steps, although no single step has enough particles (compare the
recursive feature machines of Radhakrishnan et al., 2024).  The marginal likelihood decides at each
step whether f is a parabola, which needs far fewer particles and is exact for Gaussian
observations, or a general smooth function.

A model may give F itself: ``observation_metric(t, x)`` returns ``(n, d, d)``, one for each row of
x, or one ``(d, d)``, for instance :math:`H^\top R^{-1} H`.  In charts it is about the increments
around a state, like the covariances of transitions.  Where it depends on what was observed (on the
landmarks in view, say), ``information(t, x, y)`` with the arguments of ``log_likelihood`` returns
it; if y is not known yet (`ParticleFilter.ask`), F is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skh._numba.likelihood_fit import set_information
from skh._runtime.lazy import lazy
from skh._typing import Array, Indices
from skh.filtering.model_protocols import CarryingModel, gather
from skh.gaussians.linear_algebra import read_only, symmetric
from skh.gaussians.predictive import Predictive

POOLING_WINDOW = 30  # steps over which information is pooled
HEAD_START = 3.0  # weight of a step relative to earlier ones, whose fits were poorer
TOLD_AT = 16  # number of components at which a model tells the information of y, at most


def tells_information(model: object) -> bool:
    """Whether a model gives the information of its observations itself, or residuals."""
    names = "observation_metric", "information_at", "information", "residuals"
    return any(getattr(model, name, None) is not None for name in names)


def with_step_information(
    informant: Any, t: int, p: Predictive, belief: Any, y: Any
) -> tuple[Predictive, Array | None]:
    """Return ``p`` with the information of y_t that the model tells, else with that learned.

    The second is the information again if it was learned, else None.
    """
    told = None
    if informant is not None:
        told = model_information(informant, t, p, getattr(belief, "carry", None), y)
    if told is not None:
        return p.with_information(told, told=True), None
    learned = getattr(belief, "information", None)
    if learned is None:
        return p, None
    return p.with_information(learned.matrix), learned.matrix


def model_information(model: Any, t: int, p: Predictive, carry: Any, y: Any) -> Array | None:
    """Average what the model tells over components of ``p``: (d, d), None if it needs y.

    A model whose coordinates depend on the records has ``information_at(t, x, carry)`` in place of
    ``observation_metric(t, x)``.
    """
    if y is not None and getattr(model, "information", None) is not None:
        return _information_of(model, t, p, carry, y)
    if information_at := getattr(model, "information_at", None):
        F = information_at(t, p.means, carry)
    elif metric := getattr(model, "observation_metric", None):
        F = metric(t, p.means)
    else:
        return None
    F = check_information(F, t, *p.means.shape)
    return symmetric(F if F.ndim == 2 else np.einsum("k,kij->ij", p.weights, F))


def _information_of(model: Any, t: int, p: Predictive, carry: Any, y: Any) -> Array:
    """Average ``model.information`` over a few components, because it may cost a likelihood."""
    rows, share = representatives(p.weights)
    records = gather(carry, rows // p.components_per_particle)
    last = (records,) if isinstance(model, CarryingModel) else ()
    F = model.information(t, p.means[rows], y, *last)
    F = check_information(F, t, len(rows), p.d, "information")
    return symmetric(F if F.ndim == 2 else np.einsum("k,kij->ij", share, F))


def representatives(w: Array) -> tuple[Indices, Array]:
    """Return at most `TOLD_AT` rows and their weights: all, or a systematic sample."""
    if len(w) <= TOLD_AT:
        return np.arange(len(w)), w
    levels = (np.arange(TOLD_AT) + 0.5) / TOLD_AT * w.sum()
    rows = np.searchsorted(np.cumsum(w), levels).clip(max=len(w) - 1)
    return rows, np.full(TOLD_AT, 1.0 / TOLD_AT)


def check_information(F: Any, t: int, n: int, d: int, method: str = "observation_metric") -> Array:
    """Validate what ``observation_metric`` or ``information`` returns for n rows."""
    information: Array = np.asarray(F, dtype=np.float64)
    if information.shape not in ((d, d), (n, d, d)) or not np.isfinite(information).all():
        raise ValueError(
            f"model.{method} at t={t} must return finite numbers of shape "
            f"({d}, {d}) or ({n}, {d}, {d}), got shape {information.shape}"
        )
    return information


@dataclass(frozen=True, eq=False)
class LearnedInformation:
    """Information learned up to a step, computed on demand from its likelihoods."""

    x: Array  # (n, d): the particles of the last step with an observation
    w: Array  # (n,): their weights before it
    log_likelihood: Array  # (n,)
    pooled: Array | None = None  # (d, d): information of the earlier steps, if any
    steps: int = 0  # number of earlier steps

    @lazy
    def matrix(self) -> Array:
        """Pooled information, (d, d): symmetric, possibly indefinite."""
        d, ascending = self.x.shape[1], self.log_likelihood.copy()
        ascending.sort()
        told = read_only(self.x), read_only(self.w), self.log_likelihood
        share = max(HEAD_START / (self.steps + HEAD_START), 1.0 / POOLING_WINDOW)
        pooling = (np.zeros((d, d)), 1.0) if self.pooled is None else (self.pooled, share)
        F = np.empty((d, d))
        if not set_information(F, *told, ascending, *pooling):
            raise np.linalg.LinAlgError("covariance of the fit is not positive definite")
        return F

    def then(
        self, x: Array, w: Array, log_likelihood: Array, pooled: Array | None
    ) -> LearnedInformation:
        """Add a step; ``pooled`` is this `matrix` if the rule used it, None skips this step."""
        kept, steps = (self.pooled, self.steps) if pooled is None else (pooled, self.steps + 1)
        after = object.__new__(LearnedInformation)  # four times as fast as its __init__
        after.__dict__.update(x=x, w=w, log_likelihood=log_likelihood, pooled=kept, steps=steps)
        return after


def learned_from(
    before: LearnedInformation | None, told: tuple[Array, Array, Array], pooled: Array | None
) -> LearnedInformation:
    """Add a step's particles, weights and log-likelihoods; ``pooled`` as in `then`."""
    return LearnedInformation(*told) if before is None else before.then(*told, pooled)


def median(values: Array) -> float:
    """`numpy.median`, which takes 30 microseconds."""
    n, order = len(values), values.copy()
    order.sort()
    return float(order[(n - 1) // 2] + order[n // 2]) / 2
