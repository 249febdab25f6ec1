"""Models from plain functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.clock import over, takes_dt
from skh.filtering.model_checks import check_real_numbers
from skh.filtering.model_protocols import Transition
from skh.filtering.parallel import MakesExecutor, ParallelModel, parallel
from skh.gaussians.mixture import GaussianMixture
from skh.views.attributes import checked_names


@dataclass(frozen=True)
class FunctionModel:
    """A model made of functions; see `model_from_functions`."""

    initial: GaussianMixture
    transition_function: Callable[..., Transition]
    log_likelihood_function: Callable[[int, Array, Any], Any]
    batched: bool
    observation_metric: Callable[[int, Array], Array] | None = None
    observe: Callable[..., Any] | None = None
    observation_cdf: Callable[..., Any] | None = None
    state_names: tuple[str, ...] | None = None

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        return self.initial

    def transition(self, t: int, x: Array) -> Transition:
        """The distribution of x_{t+1} given each row of ``x``."""
        return self.transition_function(t, x)

    @property
    def is_timed(self) -> bool:
        """Whether the transition takes dt; see `skh.filtering.clock`."""
        return takes_dt(self.transition_function)

    def over(self, dt: float) -> FunctionModel:
        """The model of a step of length ``dt``."""
        return replace(self, transition_function=over(self.transition_function, dt))

    def log_likelihood(self, t: int, x: Array, y: Any) -> Array:
        """``log p(y_t | x_t)`` at each row of ``x``."""
        f = self.log_likelihood_function
        if self.batched:
            values = check_real_numbers(f(t, x, y), f"model.log_likelihood at t={t}")
            return np.asarray(values, dtype=np.float64)
        return np.array([self._of_row(t, row, y, i) for i, row in enumerate(x)])

    @property
    def likelihood_only(self) -> FunctionModel:
        """What workers need; other functions may be closures, which cannot be pickled."""
        unused: dict[str, Any] = dict.fromkeys(("observation_metric", "observe", "observation_cdf"))
        return replace(self, transition_function=_not_sent, **unused)

    @property
    def row_log_likelihood(self) -> Callable[[int, Array, Any, int], float] | None:
        """The log-likelihood of one row, for workers that say which failed; None if batched."""
        return None if self.batched else self._of_row

    def _of_row(self, t: int, row: Array, y: Any, i: int) -> float:
        return _number(self.log_likelihood_function(t, row, y), t, i)


AnyModel = TypeVar("AnyModel", bound=FunctionModel)


def _not_sent(t: int, x: Array) -> Transition:
    raise RuntimeError("workers evaluate likelihoods only")


def _number(value: Any, t: int, i: int) -> float:
    """Validate the log-likelihood of one particle: a number or an array of size one."""
    where = f"log_likelihood of particle {i} at t={t}"
    array = check_real_numbers(value, where)
    if array.size != 1:
        raise ValueError(f"{where} must return one number, got {value!r}")
    return float(array.item())


def model_from_functions(
    prior: GaussianMixture | tuple[Any, Any],
    transition: Callable[..., Transition],
    log_likelihood: Callable[[int, Array, Any], Any],
    *,
    batched: bool = True,
    observation_metric: Callable[[int, Array], Array] | None = None,
    observe: Callable[..., Any] | None = None,
    observation_cdf: Callable[..., Any] | None = None,
    state_names: Iterable[str] | None = None,
    executor: Executor | MakesExecutor | None = None,
    chunk: int = 1,
    timeout: float | None = None,
    retries: int = 0,
) -> FunctionModel | ParallelModel:
    """Return a model made of plain functions.

    Parameters
    ----------
    prior : GaussianMixture or (mean, covariance)
        Distribution of x_0; the pair means one Gaussian.
    transition : f(t, x) -> (means, covariances)
        For all rows of ``x`` at once, as in `Model`; or f(t, x, dt), with the time since the
        observation before, for observations with times.
    log_likelihood : f(t, x, y) -> (n,) array
        For all rows of ``x`` at once; or, with ``batched=False``, one number for one particle of
        shape (d,), as a renderer or a simulator computes it.
    observation_metric : f(t, x) -> (d, d) or (n, d, d) array, optional
        Fisher information of y_t, common or per row of ``x``, for rules that choose their own
        kernel; without it, the filter learns it from the likelihoods.
    observe : f(t, x, rng) -> y, optional
        Draws y_t given one state (d,), for `ParticleFilter.predict_observation` and `skh.pit`.
    observation_cdf : f(t, x, y) -> (n, m) array, optional
        Distribution function of each entry of y_t at each row of ``x``, for `skh.pit`.
    state_names : strings, optional
        Names of the coordinates, for tables and figures.
    executor : concurrent.futures.Executor, or f() -> Executor, optional
        Workers that evaluate the likelihood, by default one particle per call.
    chunk, timeout, retries
        Particles per call, seconds per particle, and how many times lost particles are computed
        again; see `skh.parallel`.

    Examples
    --------
    >>> import skh
    >>> model = skh.model_from_functions(
    ...     prior=([0.0], 1.0),
    ...     transition=lambda t, x: (0.9 * x, 0.1),
    ...     log_likelihood=lambda t, x, y: -0.5 * (y - x[0]) ** 2,
    ...     batched=False,
    ... )
    >>> skh.particle_filter(model, [0.3, 0.5], skh.Stratified(), 10, rng=0).means.shape
    (2, 1)
    """
    check_functions(transition=transition, log_likelihood=log_likelihood)
    _checks.boolean("batched", batched)
    initial = as_prior(prior)
    options = checked_options(observation_metric, observe, observation_cdf)
    options |= checked_state_names(state_names, initial.d)
    model = FunctionModel(initial, transition, log_likelihood, batched, **options)
    return with_workers(model, executor, chunk, timeout, retries)


def with_workers(
    model: AnyModel,
    executor: Executor | MakesExecutor | None,
    chunk: int,
    timeout: float | None,
    retries: int,
) -> AnyModel | ParallelModel:
    """Let workers evaluate the likelihoods, if there is an executor."""
    if executor is not None:
        return parallel(model, executor, chunk=chunk, timeout=timeout, retries=retries)
    values = {"chunk": (chunk, 1), "timeout": (timeout, None), "retries": (retries, 0)}
    given = [name for name, (value, default) in values.items() if value != default]
    if given:
        names, needs = " and ".join(given), "needs" if len(given) == 1 else "need"
        raise ValueError(f"{names} {needs} an executor, such as executor=ThreadPoolExecutor(8)")
    return model


def check_functions(**functions: Any) -> None:
    """Raise TypeError for anything that is not a function; names are those of arguments."""
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(f"{name} must be a function, got {function!r}")


def checked_options(observation_metric: Any, observe: Any, observation_cdf: Any) -> dict[str, Any]:
    """Validate the functions that a model may have besides; return those that were given."""
    functions = {
        "observation_metric": observation_metric,
        "observe": observe,
        "observation_cdf": observation_cdf,
    }
    given = {name: function for name, function in functions.items() if function is not None}
    check_functions(**given)
    return given


def checked_state_names(names: Iterable[str] | None, d: int) -> dict[str, tuple[str, ...]]:
    """Validate the names of ``d`` coordinates; return them as an option of a model, if given."""
    return {} if names is None else {"state_names": checked_names(names, d, "state_names")}


def as_prior(prior: GaussianMixture | tuple[Any, Any]) -> GaussianMixture:
    """Return the prior as a mixture; (mean, covariance) means one Gaussian."""
    if isinstance(prior, GaussianMixture):
        return prior
    _refuse_pose(prior)
    if not isinstance(prior, tuple) or len(prior) != 2:
        raise TypeError(f"prior must be a GaussianMixture or (mean, covariance), got {prior!r}")
    mean, covariance = prior
    _refuse_pose(mean)
    means = np.atleast_2d(_checks.real_array("prior", mean))
    try:
        return GaussianMixture([1.0], means, covariance)
    except (TypeError, ValueError) as error:
        raise type(error)(f"prior must be a mean and a covariance that fits it: {error}") from error


def _refuse_pose(value: Any) -> None:
    """Raise TypeError for a pose, which is a pair of arrays as well."""
    if hasattr(value, "position") and hasattr(value, "rotation"):
        raise TypeError(
            f"prior must be a GaussianMixture or (mean, covariance) of vectors, got {value!r}: for "
            "poses, write an object whose prior() returns (pose, covariance), and filter the model "
            "skh.geometry.Charted(object, skh.geometry.SE3())"
        )
