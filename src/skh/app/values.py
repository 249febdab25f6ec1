"""Checks of the values in a scenario: each returns the value, or says what it must be."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from pathlib import Path
from typing import Any

RULE_NAMES = ("default", "default_rule", "MonteCarlo", "Stratified", "Systematic", "SQMC")


def text(value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a text")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """A text or several."""
    found = (value,) if isinstance(value, str) else value
    if not isinstance(found, list | tuple) or not all(isinstance(v, str) for v in found):
        raise ValueError("must be a text or a list of texts")
    return tuple(found)


def character(value: Any) -> str:
    """One character."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError("must be one character")
    return value


def date_format(value: Any) -> str:
    """A format of dates, such as %d.%m.%Y."""
    if not isinstance(value, str) or "%" not in value:
        raise ValueError("must be a format of dates such as %d.%m.%Y")
    return value


def section(value: Any) -> dict[str, Any]:
    """A table of keys and values."""
    if not isinstance(value, dict):
        raise ValueError("must be a section [model.parameters]")
    return value


def positive(value: Any) -> int:
    """A whole number above zero."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("must be a whole number above zero")
    return value


def whole(value: Any) -> int:
    """A whole number, zero included."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("must be a whole number, zero or above")
    return value


def seconds(value: Any) -> float:
    """A time above zero."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < inf:
        raise ValueError("must be a number of seconds above zero")
    return float(value)


def number(value: Any) -> float:
    """A number."""
    if not _is_number(value):
        raise ValueError("must be a number")
    return float(value)


def above_zero(value: Any) -> float:
    """A number above zero."""
    if not _is_number(value) or value <= 0:
        raise ValueError("must be a number above zero")
    return float(value)


def not_below_zero(value: Any) -> float:
    """A number, zero included."""
    if not _is_number(value) or value < 0:
        raise ValueError("must be a number, zero or above")
    return float(value)


def share(value: Any) -> float:
    """A number from 0 to 1."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def numbers(*lengths: int, least: float = -inf) -> Callable[[Any], tuple[float, ...]]:
    """Return the check of a list of numbers with one of these lengths."""

    def check(value: Any) -> tuple[float, ...]:
        right = isinstance(value, list | tuple) and len(value) in lengths
        if not right or not all(_is_number(v) and v >= least for v in value):
            kind = "numbers" if least == -inf else f"numbers, {least:g} or above"
            raise ValueError(f"must be a list of {' or '.join(map(str, lengths))} {kind}")
        return tuple(float(v) for v in value)

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def levels(value: Any) -> tuple[float, ...]:
    """Numbers between 0 and 1."""
    numbers = isinstance(value, list | tuple) and all(
        isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1 for v in value
    )
    if not numbers:
        raise ValueError("must be a list of numbers from 0 to 1")
    return tuple(float(v) for v in value)


def one_of(*allowed: str) -> Callable[[Any], str]:
    """Return the check of a value that must be one of a few."""

    def check(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(map(repr, allowed))}")
        return str(value)

    return check


def rule_name(value: Any) -> str:
    """The name of a rule; small letters will do."""
    names = {name.lower(): name for name in RULE_NAMES} | {"pf": "MonteCarlo"}
    if not isinstance(value, str) or value.lower() not in names:
        raise ValueError(f"must be one of {', '.join(map(repr, RULE_NAMES))}")
    return names[value.lower()]


def file_name(*endings: str) -> Callable[[Any], str | None]:
    """Return the check of a file's name; an empty one, or false, means no file."""

    def check(value: Any) -> str | None:
        if value == "" or value is False:
            return None
        if not isinstance(value, str) or Path(value).suffix.lower() not in endings:
            ends = " or ".join(endings)
            raise ValueError(f'must be a name that ends in {ends} ("" for no file)')
        return value

    return check
