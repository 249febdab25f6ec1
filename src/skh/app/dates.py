"""Dates in cells: those of ISO 8601, or the format that a scenario names."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import numpy as np

DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")
CLOCKS = ("", " %H:%M", " %H:%M:%S")  # after the day


def as_date(text: str, date_format: str | None = None) -> np.datetime64:
    """Return the date in a cell; ValueError says what is wrong, and which format would do."""
    try:
        date = _read(text, date_format)
    except ValueError:
        raise ValueError(_explained(text, date_format)) from None
    if date.tzinfo is not None:  # NumPy's times have no zone
        date = date.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(date, "us")


def is_date(text: str) -> bool:
    """Whether a text is a date of ISO 8601 or of a usual format."""
    try:
        _read(text, None)
    except ValueError:
        return bool(formats_of(text))
    return True


def _read(text: str, date_format: str | None) -> datetime:
    if date_format:
        return datetime.strptime(text, date_format)
    return datetime.fromisoformat(text.replace("/", "-"))


def _explained(text: str, date_format: str | None) -> str:
    if date_format:
        return f"the time {text!r} is not a date of the format {date_format!r}"
    known = "neither a number nor a date such as 2024-03-31 or 2024-03-31T12:00:00"
    formats = [f'--date-format "{style}"' for style in formats_of(text)]
    advice = f"; say {' or '.join(formats)}" if formats else ""
    return f"the time {text!r} is {known}{advice}"


def formats_of(text: str) -> list[str]:
    """Return the usual formats in which a text is a date.

    >>> formats_of("03.01.2024 06:00"), formats_of("3/1/2024")
    (['%d.%m.%Y %H:%M'], ['%d/%m/%Y', '%m/%d/%Y'])
    """
    return [day + clock for day, clock in product(DAYS, CLOCKS) if _fits(text, day + clock)]


def _fits(text: str, date_format: str) -> bool:
    try:
        datetime.strptime(text, date_format)
    except ValueError:
        return False
    return True
