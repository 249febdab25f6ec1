"""Series of observations and missing values.

An observation is anything that the model's likelihood takes.  None or all NaN means that nothing
was measured.  In a vector, NaN marks missing entries and is passed to the likelihood; masked
entries and pandas' missing values count as NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh import _checks
from skh._numba.array_checks import first_not_finite
from skh._typing import Array


def as_iterable(ys: Any) -> Iterable[Any]:
    """Validate a series of observations of any kind; a generator is not read."""
    several = hasattr(ys, "__iter__") or hasattr(ys, "__getitem__")
    single = isinstance(ys, str | bytes | Mapping | Set) or getattr(ys, "shape", None) == ()
    if single or not several:
        raise TypeError(f"ys must be a series of observations, one for each time, got {ys!r}")
    rows: Iterable[Any] = table_rows(ys) if hasattr(ys, "to_numpy") else fill_masked(ys)
    return rows


def as_series(ys: Any) -> Sequence[Any]:
    """Validate a non-empty series of observations of any kind."""
    ys = as_iterable(ys)
    ys = ys if hasattr(ys, "__len__") else list(ys)
    if len(ys) == 0:
        raise ValueError("ys must hold at least one observation, got none")
    return ys  # type: ignore[no-any-return] # of any type with a length


def table_rows(table: Any) -> NDArray[Any]:
    """Return the rows of a pandas table, which itself iterates over column names."""
    array = np.asarray(table.to_numpy())
    if array.dtype != object:
        return array
    gaps = np.array([_is_gap(v) for v in array.flat]).reshape(array.shape)
    if not gaps.any() or not all(isinstance(v, Real) for v in array[~gaps]):
        return array
    return np.where(gaps, np.nan, array).astype(np.float64)


def _is_gap(value: Any) -> bool:
    """Whether ``value`` is None or pandas' NA."""
    return value is None or type(value).__name__ == "NAType"


def fill_masked(y: Any) -> Any:
    """Replace masked numbers by NaN; return anything else unchanged.

    >>> fill_masked(np.ma.masked_less([1, -999, 3], 0)), fill_masked("image")
    (array([ 1., nan,  3.]), 'image')
    """
    if type(y) is np.ndarray or not isinstance(y, np.ma.MaskedArray) or y.dtype.kind not in "fiu":
        return y
    return np.ma.filled(y.astype(np.float64), np.nan) if np.ma.is_masked(y) else y.data


def is_missing(y: Any) -> bool:
    """Whether nothing was measured.

    >>> [is_missing(y) for y in (None, float("nan"), [float("nan"), 1.0], "image")]
    [True, True, False, False]
    """
    if type(y) is np.ndarray and y.dtype.kind == "f" and y.size:  # the usual case, fast
        first = y.item(0)
        return bool(first != first and np.isnan(y).all())
    if _is_gap(y):
        return True
    if isinstance(y, np.ma.MaskedArray):
        if y.size and np.ma.getmaskarray(y).all():
            return True
        y = fill_masked(y)
    if isinstance(y, (list, tuple)) or hasattr(y, "to_numpy"):
        try:
            y = np.array(y, dtype=np.float64)
        except (TypeError, ValueError):  # not an array of numbers
            return False
    if not isinstance(y, (float, np.floating, np.ndarray)):
        return False
    values = np.asarray(y)
    if values.dtype.kind != "f" or values.size == 0 or not np.isnan(values.flat[0]):
        return False
    return bool(np.isnan(values).all())


def measured_entries(y: Any, m: int | None, name: str = "y") -> tuple[Array, NDArray[np.bool_]]:
    """Validate a vector of ``m`` (or any) numbers; return it and a mask of the measured ones."""
    vector = _vector(y, m, name)
    if np.isinf(vector).any():
        raise ValueError(f"{name} must be finite, or NaN where not measured, got {y!r}")
    return vector, ~np.isnan(vector)


def measured_vector(y: Any, m: int, name: str = "y") -> Array:
    """Validate a vector of ``m`` finite numbers, or one number if m = 1."""
    vector = _vector(y, m, name)
    if first_not_finite(vector.ravel()) >= 0:
        raise ValueError(f"{name} must be finite, got {y!r}")
    return vector


def _vector(y: Any, m: int | None, name: str) -> Array:
    """Validate ``m`` real numbers, any number of them if None; gaps become NaN."""
    if type(y) is np.ndarray and y.dtype == _checks.DOUBLE and y.shape == (m,):
        return y  # the usual case, fast
    try:
        vector = np.atleast_1d(_checks.floats(name, _fill_gaps(fill_masked(y))))
    except TypeError as error:
        raise TypeError(f"{name} must be numbers, NaN where not measured, got {y!r}") from error
    if vector.ndim != 1 or m not in (None, len(vector)):
        raise ValueError(f"{name} must have shape ({m or 'm'},), got {np.shape(y)}")
    return vector


def _fill_gaps(y: Any) -> Any:
    """Replace None and pandas' NA among objects by NaN; return anything else unchanged."""
    try:
        array = np.asarray(y)
    except (TypeError, ValueError):  # rows of different lengths
        return y
    if array.dtype != object:
        return array
    gaps = np.array([_is_gap(v) for v in array.flat], dtype=bool).reshape(array.shape)
    return np.where(gaps, np.nan, array)
