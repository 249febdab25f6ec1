"""Series of observations, and what in them was not measured.

An observation is whatever the model's likelihood takes.  None, or nothing but NaN, says that
nothing was measured; in a vector of numbers, NaN marks the entries that were not, and reaches the
likelihood.  Masked arrays and the tables of pandas are taken as arrays with NaN in their gaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh._checks import Array


def series(ys: Any) -> Sequence[Any]:
    """A series of observations of any kind, at least one."""
    several = hasattr(ys, "__iter__") or hasattr(ys, "__getitem__")
    single = isinstance(ys, str | bytes | Mapping | Set) or getattr(ys, "shape", None) == ()
    if single or not several:
        raise TypeError(f"ys must be a series of observations, one for each time, got {ys!r}")
    ys = plain(ys)
    ys = ys if hasattr(ys, "__len__") else list(ys)
    if len(ys) == 0:
        raise ValueError("ys must hold at least one observation, got none")
    return ys  # type: ignore[no-any-return] # whatever it is, it has a length


def plain(y: Any) -> Any:
    """The array that a table or a masked array holds, NaN in its gaps; anything else as it is.

    >>> plain(np.ma.masked_less([1, -999, 3], 0)), plain("image")
    (array([ 1., nan,  3.]), 'image')
    """
    if isinstance(y, np.ma.MaskedArray) and y.dtype.kind in "fiu":
        return np.ma.filled(y.astype(np.float64), np.nan)
    if not hasattr(y, "to_numpy"):
        return y
    array = y.to_numpy()
    if array.dtype == object:  # numbers with gaps that are no NaN
        with suppress(TypeError, ValueError):
            return y.to_numpy(dtype=np.float64, na_value=np.nan)
    return array


def is_missing(y: Any) -> bool:
    """Whether nothing was measured.

    >>> [is_missing(y) for y in (None, float("nan"), [float("nan"), 1.0], "image")]
    [True, True, False, False]
    """
    if y is None:
        return True
    if isinstance(y, (list, tuple)):
        try:
            y = np.array(y, dtype=np.float64)
        except (TypeError, ValueError):  # something else than an array of numbers
            return False
    if not isinstance(y, (float, np.floating, np.ndarray)):
        return False
    values = np.asarray(y)
    if values.dtype.kind != "f" or values.size == 0 or not np.isnan(values.flat[0]):
        return False
    return bool(np.isnan(values).all())


def measured(y: Any, m: int, name: str = "y") -> tuple[Array, NDArray[np.bool_]]:
    """A vector of ``m`` numbers, and which of them were measured."""
    try:
        vector = np.atleast_1d(np.asarray(plain(y), dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers, NaN where not measured, got {y!r}") from error
    if vector.shape != (m,):
        raise ValueError(f"{name} must have shape ({m},), got {np.shape(y)}")
    if np.isinf(vector).any():
        raise ValueError(f"{name} must be finite, or NaN where not measured, got {y!r}")
    return vector, ~np.isnan(vector)
