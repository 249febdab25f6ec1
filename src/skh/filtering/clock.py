"""Real time: when observations were made, and models whose transitions depend on the time between.

A model that wants the time since the observation before has a parameter ``dt`` in its methods
``transition`` (and ``move``, if it carries records)::

    class Brownian:  # diffuses for dt seconds
        def prior(self): return skh.GaussianMixture([1.0], [[0.0]], 1.0)
        def transition(self, t, x, dt): return x, 0.1 * dt
        def log_likelihood(self, t, x, y): return -0.5 * (y - x[:, 0]) ** 2

So have functions given to `skh.model_from_functions` and `skh.RaoBlackwellized`.  A model made of
other models has a method ``over(dt)`` instead, which returns the model of a step of that length.
Times are numbers in any unit, or dates, between which ``dt`` is in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh import _checks
from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.model_protocols import Carry, CarryingModel, Transition, WithoutCarry

Time = float | np.datetime64
NANOSECONDS = np.dtype("datetime64[ns]")


def takes_dt(function: Any) -> bool:
    """Whether a function has a parameter ``dt`` that `over` has not given yet."""
    if isinstance(function, partial) and "dt" in function.keywords:
        return False
    try:
        return "dt" in signature(function).parameters
    except (TypeError, ValueError):  # built-in functions have no signature
        return False


def over(function: Callable[..., Any], dt: float) -> Callable[..., Any]:
    """Return a function with its parameter ``dt`` given, if it has one."""
    return partial(function, dt=dt) if takes_dt(function) else function


def wants_dt(model: Any) -> bool:
    """Whether the transitions of a model depend on the time between observations."""
    model = model.model if isinstance(model, WithoutCarry) else model
    timed = getattr(model, "is_timed", True)  # a wrapper says whether what it wraps is
    return (hasattr(model, "over") and bool(timed)) or takes_dt(model.transition)


def model_over(model: Any, dt: float) -> Any:
    """Return a carrying model whose transitions are those of a step of length ``dt``."""
    if isinstance(model, WithoutCarry):
        inner = model.model
        return WithoutCarry(inner.over(dt) if hasattr(inner, "over") else PlainOver(inner, dt))
    return model.over(dt) if hasattr(model, "over") else CarryingOver(model, dt)


@dataclass(frozen=True)
class Over:
    """A model during a step of length ``dt``: what a subclass does not say is the model's own."""

    model: Any
    dt: float

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "model"), name)


class PlainOver(Over):
    """A plain model during a step of length ``dt``."""

    def transition(self, t: int, x: Array) -> Transition:
        """The distribution of the next x, ``dt`` later."""
        return self.model.transition(t, x, dt=self.dt)  # type: ignore[no-any-return]


class CarryingOver(Over):
    """A model that carries records during a step of length ``dt``."""

    def transition(self, t: int, x: Array, carry: Carry) -> Transition:
        """The distribution of the next x, ``dt`` later."""
        return self.model.transition(t, x, carry, dt=self.dt)  # type: ignore[no-any-return]

    def move(self, t: int, x: Array, carry: Carry, x_next: Array) -> Carry:
        """The records of particles that have moved to ``x_next``, ``dt`` later."""
        return over(self.model.move, self.dt)(t, x, carry, x_next)

    @property
    def joint_transition(self) -> Callable[..., Transition] | None:
        """The distribution of the next (x, z), ``dt`` later, if the model has it."""
        joint = getattr(self.model, "joint_transition", None)
        return joint and over(joint, self.dt)


class ModelOverTime:
    """A model, which may want to know the time between observations."""

    def __init__(self, model: CarryingModel) -> None:
        self.model, self.is_timed = model, wants_dt(model)

    def until(self, last: Belief | None, time: Time | None) -> CarryingModel:
        """Return the model of a step from the last belief to an observation at ``time``."""
        if time is None and not self.is_timed and (last is None or last.time is None):
            return self.model  # the usual case, fast
        if self.is_timed and time is None:
            raise TypeError(
                "t must be the time of the observation, step(y, t=...) or times=...: the model's "
                "transition takes dt"
            )
        dt = None if last is None else checked_dt(last.time, time)
        over_time: CarryingModel = self.model
        if dt is not None and self.is_timed:
            over_time = model_over(self.model, dt)
        return over_time

    def ahead(self, last: Belief | None, time: Time | None, h: int) -> CarryingModel:
        """Return the model of one of h equal steps to ``time``, for predictions."""
        if not self.is_timed or (last is None and h == 1):
            return self.model
        if last is None or time is None:
            raise TypeError(
                "t must be the time to predict for, predict(h, t=...), after a first observation: "
                "the model's transition takes dt"
            )
        over_time: CarryingModel = model_over(self.model, checked_dt(last.time, time) / h)
        return over_time


