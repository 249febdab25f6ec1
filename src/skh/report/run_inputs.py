"""Validation of what a caller tells about a run: times, names, observations, truth, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh import _checks
from skh._typing import Array
from skh.filtering.observations import as_iterable, is_missing, measured_entries
from skh.filtering.result import FilterResult
from skh.report.packing import number
from skh.views.attributes import checked_names

MILLISECONDS = "datetime64[ms]"  # times of day are kept so precisely
MAX_OBSERVED = 64  # numbers of one observation that a page can show


class Times(NamedTuple):
    """Times of the steps; ``dates`` if they are milliseconds since 1970 (UTC)."""

    values: Array
    dates: bool


class Observations(NamedTuple):
    """Measured numbers (m, T) with their names, NaN where missing; (T,) steps without any.

    ``values`` is None if they cannot be drawn.
    """

    values: Array | None
    missing: NDArray[np.bool_]
    names: tuple[str, ...] = ()


class RunInputs(NamedTuple):
    """What the page says about a run besides its result."""

    names: tuple[str, ...]
    times: Times | None
    observations: Observations
    truth: Array | None
    settings: list[tuple[str, str]]


def check_inputs(
    result: FilterResult,
    names: Any,
    times: Any,
    observations: Any,
    observation_names: Any,
    truth: Any,
    settings: Any,
) -> RunInputs:
    """Validate what a caller tells about a run; what is None is taken from the result."""
    T, d = result.means.shape
    n_z = 0 if result.z_means is None else result.z_means.shape[1]
    return RunInputs(
        check_names(result.state_names if names is None else names, d, n_z),
        check_times(result.times if times is None else times, T),
        check_observations(observations, observation_names, result),
        check_truth(truth, T, d, n_z),
        check_settings(result.attributes if settings is None else settings),
    )


def check_result(result: Any) -> FilterResult:
    """Validate a result."""
    if not isinstance(result, FilterResult):
        raise TypeError(f"result must be a FilterResult of particle_filter, got {result!r}")
    return result


def check_title(title: Any) -> str:
    """Validate a title; the default is plain."""
    if title is None:
        return "Filter run"
    if not isinstance(title, str):
        raise TypeError(f"title must be a string, got {title!r}")
    return title


def check_names(names: Any, d: int, n_z: int) -> tuple[str, ...]:
    """Validate names of the d coordinates of x, or of all of (x, z); return all of them."""
    x = [f"x{j}" for j in range(d)] if d > 1 else ["x"]
    z = [f"z{j}" for j in range(n_z)] if n_z > 1 else ["z"] * n_z
    if names is None:
        return (*x, *z)
    if isinstance(names, str | bytes) or not hasattr(names, "__iter__"):
        raise TypeError(f"names must be a sequence of {d} strings, got {names!r}")
    given = list(names)
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"names must be strings, got {given!r}")
    if len(given) not in {d, d + n_z}:
        expected = f"{d}" if n_z == 0 else f"{d} or {d + n_z}"
        raise ValueError(f"names must hold {expected} names, one per coordinate, got {given!r}")
    every = [*given, *z[len(given) - d :]]
    if len(set(every)) < len(every):
        raise ValueError(f"names must differ from each other, got {every!r}")
    return tuple(every)


def check_times(times: Any, T: int) -> Times | None:
    """Validate T increasing numbers or dates; dates become milliseconds."""
    if times is None:
        return None
    series = _dates(times)
    if dates := series is not None:
        values = series.astype(MILLISECONDS).astype(np.float64)
        values[np.isnat(series)] = np.nan
    else:
        values = _checks.floats("times", times)
    if values.shape != (T,):
        raise ValueError(f"times must have shape ({T},), one per step, got {values.shape}")
    if (bad := _first(~np.isfinite(values))) is not None:
        raise ValueError(f"times must be finite, got {values[bad]} at step {bad}")
    if (bad := _first(np.diff(values) <= 0)) is not None:
        raise ValueError(
            f"times must increase, got {values[bad]} at step {bad} and {values[bad + 1]} after it"
        )
    return Times(values, dates)


def _dates(times: Any) -> NDArray[np.datetime64] | None:
    """The times as dates, if they are dates, dates and times or a pandas index of them."""
    array = np.asarray(times)
    if array.dtype.kind == "O" and array.size and all(isinstance(t, date) for t in array.flat):
        if any(getattr(t, "tzinfo", None) is not None for t in array.flat):
            array = np.array([_in_utc(t) for t in array.flat]).reshape(array.shape)
        return array.astype(MILLISECONDS)
    return array if array.dtype.kind == "M" else None


def _in_utc(time: Any) -> Any:
    """A time with a time zone as milliseconds since 1970; one without is taken as UTC."""
    return np.datetime64(round(time.timestamp() * 1000), "ms") if time.tzinfo else time


def check_observations(observations: Any, names: Any, result: FilterResult) -> Observations:
    """Validate one observation per step; keep them if they are vectors of equal length."""
    missing = np.asarray(result.n_likelihood_evaluations) == 0
    if observations is None:
        if names is not None:
            raise ValueError(f"observation_names needs observations, got only {names!r}")
        return Observations(None, missing)
    try:
        ys = list(as_iterable(observations))
    except TypeError as error:
        raise TypeError(
            f"observations must be a series, one for each step, got {observations!r}"
        ) from error
    if len(ys) != len(missing):
        raise ValueError(
            f"observations must be one per step of the result ({len(missing)}), got {len(ys)}"
        )
    gone = np.array([is_missing(y) for y in ys])
    values = _measured(ys)
    return Observations(values, missing | gone, _observation_names(names, values))


def _observation_names(names: Any, values: Array | None) -> tuple[str, ...]:
    """Validate the names of the m numbers of an observation; by default y0, y1 and so on."""
    m = 0 if values is None else len(values)
    if values is None or names is None:
        return tuple(f"y{j}" for j in range(m)) if m > 1 else ()
    return checked_names(names, m, "observation_names")


def _measured(ys: Sequence[Any]) -> Array | None:
    """The numbers of all observations (m, T); None if they are anything but short vectors."""
    try:
        rows = [None if is_missing(y) else measured_entries(y, None)[0] for y in ys]
    except (TypeError, ValueError):
        return None
    lengths = {len(row) for row in rows if row is not None}
    if len(lengths) != 1 or not 0 < (m := lengths.pop()) <= MAX_OBSERVED:
        return None
    return np.stack([np.full(m, np.nan) if row is None else row for row in rows], axis=1)


def check_truth(truth: Any, T: int, d: int, n_z: int) -> Array | None:
    """Validate true states, (T, d) or (T, d + n_z), NaN where unknown; return (d + n_z, T)."""
    if truth is None:
        return None
    array = _checks.floats("truth", truth)
    if array.ndim == 1 and d == 1:
        array = array[:, None]
    if array.ndim != 2 or len(array) != T or array.shape[1] not in {d, d + n_z}:
        raise ValueError(f"truth must have shape ({T}, {d}), got {np.shape(truth)}")
    if (bad := _first(np.asarray(np.isinf(array).any(axis=1)))) is not None:
        raise ValueError(f"truth must be finite, or NaN where unknown, got {array[bad]} at {bad}")
    unknown = np.full((T, d + n_z - array.shape[1]), np.nan)
    return np.hstack([array, unknown]).T


def check_settings(settings: Any) -> list[tuple[str, str]]:
    """Validate settings; return names and values as text, those of inner mappings as a.b."""
    if settings is None:
        return []
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings must be a mapping of names to values, got {settings!r}")
    rows: list[tuple[str, str]] = []
    for name, value in settings.items():
        if not isinstance(name, str):
            raise TypeError(f"settings must have names that are strings, got {name!r}")
        if isinstance(value, Mapping):
            rows += [(f"{name}.{inner}", text) for inner, text in check_settings(value)]
        else:
            rows.append((name, _described(value)))
    return rows


def _described(value: Any) -> str:
    """A value as text."""
    if isinstance(value, float | np.floating):
        return number(float(value), 6)
    return str(value)


def _first(wrong: NDArray[np.bool_]) -> int | None:
    """Index of the first True."""
    return int(wrong.argmax()) if wrong.any() else None
