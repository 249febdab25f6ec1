"""Pairs of a transition and a measurement model of Stone Soup, which is not imported.

Its models have ``function(state, noise=False, time_interval=...)`` of a state whose vectors are the
columns of ``state_vector``, and ``covar(time_interval=...)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.function_model import as_prior
from skh.filtering.simulator_model import SIMULATED_COMPONENTS
from skh.gaussians.linear_algebra import congruent
from skh.gaussians.mixture import GaussianMixture
from skh.models.elsewhere.gaussian_functions import GaussianModel, gaussian_model


@dataclass
class States:
    """Rows of x as the models of Stone Soup take them."""

    state_vector: Array  # (d, n)
    timestamp: datetime | None

    @property
    def ndim(self) -> int:
        """Number of coordinates."""
        return len(self.state_vector)


@dataclass(frozen=True, eq=False)
class Tracking:
    """The functions and covariances of a pair of models at the times of the observations."""

    transition_model: Any
    measurement_model: Any
    interval: timedelta | None
    timestamps: tuple[datetime, ...] | None
    angles: dict[int, Any]  # entry of y -> function that wraps its residuals

    def f(self, t: int, x: Array) -> Array:
        """Expected states at t + 1."""
        return self._moved(t, x, self.until_next(t))

    def process_noise(self, t: int, x: Array) -> Array:
        """Covariance of the noise from t to t + 1."""
        return self._covariance(self.until_next(t))

    def h(self, t: int, x: Array) -> Array:
        """Expected measurements."""
        return measured(self.measurement_model, States(x.T.copy(), self.time(t)))

    def measurement_noise(self, t: int, x: Array) -> Array:
        """Covariance of the noise of measurements."""
        return covariance(self.measurement_model)

    def residual(self, y: Array, expected: Array) -> Array:
        """Measurements minus expected ones, angles wrapped."""
        difference = y - expected
        for k, wrap in self.angles.items():
            difference[:, k] = wrap(difference[:, k])
        return difference

    def time(self, t: int) -> datetime | None:
        """The time of observation t, None if only intervals are known."""
        if self.timestamps is None:
            return None
        if t >= len(self.timestamps):
            raise ValueError(
                f"timestamps must cover all observations, got {len(self.timestamps)}; t={t}"
            )
        return self.timestamps[t]

    def until_next(self, t: int) -> timedelta:
        """Time from observation t to the next."""
        if self.interval is not None:
            return self.interval
        now, then = self.time(t), self.time(t + 1)
        assert now is not None
        assert then is not None
        return then - now

    def predicted(self, p: GaussianMixture, interval: timedelta) -> GaussianMixture:
        """Return the law of states some time after they had the law ``p``."""
        Q = self._covariance(interval)
        if matrix := getattr(self.transition_model, "matrix", None):
            A = np.asarray(matrix(time_interval=interval), dtype=np.float64)
            S = p.covariances if p.covariances.ndim >= 2 else p.covariance
            return GaussianMixture(p.weights, p.means @ A.T, congruent(A, S, Q))
        x, _ = p.sample(SIMULATED_COMPONENTS, rng=0)
        return GaussianMixture(np.ones(len(x)), self._moved(0, x, interval), Q)

    def _moved(self, t: int, x: Array, interval: timedelta) -> Array:
        states = States(x.T.copy(), self.time(t))
        moved = self.transition_model.function(states, noise=False, time_interval=interval)
        return np.asarray(moved, dtype=np.float64).T

    def _covariance(self, interval: timedelta) -> Array:
        return covariance(self.transition_model, time_interval=interval)


class StoneSoupModel(GaussianModel):
    """A pair of models of Stone Soup; see `from_stonesoup`."""

    def log_likelihood(self, t: int, x: Array, y: Any) -> Array:
        """``log p(y_t | x_t)``, also of a Detection."""
        vector = getattr(y, "state_vector", y)
        return super().log_likelihood(t, x, np.asarray(vector, dtype=np.float64).ravel())


def measured(model: Any, states: States) -> Array:
    """Return expected measurements (n, m), angles as numbers."""
    return np.asarray(model.function(states, noise=False), dtype=np.float64).T


def covariance(model: Any, **kwargs: Any) -> Array:
    """Return the covariance of a model's noise."""
    S = model.covar(**kwargs)
    if S is None or None in np.asarray(S):
        raise ValueError(f"{type(model).__name__}.covar must return numbers, got {S!r}")
    return np.asarray(S, dtype=np.float64)


