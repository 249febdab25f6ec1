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
from dataclasses import dataclass, replace
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
from skh.gaussians.linear_algebra import symmetric
from skh.inference.expected_density import ExpectedDensity
from skh.inference.given_derivatives import given_gradient
from skh.inference.information import moved_models, needs_paths, observed_information
from skh.inference.parameters import Parameters, Theta
from skh.inference.path_density import PathDensity
from skh.inference.smoothing_result import SmoothingResult
from skh.rules.base import Rule

PATHS_PER_PARTICLE = 10  # of averages over paths
INFORMATION_STEP = 0.05  # of differences of the score, which has an error of its own
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
    information: bool | Literal["louis", "differences"] = False,
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
    information : bool, "louis" or "differences"
        Also return the observed information: by Louis' identity from this run (True; see
        `skh.inference.information`), or by differences of the score, 2 p more runs of the filter,
        which is better where the states would tell much more about a parameter than the
        observations do.
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
    by_differences, seed = check_information(information) == "differences", seed_for(rng)
    filtering: dict[str, Any] = {
        "times": times,
        "on_zero_likelihood": on_zero_likelihood,
        "history": True,
    }
    options = {"derivatives": derivatives, "step": step, "paths": paths}

    def at(values: Array, louis: bool) -> Score:
        there = parameters.with_values(values)
        run = particle_filter(there.model(), ys, rule, n, rng=seed, **filtering)
        return _score(run, there, ys, louis, rng=seed, **options)

    found = at(parameters.values, bool(information) and not by_differences)
    if not by_differences:
        return found
    h = steps_of(INFORMATION_STEP, parameters.values)
    differences = differences_of(lambda values: at(values, False).gradient, parameters.values, h)
    return replace(found, information=-differences)


def score_of(
    result: FilterResult,
    make_model: Callable[..., Any],
    theta: Theta,
    ys: Iterable[Any],
    *,
    derivatives: Any = None,
    step: ArrayLike = RELATIVE_STEP,
    information: bool | Literal["louis", "differences"] = False,
    paths: int | None = None,
    rng: RNG = None,
) -> Score:
    """Return the score from a run with ``history=True`` of the filter of ``make_model(theta)``."""
    if check_information(information) == "differences":
        raise ValueError('information="differences" needs more runs of the filter: see skh.score')
    options = {"derivatives": derivatives, "step": step, "paths": paths, "rng": rng}
    parameters = Parameters.of(make_model, theta)
    return _score(result, parameters, as_series(ys), bool(information), **options)


def _score(
    result: FilterResult,
    parameters: Parameters,
    ys: Sequence[Any],
    louis: bool,
    *,
    derivatives: Any,
    step: ArrayLike,
    paths: int | None,
    rng: RNG,
) -> Score:
    """Return the score at ``parameters``, with the information by Louis' identity if asked."""
    model, h, rng = parameters.model(), steps_of(step, parameters.values), _checks.generator(rng)
    ys, smoothed = observed(ys, result), result.smooth(model, rng=rng)
    density = density_of(smoothed, model, ys, paths, rng)
    gradient = gradient_of(density, parameters, h, derivatives)
    evaluations = int(result.n_likelihood_evaluations.sum()) + density.n_likelihoods * 2 * len(h)
    information = None
    if louis:
        drawn = density.paths if isinstance(density, PathDensity) else None
        if drawn is None and needs_paths(smoothed._chain):
            drawn = smoothed.paths(PATHS_PER_PARTICLE * len(smoothed.steps[-1].w), rng=rng)
        information = observed_information(density, parameters, h, drawn)
    run = (result.log_evidence, result, smoothed, evaluations, information)
    return Score(parameters, gradient, *run)


def gradient_of(
    density: ExpectedDensity | PathDensity, parameters: Parameters, h: Array, derivatives: Any
) -> Array:
    """Return the derivatives of the expected log-density, by differences or as given."""
    if derivatives is not None:
        if not isinstance(density, ExpectedDensity):
            raise TypeError("derivatives are for plain models, whose particles carry no records")
        return given_gradient(density, parameters, h, derivatives)
    Q = density.at(moved_models(parameters, h))
    return np.asarray((Q[1::2] - Q[2::2]) / (2 * h))


def density_of(
    smoothed: SmoothingResult, model: Any, ys: Sequence[Any], paths: int | None, rng: RNG
) -> ExpectedDensity | PathDensity:
    """Return the expected log-density: over particles, or over paths if these carry records."""
    carrying = as_carrying(model)
    inner = getattr(carrying, "_model", carrying)  # of a chart
    if isinstance(inner, WithoutCarry) and paths is None:
        return ExpectedDensity(smoothed._chain, smoothed.steps, ys)
    m = (
        PATHS_PER_PARTICLE * len(smoothed._chain.beliefs[-1].w)
        if paths is None
        else _checks.positive_int("paths", paths)
    )
    return PathDensity(smoothed.paths(m, rng=rng), smoothed._chain, ys)


def observed(ys: Sequence[Any], result: FilterResult) -> list[Any]:
    """Return the observations that the filter used, None for those that it skipped."""
    if len(ys) != len(result.means):
        raise ValueError(f"ys must hold the {len(result.means)} observations, got {len(ys)}")
    skipped = np.zeros(len(ys), bool) if result.skipped is None else result.skipped
    return [None if s else y for y, s in zip(ys, skipped, strict=True)]


def check_information(value: Any) -> Any:
    """Validate how the information is to be computed, if at all."""
    if isinstance(value, bool | np.bool_) or value in ("louis", "differences"):
        return value
    raise ValueError(f'information must be True, False, "louis" or "differences", got {value!r}')


def seed_for(rng: RNG) -> int:
    """Return a seed for runs with the same random numbers."""
    return rng if isinstance(rng, int) else int(_checks.generator(rng).integers(2**63))


def differences_of(f: Callable[[Array], Array], at: Array, h: Array) -> Array:
    """Symmetric part of the derivatives of a gradient, by central differences."""
    rows = [(f(at + e) - f(at - e)) / (2 * h[k]) for k, e in enumerate(np.diag(h))]
    return symmetric(np.array(rows))


def steps_of(step: ArrayLike, values: Array) -> Array:
    """Validate the relative steps of differences; return absolute ones, (p,)."""
    relative = _checks.real_array("step", step)
    if relative.shape not in ((), values.shape) or (relative <= 0).any():
        raise ValueError(
            f"step must be a positive number, or one for each of {len(values)} parameters, "
            f"got {step!r}"
        )
    return relative * np.where(values == 0.0, 1.0, np.abs(values))