def checked_dt(now: Time | None, time: Time | None) -> float:
    """Validate the time of the next observation; return the time until then."""
    if now is None or time is None:
        raise ValueError(
            f"t must be given at every step or at none, got t={time} after a step at t={now}"
        )
    if isinstance(time, float) != isinstance(now, float):
        raise TypeError(f"t must be of the kind of the time before, {now}, got {time}")
    if not time > now:
        raise ValueError(f"t must be later than the time before, {now}, got {time}")
    return elapsed(now, time)


def elapsed(before: Any, after: Any) -> float:
    """Return the time between; for dates in seconds."""
    if isinstance(before, float):
        return float(after - before)
    return float((after - before) / np.timedelta64(1, "s"))


def as_time(value: Any, name: str = "t") -> Time | None:
    """Validate a time: a finite number, or a date (as UTC, in nanoseconds)."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return _as_date(value, name)
    if isinstance(value, date):  # without a time of day
        value = np.datetime64(value)
    array = np.asarray(value)
    if array.shape == () and array.dtype.kind == "M":
        return as_times(array[None], name)[0]  # type: ignore[no-any-return]
    number = _checks.as_float(value)
    if not np.isfinite(number):
        raise TypeError(f"{name} must be a finite number or a date, got {value!r}{_hint(array)}")
    return number


def _hint(value: NDArray[Any]) -> str:
    """Say how texts become dates."""
    return ": for dates in texts, np.datetime64(text)" if value.dtype.kind in "US" else ""


def _as_date(value: datetime, name: str) -> Time:
    """Return a date of Python or pandas; without a time zone it counts as UTC."""
    if value != value:  # pandas' NaT
        raise TypeError(f"{name} must be a finite number or a date, got {value!r}")
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    to_numpy = getattr(value, "to_datetime64", None)  # of pandas, with its nanoseconds
    moment = to_numpy() if to_numpy else np.datetime64(value)
    return as_times(np.asarray(moment)[None], name)[0]  # type: ignore[no-any-return]


def as_times(values: Any, name: str = "times") -> NDArray[Any]:
    """Validate a vector of times: all finite numbers or all dates."""
    if hasattr(values, "to_numpy"):  # of pandas; with time zones these are objects
        values = values.to_numpy()
    if isinstance(values, list | tuple) or np.asarray(values).dtype.kind == "O":
        values = [as_time(value, f"{name}[{i}]") for i, value in enumerate(values)]
        if len({type(value) for value in values}) > 1:
            raise TypeError(f"{name} must be all numbers or all dates, got {values!r:.200}")
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "Mfiu":
        got = f"an array of {array.dtype} of shape {array.shape}"
        raise TypeError(f"{name} must be a vector of numbers or dates, got {got}{_hint(array)}")
    if array.dtype.kind != "M":
        return _checks.real_array(name, array)
    dates = array.astype(NANOSECONDS)
    bad = np.isnat(array) | (dates.astype(array.dtype) != array)
    if bad.any():
        i = int(bad.argmax())
        raise ValueError(f"{name} must be dates from 1678 to 2261, got {array[i]} at index {i}")
    return dates


def times_of(times: Any, ys: Iterable[Any]) -> Iterator[Time] | None:
    """Validate the times of a series, at once if they are a vector; return one after the other."""
    if times is None:
        return None
    if not isinstance(times, Sized) and isinstance(times, Iterable):  # a generator
        return (_needed(as_time(time), i) for i, time in enumerate(times))
    if isinstance(times, str | bytes) or not hasattr(times, "__len__"):
        raise TypeError(f"times must hold the time of each observation, got {times!r}")
    array = as_times(times)
    if isinstance(ys, Sized) and len(ys) != len(array):
        raise ValueError(
            f"times must hold one time for each of the {len(ys)} observations, got {len(array)}"
        )
    late = array[1:] <= array[:-1]
    if late.any():
        i = int(late.argmax())
        raise ValueError(f"times must increase, got {array[i]} and then {array[i + 1]} at {i + 1}")
    return iter(array.tolist() if array.dtype.kind == "f" else array)


def _needed(time: Time | None, i: int) -> Time:
    if time is None:
        raise TypeError(f"times must hold the time of each observation, got None at {i}")
    return time