def from_stonesoup(
    transition_model: Any,
    measurement_model: Any,
    prior: Any,
    *,
    time_interval: timedelta | float | None = None,
    timestamps: Sequence[datetime] | None = None,
) -> GaussianModel:
    """Return a pair of Gaussian models of Stone Soup as a model of this library.

    The models may be linear or not; entries of measurements that are angles (Bearing, Elevation)
    are compared as such.  Observations are vectors or Detections.  Stone Soup is not imported.

    Parameters
    ----------
    transition_model, measurement_model : objects
        With ``function`` and ``covar``, as Stone Soup's Gaussian models have them.
    prior : GaussianState, GaussianMixture or (mean, covariance)
        Law of the state at the first observation; or, if it has a ``timestamp`` and ``timestamps``
        are given, at that time.
    time_interval : timedelta or seconds
        Between observations; or:
    timestamps : sequence of datetime
        The times of all observations.

    Examples
    --------
    >>> import numpy as np, skh
    >>> class Walk:  # in practice stonesoup.models.transition.linear.RandomWalk(1.0)
    ...     def function(self, state, noise=False, time_interval=None): return state.state_vector
    ...     def covar(self, time_interval=None): return [[time_interval.total_seconds()]]
    >>> class Position:  # in practice stonesoup.models.measurement.linear.LinearGaussian(...)
    ...     def function(self, state, noise=False): return state.state_vector
    ...     def covar(self): return [[0.1]]
    >>> model = skh.from_stonesoup(Walk(), Position(), ([0.0], 1.0), time_interval=2.0)
    >>> skh.particle_filter(model, [0.5, 0.7], skh.Stratified(), 10, rng=0).means.shape
    (2, 1)
    """
    for name, model in (
        ("transition_model", transition_model),
        ("measurement_model", measurement_model),
    ):
        _check_model(name, model)
    interval, times = _times(time_interval, timestamps)
    initial = as_prior(_gaussian(prior))
    first = None if times is None else times[0]
    angles = _angles(measurement_model, States(initial.mean[:, None].copy(), first))
    tracking = Tracking(transition_model, measurement_model, interval, times, angles)
    initial = _at_first_observation(tracking, initial, getattr(prior, "timestamp", None))
    pair = gaussian_model(
        initial,
        tracking.f,
        tracking.process_noise,
        tracking.h,
        tracking.measurement_noise,
        residual=tracking.residual,
    )
    return StoneSoupModel(**vars(pair))


def _check_model(name: str, model: Any) -> None:
    missing = [m for m in ("function", "covar") if not callable(getattr(model, m, None))]
    if isinstance(model, type):
        raise TypeError(f"{name} must be an object, not the class {model.__name__}")
    if missing:
        raise TypeError(
            f"{name} must be a Gaussian model with function and covar; got {model!r} without "
            f"{', '.join(missing)}"
        )


def _times(interval: Any, timestamps: Any) -> tuple[timedelta | None, tuple[datetime, ...] | None]:
    """Validate the times: an interval or timestamps, one of them."""
    if (interval is None) == (timestamps is None):
        raise TypeError(
            "give either time_interval or timestamps, "
            + ("got neither" if interval is None else "got both")
        )
    if timestamps is None:
        if not isinstance(interval, timedelta):
            interval = timedelta(seconds=_checks.positive("time_interval", interval))
        if interval <= timedelta(0):
            raise ValueError(f"time_interval must be positive, got {interval}")
        return interval, None
    times = tuple(timestamps)
    wrong = [k for k, time in enumerate(times) if not isinstance(time, datetime)]
    if wrong or not times:
        got = repr(times[wrong[0]]) if wrong else "none"
        raise TypeError(f"timestamps must be datetimes, one for each observation, got {got}")
    for k, (now, then) in enumerate(pairwise(times)):
        if then < now:
            raise ValueError(f"timestamps must not decrease, got {then} after {now} at t={k + 1}")
    return None, times


def _gaussian(prior: Any) -> Any:
    """Return a GaussianState as (mean, covariance); anything else as it is."""
    if hasattr(prior, "state_vector") and hasattr(prior, "covar"):
        mean = np.asarray(prior.state_vector, dtype=np.float64).ravel()
        return mean, np.asarray(prior.covar, dtype=np.float64)
    if not isinstance(prior, GaussianMixture | tuple):
        raise TypeError(
            f"prior must be a GaussianState, a GaussianMixture or (mean, covariance), got {prior!r}"
        )
    return prior


def _angles(model: Any, states: States) -> dict[int, Any]:
    """Return the entries of measurements that are angles, and the functions that wrap them."""
    values = np.asarray(model.function(states, noise=False)).ravel()
    wraps = {k: getattr(type(value), "mod_angle", None) for k, value in enumerate(values)}
    return {k: wrap for k, wrap in wraps.items() if wrap is not None}


def _at_first_observation(
    tracking: Tracking, initial: GaussianMixture, start: datetime | None
) -> GaussianMixture:
    """Predict the prior to the time of the first observation, if both times are known."""
    first = tracking.time(0)
    if first is None or start is None or start == first:
        return initial
    if start > first:
        raise ValueError(
            f"prior must not be later than the first observation, {first}; got {start}"
        )
    return tracking.predicted(initial, first - start)
