"""Short texts: a model, a rule or a setting in one line."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import numpy as np

from skh._typing import Array
from skh.frank_wolfe.default import default_rule

LONGEST = 200  # characters of a description
SMALL_ARRAY = 4  # numbers that are written out


def described(value: Any) -> str:
    """Describe a model, a rule or a setting in one line, with arrays by their shape.

    >>> described(np.eye(3)), described(default_rule())
    ('array(3, 3)', 'default_rule()')
    """
    text = _described(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        small = value.ndim == 1 and value.size <= SMALL_ARRAY and value.dtype.kind in "fiub"
        return str(value.tolist()) if small else f"array{value.shape}"
    if is_dataclass(value) and hasattr(type(value).__repr__, "__wrapped__"):  # not its own
        return _record(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(_described(v) for v in value)})"
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return str(value.__name__)
    if getattr(type(value), "__repr__", None) is object.__repr__:  # an address says nothing
        return type(value).__name__
    return " ".join(repr(value).split())


def _record(value: Any) -> str:
    """Describe a dataclass by the fields that differ from their defaults."""
    if type(value) is type(default_rule()) and value == default_rule():
        return "default_rule()"
    changed = [f for f in fields(value) if f.repr and not _is_default(f, getattr(value, f.name))]
    parts = ((f.name, _described(getattr(value, f.name))) for f in changed)
    # Rules are around rules by position.
    texts = (text if name == "rule" else f"{name}={text}" for name, text in parts)
    return f"{type(value).__name__}({', '.join(texts)})"


def _is_default(field: Field[Any], value: Any) -> bool:
    make = field.default_factory
    default = field.default if make is MISSING else make()  # MISSING: a required field
    try:
        return bool(type(default) is type(value) and default == value)
    except ValueError:  # of arrays
        return False


def number(value: float) -> str:
    """Write a number with four significant digits.

    >>> number(-1234.5678), number(0.1), number(3.0)
    ('-1235', '0.1', '3')
    """
    return f"{value:.4g}"


def numbers(values: Array, most: int = 6) -> str:
    """Write a vector with four digits each, and at most so many numbers."""
    shown = ", ".join(number(v) for v in values[:most])
    return f"[{shown}{', ...' if len(values) > most else ''}]"
