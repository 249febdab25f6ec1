"""Checks at the public edge: each names the argument, the offending value and what was expected."""

from __future__ import annotations

from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skh._compiled_checks import (
    are_indices,
    first_negative_and_total,
    first_not_finite,
    first_outside,
)

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Integers = NDArray[np.int64]
RNG = np.random.Generator | int | None
BELOW_ONE = 1.0 - 2.0**-53  # the largest number that is


def positive_int(name: str, value: Any) -> int:
    """``value`` as an int, if it is one and at least 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a positive integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


def non_negative(name: str, value: Any) -> float:
    """``value`` as a float, if it is a finite number that is not below zero."""
    if not isinstance(value, Real) or not 0 <= float(value) < inf:
        raise ValueError(f"{name} must be a non-negative number, got {value!r}")
    return float(value)


def positive(name: str, value: Any) -> float:
    """``value`` as a float, if it is a finite number above zero."""
    if not isinstance(value, Real) or not 0 < float(value) < inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def fraction(name: str, value: Any) -> float:
    """``value`` as a float, if it is a number in [0, 1]."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a number in [0, 1], got {value!r}")
    return float(value)


def real_array(name: str, value: ArrayLike) -> Array:
    """``value`` as a float64 array without NaN or infinity."""
    array = floats(name, value)
    bad = first_not_finite(array.ravel())
    if bad >= 0:
        where = tuple(int(i) for i in np.unravel_index(bad, array.shape))
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where}")
    return array


def floats(name: str, value: ArrayLike) -> Array:
    """``value`` as a float64 array."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of real numbers, got {value!r}") from error


def below_one(name: str, value: ArrayLike) -> Array:
    """``value`` as a vector of numbers in [0, 1)."""
    array = np.asarray(floats(name, value), order="C")
    bad = first_outside(array.ravel(), 0.0, BELOW_ONE)
    if array.ndim != 1 or bad >= 0:
        got = f"{array[bad]} at {bad}" if array.ndim == 1 else f"shape {array.shape}"
        raise ValueError(f"{name} must be a vector of numbers in [0, 1), got {got}")
    return array


def indices(words: str, value: ArrayLike, K: int) -> Indices:
    """``value`` as an array of indices below ``K``; ``words`` say what it must be."""
    array = np.asarray(value)
    index = array.astype(np.intp, order="C", copy=False) if array.dtype.kind in "iu" else None
    if index is None or index.ndim != 1 or not are_indices(index, K):
        raise ValueError(f"{words} in 0..{K - 1}, got {array}")
    return index


def points(name: str, value: ArrayLike, d: int | None = None) -> Array:
    """``value`` as a finite ``(n, d)`` array: one point per row."""
    array = real_array(name, value)
    if array.ndim != 2 or array.shape[1] == 0 or (d is not None and array.shape[1] != d):
        raise ValueError(
            f"{name} must have shape (n, {d or 'd'}), one point per row, got {array.shape}"
        )
    return array


def probabilities(name: str, value: ArrayLike) -> Array:
    """Non-negative weights that do not all vanish, scaled to sum to one."""
    array = real_array(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must have shape (K,) with K >= 1, got {array.shape}")
    bad, total = first_negative_and_total(np.array(array))  # a copy takes assignment
    if bad >= 0:
        raise ValueError(f"{name} must be non-negative, got {array[bad]} at {bad}")
    if total == 0:
        raise ValueError(f"{name} must not all be zero")
    if total == np.inf:  # finite weights, but their sum is not
        array = array / array.max()
        total = array.sum()
    return np.asarray(array / total)


def rule(name: str, value: Any) -> None:
    """``value`` can be called, and is no class of which the caller forgot to make an object."""
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"{name} must be a rule such as skh.Stratified(), got {value!r}")


def shaped(name: str, value: ArrayLike, *shape: int | str) -> Array:
    """``value`` as a finite array of the given shape; a letter stands for any length."""
    array = real_array(name, value)
    if array.shape == shape:
        return array
    fits = [isinstance(s, str) or s == n for s, n in zip(shape, array.shape, strict=False)]
    if array.ndim != len(shape) or not all(fits):
        expected = ", ".join(str(s) for s in shape) + ("," if len(shape) == 1 else "")
        raise ValueError(f"{name} must have shape ({expected}), got {array.shape}")
    return array


def kept(name: str, value: ArrayLike, *shape: int | str) -> Array:
    """A copy of `shaped`, for objects that must not change when their maker's arrays do."""
    return shaped(name, value, *shape).copy()


def same_length(name: str, array: Array, other: str, length: int) -> None:
    """``array`` has one row for each of the ``length`` rows of ``other``."""
    if len(array) != length:
        raise ValueError(
            f"{name} must have one row per row of {other} ({length}), got {len(array)}"
        )


def read_only(x: Array) -> Array:
    """A view that refuses assignment: a model that writes into its particles fails at that line."""
    view = x.view()
    view.flags.writeable = False
    return view
