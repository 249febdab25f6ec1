"""Tables of observations: what all formats of files have in common.

A table has a row for each time and a column for each measured number, with NaN where nothing was
measured.  Times are numbers or dates and increase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, isinf, nan
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh._typing import Array
from skh.app.dates import as_date, is_date
from skh.app.input_error import InputError, did_you_mean, listed

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None")


@dataclass(frozen=True)
class Columns:
    """What to read of a file."""

    names: tuple[str, ...] = ()  # all but the times if empty
    times: str | None = None
    missing: tuple[str, ...] = ()  # besides `MISSING`
    separator: str | None = None  # of a CSV file; found in its first line if None
    decimal: str = "."
    inputs: tuple[str, ...] = ()  # columns for the model that are not observations
    date_format: str | None = None  # of the times, as strptime takes it; ISO 8601 if None


@dataclass(frozen=True, eq=False)
class Table:
    """Observations with their times and their places in a file."""

    path: Path
    names: tuple[str, ...]
    values: Array  # (T, m)
    times: NDArray[Any] | None  # (T,): floats or datetime64
    lines: tuple[int, ...]  # of the file, for each row
    time_name: str | None = None
    inputs: dict[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def place(self, t: int) -> str:
        """The place of an observation, for messages."""
        return f"{self.path}:{self.lines[t]}"

    def as_columns(self) -> dict[str, NDArray[Any]]:
        """The columns by their names, for models that use them."""
        columns: dict[str, NDArray[Any]] = dict(zip(self.names, self.values.T, strict=True))
        times = {} if self.times is None else {str(self.time_name): self.times}
        return {**times, **columns, **self.inputs}


def chosen(path: Path, header: Sequence[str], wanted: Columns) -> tuple[str, ...]:
    """Return the names of the observations to read; all columns must be in the header."""
    others = (*wanted.inputs, *([wanted.times] if wanted.times else []))
    names = wanted.names or tuple(name for name in header if name not in others)
    for name in (*names, *others):
        if name not in header:
            there = f"its columns are {listed(header)}{did_you_mean(name, header)}"
            raise InputError(f"there is no column {name!r}; {there}", path, 1)
    if not names:
        raise InputError("there is no column of observations beside the others", path, 1)
    if wanted.times in names:
        raise InputError(f"column {wanted.times!r} cannot be times and observation", path, 1)
    if len(set(names)) < len(names):
        raise InputError(f"a column is asked for twice: {listed(names)}", path)
    return names


def as_number(text: str, wanted: Columns) -> float:
    """Return the number in a cell, NaN if it is missing; ValueError says what is wrong."""
    text = text.strip()
    if text in MISSING or text in wanted.missing:
        return nan
    try:
        value = float(text.replace(wanted.decimal, ".") if wanted.decimal != "." else text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number{_hint(text, wanted)}") from None
    if isinf(value):
        raise ValueError(f"{text!r} is not finite; leave the cell empty if nothing was measured")
    return value


def _hint(text: str, wanted: Columns) -> str:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return _hint_for_text(text, wanted)
    return '; for decimal commas say --decimal ","; in a scenario, decimal = ","'


def _hint_for_text(text: str, wanted: Columns) -> str:
    if not is_date(text):
        marks = [*wanted.missing, text]
        how = f"say --missing {quote(','.join(marks))}, or in a scenario missing = {marks}"
        return f"; if it means that nothing was measured, {how}"
    return "; if it is the time of the row, name the column as times (--times)"


def as_time(text: str, wanted: Columns) -> float | np.datetime64:
    """Return the time in a cell, a number or a date; ValueError says what is wrong."""
    text = text.strip()
    if not text or text in wanted.missing:
        raise ValueError("the time is missing")
    if wanted.date_format:
        return as_date(text, wanted.date_format)
    try:
        value = float(text.replace(wanted.decimal, "."))
    except ValueError:
        return as_date(text)
    if not isfinite(value):
        raise ValueError(f"the time {text!r} is not finite")
    return value


def checked_table(table: Table) -> Table:
    """Validate rows and times that have been read."""
    if not len(table):
        raise InputError("there are no rows below the names of the columns", table.path)
    if np.isnan(table.values).all():
        raise InputError(f"all values of {listed(table.names)} are missing", table.path)
    if table.times is not None:
        _check_increasing(table, table.times)
    return table


def _check_increasing(table: Table, times: NDArray[Any]) -> None:
    if len(steps := np.diff(times)) == 0:
        return
    later = steps > np.zeros(1, steps.dtype)[0]
    if later.all():
        return
    t = int(np.argmin(later)) + 1
    same = times[t] == times[t - 1]
    what = "is that of the row before" if same else f"comes after {times[t - 1]}"
    name, line = table.time_name, table.lines[t]
    advice = "sort the file by it" if not same else "each row needs a time of its own"
    raise InputError(f"column {name!r}: the time {times[t]} {what}; {advice}", table.path, line)


def as_times(table_path: Path, name: str, cells: list[Any], lines: list[int]) -> NDArray[Any]:
    """Return times as one array; all must be of one kind."""
    kinds = [isinstance(cell, np.datetime64) for cell in cells]
    if len(set(kinds)) == 2:
        line = lines[kinds.index(not kinds[0])]
        raise InputError(f"column {name!r} has numbers and dates", table_path, line)
    return np.array(cells)
