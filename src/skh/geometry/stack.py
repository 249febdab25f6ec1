"""Stacks of states: an array or a tuple of arrays, one row per state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array

State = Any  # one state or a stack of them


def tiled(state: State, n: int) -> State:
    """Repeat a state in n rows that share memory."""
    return mapped(lambda part: _tiled(np.asarray(part, order="C"), n), state)


def _tiled(part: Array, n: int) -> Array:
    """`numpy.broadcast_to`, in a third of the time."""
    rows: Array = np.ndarray((n, *part.shape), part.dtype, part, 0, (0, *part.strides))
    rows.setflags(write=False)
    return rows


def read_only(states: State) -> State:
    """Return read-only views of the states."""
    return mapped(_checks.read_only, states)


def rows_of(states: State) -> int:
    """Number of states."""
    return len(states[0] if isinstance(states, tuple) else states)


def mapped(f: Callable[[Array], Array], states: State) -> State:
    """Apply a function to each array."""
    if not isinstance(states, tuple):
        return f(states)
    parts = [mapped(f, part) for part in states]
    return type(states)(*parts) if hasattr(states, "_fields") else tuple(parts)


def described(value: Any) -> str:
    """Describe a value for an error message by its shape or type."""
    if value is None:
        return "None"
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"an array of shape {shape}"
    kind = type(value).__name__
    if isinstance(value, tuple | list):
        return f"a {kind} of {len(value)}"
    return f"{value!r}" if isinstance(value, int | float | str) else f"a {kind}"


def state_and_spread(where: str, returned: Any, expected: str) -> tuple[Any, Any]:
    """Validate what a function of a model returned: states and covariances, a plain pair."""
    plain = isinstance(returned, tuple | list) and not hasattr(returned, "_fields")
    if not plain or len(returned) != 2:
        raise TypeError(f"{where} must return {expected}; got {described(returned)}")
    return returned[0], returned[1]


def refuse_what_is_for_vectors(model: Any) -> None:
    """Raise TypeError for optional methods that assume states in R^d."""
    if hasattr(model, "joint_transition"):
        raise TypeError(
            f"{type(model).__name__} subtracts states as vectors and cannot be charted yet: write "
            "it as a CarryingModel instead (see skh.filtering.model_protocols)"
        )
