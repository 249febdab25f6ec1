"""Parameters between bounds as free coordinates, in which optimisers and chains move.

A parameter with one bound is moved on a log scale, one between two bounds on a logit scale, and one
without bounds as it is.  No model is ever made at a bound or beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array

FARTHEST_COORDINATE = 500.0  # of a coordinate on a log or logit scale: exp of it is finite


@dataclass(frozen=True, eq=False)
class Bounds:
    """Named parameters with bounds, ``-inf < low < high < inf`` or open-ended."""

    names: tuple[str, ...]
    low: Array  # (p,)
    high: Array  # (p,)

    def free(self, values: Mapping[str, float]) -> Array:
        """Return the free coordinates of parameters that lie within the bounds."""
        theta = np.array([values[name] for name in self.names])
        below, above = theta - self.low, self.high - theta
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            one_sided = np.where(np.isfinite(self.low), np.log(below), np.log(above))
            both = np.log(below) - np.log(above)
        return np.where(self._two, both, np.where(self.unbounded, theta, one_sided))

    def values(self, z: Array) -> Array:
        """Return the parameters (..., p) at free coordinates (..., p)."""
        e = np.exp(
            np.clip(np.where(self.unbounded, 0.0, z), -FARTHEST_COORDINATE, FARTHEST_COORDINATE)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            one_sided = np.where(np.isfinite(self.low), self.low + e, self.high - e)
            both = self.low + (self.high - self.low) * (e / (1.0 + e))
        theta = np.where(self._two, both, np.where(self.unbounded, z, one_sided))
        return np.clip(theta, np.nextafter(self.low, np.inf), np.nextafter(self.high, -np.inf))

    def named(self, z: Array) -> dict[str, float]:
        """Return the parameters at free coordinates by name."""
        return dict(zip(self.names, self.values(z).tolist(), strict=True))

    def slopes(self, z: Array) -> Array:
        """Return the derivative of each parameter by its free coordinate."""
        theta = self.values(z)
        with np.errstate(invalid="ignore", over="ignore"):
            one_sided = np.where(np.isfinite(self.low), theta - self.low, theta - self.high)
            both = (theta - self.low) * ((self.high - theta) / (self.high - self.low))
        return np.where(self._two, both, np.where(self.unbounded, 1.0, one_sided))

    def without(self, name: str) -> Bounds:
        """Return the bounds of the other parameters."""
        return self._kept([k for k, other in enumerate(self.names) if other != name])

    def only(self, name: str) -> Bounds:
        """Return the bounds of one parameter."""
        return self._kept([self.names.index(name)])

    def _kept(self, kept: list[int]) -> Bounds:
        return Bounds(tuple(self.names[k] for k in kept), self.low[kept], self.high[kept])

    @property
    def _two(self) -> Any:
        return np.isfinite(self.low) & np.isfinite(self.high)

    @property
    def unbounded(self) -> Any:
        """Which parameters have no bounds, (p,)."""
        return np.isinf(self.low) & np.isinf(self.high)


def checked_names(name: str, values: Any) -> tuple[str, ...]:
    """Validate a mapping with one entry or more, whose keys are names of parameters."""
    if not isinstance(values, Mapping) or not values:
        raise TypeError(f'{name} must be a dict such as {{"sigma": 0.5}}, got {values!r}')
    for key in values:
        if not isinstance(key, str) or not key.isidentifier():
            raise TypeError(f"{name} must have names of parameters as keys, got {key!r}")
    return tuple(values)


def checked_bounds(names: tuple[str, ...], bounds: Any) -> Bounds:
    """Validate ``bounds``: name -> (low, high), None for an open end; all free without them."""
    given = {} if bounds is None else bounds
    if not isinstance(given, Mapping):
        raise TypeError(f'bounds must be a dict such as {{"sigma": (0, None)}}, got {bounds!r}')
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"bounds must be of the parameters {', '.join(names)}, got {unknown[0]!r} as well"
        )
    pairs = [_pair(name, given.get(name, (None, None))) for name in names]
    low, high = np.array(pairs).T
    return Bounds(names, low.copy(), high.copy())


def _pair(name: str, pair: Any) -> tuple[float, float]:
    """Return the bounds of one parameter as floats."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"bounds[{name!r}] must be a pair (low, high), got {pair!r}")
    low = -np.inf if pair[0] is None else _checks.as_float(pair[0])
    high = np.inf if pair[1] is None else _checks.as_float(pair[1])
    if not low < high or low == np.inf or high == -np.inf:
        raise ValueError(f"bounds[{name!r}] must be (low, high) with low < high, got {pair!r}")
    return low, high


def checked_values(name: str, values: Any, bounds: Bounds) -> dict[str, float]:
    """Validate one value for each parameter, strictly within its bounds."""
    given = checked_names(name, values)
    if set(given) != set(bounds.names):
        raise ValueError(
            f"{name} must have the parameters {', '.join(bounds.names)}, got {', '.join(given)}"
        )
    for key, low, high in zip(bounds.names, bounds.low, bounds.high, strict=True):
        number = _checks.as_float(values[key])
        if not np.isfinite(number):
            raise ValueError(f"{name}[{key!r}] must be a finite number, got {values[key]!r}")
        if not low < number < high:
            within = f"strictly between {low:g} and {high:g}"
            raise ValueError(f"{name}[{key!r}] must be {within}, got {values[key]!r}")
    return {key: float(values[key]) for key in bounds.names}
