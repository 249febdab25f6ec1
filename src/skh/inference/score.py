r"""The score: the gradient of the log-evidence with respect to the parameters of a model.

By Fisher's identity it is the smoothed gradient of the log-density of states and observations,

.. math:: \nabla_\theta \log p_\theta(y_{0:T-1})
    = E[\nabla_\theta \log p_\theta(x_{0:T-1}, y_{0:T-1}) \mid y_{0:T-1}],

and so needs derivatives of the model's densities only, at the particles of one filter run
(`skh.inference.expected_density`).  Differences of the evidence itself would need many runs, and
see the jumps that it makes when particles are placed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.model_protocols import WithoutCarry, as_carrying
from skh.filtering.observations import as_series
from skh.filtering.plans import Plan
from skh.filtering.result import FilterResult
from skh.filtering.series import particle_filter
from skh.inference.expected_density import ExpectedDensity
from skh.inference.parameters import Parameters, Theta
from skh.inference.path_density import PathDensity
from skh.inference.smoothing_result import SmoothingResult
from skh.rules.base import Rule

RELATIVE_STEP = 1e-4  # of differences: their error is its square, rounding 1e-12 of the values


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """The gradient of the log-evidence at ``parameters``.

    - ``gradient`` (p,): derivatives with respect to the parameters, in the order of ``names``
    - ``log_evidence``: of the filter run ``result``; ``smoothed``: its `SmoothingResult`
    - ``information`` (p, p): observed information, minus the second derivatives; None if not asked
    - ``n_likelihood_evaluations``: of the filter and of the derivatives
    """

    parameters: Parameters
    gradient: Array
    log_evidence: float
    result: FilterResult
    smoothed: SmoothingResult
    n_likelihood_evaluations: int
    information: Array | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters; of a vector ``theta[0]``, ``theta[1]``, ..."""
        return self.parameters.names

    @property
    def values(self) -> Array:
        """The parameters, (p,)."""
        return self.parameters.values

    @property
    def standard_errors(self) -> Array:
        """Square roots of the diagonal of the inverse information, (p,); NaN if it has none."""
        if self.information is None:
            raise ValueError("standard errors need skh.score(..., information=True)")
        sd = np.sqrt(np.abs(np.diagonal(self.information)))
        scale = np.where(sd > 0.0, sd, 1.0)
        inverse = np.linalg.pinv(self.information / np.outer(scale, scale), hermitian=True)
        variances = np.diagonal(inverse) / scale**2
        return np.sqrt(np.where(variances > 0.0, variances, np.nan))

    def __repr__(self) -> str:
        gradient = ", ".join(
            f"{name}={value:.4g}" for name, value in zip(self.names, self.gradient, strict=True)
        )
        return f"Score({gradient}; log_evidence={self.log_evidence:.4f})"


def score(
    make_model: Callable[..., Any],
    theta: Theta,
    ys: Iterable[Any],
    rule: Rule | Plan | None = None,
    n: int = 100,
    *,
    rng: RNG = None,
    times: Iterable[Any] | None = None,
    on_zero_likelihood: Literal["raise", "skip"] = "raise",
    derivatives: Any = None,
    step: ArrayLike = RELATIVE_STEP,
    information: bool = False,
    paths: int | None = None,
) -> Score:
    """Filter, smooth, and return the gradient of the log-evidence at ``theta``.

    Parameters
    ----------
    make_model : function of the parameters that returns a model
        ``make_model(theta)`` for a vector, ``make_model(**theta)`` for a mapping.
    theta : sequence or mapping of numbers
    ys, rule, n, rng, times, on_zero_likelihood : as in `skh.particle_filter`
    derivatives : object, optional
        Has some of ``log_prior(theta, x)``, ``log_transition(theta, t, x, x_next)`` and
        ``log_likelihood(theta, t, x, y)``, each the derivatives (n, p) at the rows of x.  What it
        has not is differentiated numerically, at the fixed particles.  For plain models.
    step : float or (p,)
        Of the central differences, relative to each parameter; absolute for one that is 0.
    information : bool
        Also return the observed information; see `skh.inference.information`.
    paths : int, default 10 n
        For models that carry records: number of paths that the gradient is averaged over.

    Examples
    --------
    >>> import skh
    >>> _, ys = skh.models.stochastic_volatility().simulate(50, rng=0)
    >>> theta = {"persistence": 0.9, "noise": 0.3}
    >>> score = skh.score(skh.models.stochastic_volatility, theta, ys, n=30, rng=1)
    >>> score.names, score.gradient.shape
    (('persistence', 'noise'), (2,))
    """
    parameters, ys = Parameters.of(make_model, theta), as_series(ys)
    run = particle_filter(
        parameters.model(),
        ys,
        rule,
        n,
        rng=rng,
        times=times,
        on_zero_likelihood=on_zero_likelihood,
        history=True,
    )
    options = {"derivatives": derivatives, "step": step, "paths": paths, "rng": rng}
    return score_of(run, make_model, theta, ys, information=information, **options)


def score_of(
    result: FilterResult,
    make_model: Callable[..., Any],
    theta: Theta,
    ys: Iterable[Any],
    *,
    derivatives: Any = None,
    step: ArrayLike = RELATIVE_STEP,
    information: bool = False,
    paths: int | None = None,
    rng: RNG = None,
) -> Score:
    """Return the score from a run with ``history=True`` of the filter of ``make_model(theta)``."""
    parameters, ys = Parameters.of(make_model, theta), observed(as_series(ys), result)
    model, h = parameters.model(), steps_of(step, parameters.values)
    smoothed = result.smooth(model)
    density = density_of(smoothed, model, ys, paths, rng)
    models = [model, *(parameters.moved(s * e) for e in np.diag(h) for s in (1.0, -1.0))]
    Q = density.at(models)
    gradient = (Q[1::2] - Q[2::2]) / (2 * h)
    evaluations = int(result.n_likelihood_evaluations.sum()) + density.n_likelihoods * 2 * len(h)
    return Score(parameters, gradient, result.log_evidence, result, smoothed, evaluations, None)


def density_of(
    smoothed: SmoothingResult, model: Any, ys: Sequence[Any], paths: int | None, rng: RNG
) -> ExpectedDensity | PathDensity:
    """Return the expected log-density: over particles, or over paths if these carry records."""
    carrying = as_carrying(model)
    inner = getattr(carrying, "_model", carrying)  # of a chart
    if isinstance(inner, WithoutCarry) and paths is None:
        return ExpectedDensity(smoothed._chain, smoothed.steps, ys)
    m = 10 * len(smoothed.steps[-1].w) if paths is None else _checks.positive_int("paths", paths)
    return PathDensity(smoothed.paths(m, rng=rng), smoothed._chain, ys)


def observed(ys: Sequence[Any], result: FilterResult) -> list[Any]:
    """Return the observations that the filter used, None for those that it skipped."""
    if len(ys) != len(result.means):
        raise ValueError(f"ys must hold the {len(result.means)} observations, got {len(ys)}")
    skipped = np.zeros(len(ys), bool) if result.skipped is None else result.skipped
    return [None if s else y for y, s in zip(ys, skipped, strict=True)]


def steps_of(step: ArrayLike, values: Array) -> Array:
    """Validate the relative steps of differences; return absolute ones, (p,)."""
    relative = _checks.real_array("step", step)
    if relative.shape not in ((), values.shape) or (relative <= 0).any():
        raise ValueError(
            f"step must be a positive number, or one for each of {len(values)} parameters, "
            f"got {step!r}"
        )
    return relative * np.where(values == 0.0, 1.0, np.abs(values))
