"""Validation of arguments: errors name the argument, its value and what was expected."""

from __future__ import annotations

from inspect import signature
from math import inf, isfinite, nan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skh._numba.array_checks import (
    are_indices,
    first_negative_and_total,
    first_not_finite,
    first_outside,
)
from skh._typing import Array, Indices

DOUBLE = np.dtype(np.float64)
BELOW_ONE = 1.0 - 2.0**-53  # the largest float below one


def positive_int(name: str, value: Any) -> int:
    """Validate a positive integer."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a positive integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


def time_index(name: str, value: Any) -> int:
    """Validate an integer >= 0."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a non-negative integer, got {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {value!r}")
    return int(value)


def non_negative(name: str, value: Any) -> float:
    """Validate a finite number >= 0."""
    number = as_float(value)
    if not 0 <= number < inf:
        raise ValueError(f"{name} must be a non-negative number, got {value!r}")
    return number


def positive(name: str, value: Any) -> float:
    """Validate a finite number > 0."""
    number = as_float(value)
    if not 0 < number < inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return number


def fraction(name: str, value: Any) -> float:
    """Validate a number in [0, 1]."""
    number = as_float(value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be a number in [0, 1], got {value!r}")
    return number


def levels(name: str, value: ArrayLike) -> Array:
    """Validate an array of probabilities, such as the levels of quantiles."""
    array = real_array(name, value)
    if array.size and not 0 <= array.min() <= array.max() <= 1:
        raise ValueError(f"{name} must be numbers in [0, 1], got {value!r}")
    return array


def boolean(name: str, value: Any) -> bool:
    """Validate a boolean; a string such as "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def real_array(name: str, value: ArrayLike) -> Array:
    """Validate an array of finite numbers; return it as float64."""
    array = floats(name, value)
    bad = first_not_finite(array.ravel())
    if bad >= 0:
        where = tuple(int(i) for i in np.unravel_index(bad, array.shape))
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where}")
    return array


def floats(name: str, value: ArrayLike) -> Array:
    """Validate an array of real numbers; return it as float64."""
    if type(value) is np.ndarray and value.dtype == DOUBLE:  # the usual case, fast
        return value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        array = np.array(None)
    kind = array.dtype.kind
    numbers = kind in "fiu" or (kind == "O" and all(is_number(v) for v in array.flat))
    if not numbers or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be an array of real numbers, got {value!r}")
    try:
        return np.asarray(array, dtype=np.float64)
    except OverflowError as error:  # an integer of hundreds of digits
        raise ValueError(f"{name} must be below 1.8e308 in size, got {value!r}") from error


def as_float(value: Any) -> float:
    """Return a number as a float, infinite if too large for one; NaN for anything else."""
    if not is_number(value):
        return nan
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number, not a boolean."""
    return isinstance(value, (float, Real)) and not isinstance(value, bool | np.bool_)


def below_one(name: str, value: ArrayLike) -> Array:
    """Validate a vector of numbers in [0, 1)."""
    array = np.asarray(floats(name, value), order="C")
    bad = first_outside(array.ravel(), 0.0, BELOW_ONE)
    if array.ndim != 1 or bad >= 0:
        got = f"{array[bad]} at {bad}" if array.ndim == 1 else f"shape {array.shape}"
        raise ValueError(f"{name} must be a vector of numbers in [0, 1), got {got}")
    return array


def indices(words: str, value: ArrayLike, K: int) -> Indices:
    """Validate a vector of indices below ``K``; ``words`` begin the message."""
    array = np.asarray(value)
    index = array.astype(np.intp, order="C", copy=False) if array.dtype.kind in "iu" else None
    if index is None or index.ndim != 1 or not are_indices(index, K):
        raise ValueError(f"{words} in 0..{K - 1}, got {array}")
    return index


def points(name: str, value: ArrayLike, d: int | None = None) -> Array:
    """Validate a finite ``(n, d)`` array, one point per row."""
    array = real_array(name, value)
    if array.ndim != 2 or array.shape[1] == 0 or (d is not None and array.shape[1] != d):
        raise ValueError(
            f"{name} must have shape (n, {d or 'd'}), one point per row, got {array.shape}"
        )
    return array


def probabilities(name: str, value: ArrayLike) -> Array:
    """Validate non-negative weights that are not all zero; scale them to sum to one."""
    array = floats(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must have shape (K,) with K >= 1, got {array.shape}")
    bad, total = first_negative_and_total(np.array(array))  # a writable copy
    if not isfinite(total):
        real_array(name, array)
    if bad >= 0:
        raise ValueError(f"{name} must be non-negative, got {array[bad]} at {bad}")
    if total == 0:
        raise ValueError(f"{name} must not all be zero")
    if total == np.inf:  # finite weights, but their sum is not
        array = array / array.max()
        total = array.sum()
    return np.asarray(array / total)


def covariances(value: Any, K: int, d: int) -> Array:
    """Copy the covariances of K components in any of their forms; the shape is checked."""
    if type(value) is float and 0.0 <= value < inf:  # a shortcut, for speed
        return np.array(value)
    S = real_array("covariances", value)
    if S.shape not in ((), (K,), (d, d), (K, d, d)):
        raise ValueError(
            f"covariances must have shape (), ({K},), ({d}, {d}) or ({K}, {d}, {d}) "
            f"for {K} means in {d} dimensions, got {S.shape}"
        )
    if S.ndim < 2 and S.min() < 0:
        raise ValueError(f"covariances must be positive semi-definite, got {S.min()}")
    return S.copy()


def rule(name: str, value: Any) -> None:
    """Validate a rule: an object that takes (p, n, rng=rng), not its class or factory."""
    if isinstance(value, type):
        advice = f"the class {value.__name__}: write {value.__name__}(...)"
    elif not callable(value):
        advice = repr(value)
    elif _takes(value, None, 1, rng=None):
        return
    elif _takes(value):
        advice = f"a function that makes one: write {getattr(value, '__name__', value)}()"
    elif _takes(value, None, None, None, rng=None):  # as a Refine is called
        advice = f"{value!r}: a way to move points goes into skh.Refined(refine=...)"
    else:
        advice = f"{value!r}, which cannot be called with (p, n, rng=rng)"
    raise TypeError(f"{name} must be a rule such as skh.Stratified(), got {advice}")


def _takes(function: Any, *args: Any, **kwargs: Any) -> bool:
    """Whether a function accepts these arguments, as far as its signature is known."""
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        pass
    return True


def generator(rng: Any, name: str = "rng") -> np.random.Generator:
    """Return a Generator from a Generator, a seed, or None for a random seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    try:
        if isinstance(rng, bool | np.bool_ | str):  # numpy would accept some
            raise TypeError(type(rng).__name__)
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must be a Generator, a non-negative integer or None, got {rng!r}"
        ) from error


def shaped(name: str, value: ArrayLike, *shape: int | str) -> Array:
    """Validate a finite array of the given shape; a letter stands for any length."""
    array = real_array(name, value)
    if array.shape == shape:
        return array
    fits = [isinstance(s, str) or s == n for s, n in zip(shape, array.shape, strict=False)]
    if array.ndim != len(shape) or not all(fits):
        expected = ", ".join(str(s) for s in shape) + ("," if len(shape) == 1 else "")
        raise ValueError(f"{name} must have shape ({expected}), got {array.shape}")
    return array


def copied(name: str, value: ArrayLike, *shape: int | str) -> Array:
    """Validate as `shaped`; return a copy, independent of the caller's array."""
    return shaped(name, value, *shape).copy()


def same_length(name: str, array: Array, other: str, length: int) -> None:
    """Validate that ``array`` has as many rows as ``other``, ``length``."""
    if len(array) != length:
        raise ValueError(
            f"{name} must have one row per row of {other} ({length}), got {len(array)}"
        )


def read_only(x: Array) -> Array:
    """Return a read-only view, so that a model that writes into its particles fails."""
    view = x.view()
    view.setflags(write=False)
    return view


def sealed(x: Array) -> Array:
    """Make an array of our own read-only, and return it."""
    x.setflags(write=False)
    return x
