"""Read the table of a scenario: CSV, or Parquet by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh._typing import Array
from skh.app.input_error import InputError, one_line
from skh.app.read_csv import read_csv
from skh.app.table import Columns, Table, as_time, as_times, checked_table, chosen

TEXT_FILES = (".csv", ".tsv", ".txt")
PARQUET_FILES = (".parquet", ".pq")


def read_table(path: Path, wanted: Columns) -> Table:
    """Read a table; the ending of its name says how."""
    if not path.exists():
        raise InputError("there is no such file", path)
    if path.is_dir():
        raise InputError("this is a folder; expected a CSV or Parquet file", path)
    ending = path.suffix.lower()
    if ending not in TEXT_FILES + PARQUET_FILES:
        known = ", ".join(TEXT_FILES + PARQUET_FILES)
        raise InputError(f"data files end in {known}, got {ending or 'no ending'}", path)
    try:
        return read_csv(path, wanted) if ending in TEXT_FILES else read_parquet(path, wanted)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error


def read_parquet(path: Path, wanted: Columns) -> Table:
    """Read a Parquet file; the lines of the table are its rows, counted from 1."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InputError('Parquet files need pip install "skh[io]"', path) from None
    try:
        found = parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise InputError(f"this is not a Parquet file: {one_line(error)}", path) from None
    names = chosen(path, found.column_names, wanted)
    lines = list(range(1, len(found) + 1))
    values = [_numbers(path, name, found.column(name)) for name in names]
    at = None
    if wanted.times:
        at = _times(path, wanted, found.column(wanted.times).to_pylist(), lines)
    table = np.stack(values, axis=1)
    inputs = {name: _numbers(path, name, found.column(name)) for name in wanted.inputs}
    return checked_table(Table(path, names, table, at, tuple(lines), wanted.times, inputs))


def _numbers(path: Path, name: str, column: Any) -> Array:
    """Return a column of numbers, NaN for its gaps."""
    from pyarrow import types

    kind = column.type
    if not (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind)):
        raise InputError(f"column {name!r} holds {kind}, expected numbers", path)
    values = np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise InputError(f"column {name!r}: {values[row]} is not finite", path, row + 1)
    return values


def _times(path: Path, wanted: Columns, cells: list[Any], lines: list[int]) -> NDArray[Any]:
    name, found = str(wanted.times), []
    for line, cell in zip(lines, cells, strict=True):
        try:
            found.append(as_time("" if cell is None else str(cell), wanted))
        except ValueError as error:
            raise InputError(f"column {name!r}: {error}", path, line) from None
    return as_times(path, name, found, lines)
