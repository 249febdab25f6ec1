"""CSV files, read row by row so that messages have the line and the column.

A column without a name, such as the index of a data frame, is called by its place: "column 1".
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from skh.app.input_error import InputError, listed
from skh.app.table import Columns, Table, as_number, as_time, as_times, checked_table, chosen

SEPARATORS = ",;\t|"
UTF8 = 'a spreadsheet saves it as "CSV UTF-8"'


def read_csv(path: Path, wanted: Columns) -> Table:
    """Read a CSV file whose first line names its columns."""
    rows = _rows(path, wanted)
    _, first = next(rows, (0, []))
    header = [name or f"column {k}" for k, name in enumerate(first, 1)]
    _check_header(path, header)
    names = chosen(path, header, wanted)
    read = (*names, *wanted.inputs)
    lines, values, times = [], [], []
    for line, row in rows:
        cells = _cells(path, line, header, row)
        lines.append(line)
        values.append([_number(path, line, name, cells[name], wanted) for name in read])
        if wanted.times:
            times.append(_time(path, line, wanted.times, cells[wanted.times], wanted))
    at = as_times(path, wanted.times, times, lines) if wanted.times else None
    numbers = np.array(values, dtype=np.float64).reshape(len(values), len(read))
    observed, inputs = np.split(numbers, [len(names)], axis=1)
    given = dict(zip(wanted.inputs, inputs.T, strict=True))
    return checked_table(Table(path, names, observed, at, tuple(lines), wanted.times, given))


def _rows(path: Path, wanted: Columns) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not blank, each as the number of its first line and its cells."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            reader = csv.reader(file, delimiter=wanted.separator or _separator(first), strict=True)
            start = 1
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield start, [cell.strip() for cell in row]
                start = reader.line_num + 1
    except UnicodeDecodeError:
        raise InputError(f"this is not text in UTF-8; {UTF8}", path) from None
    except csv.Error as error:
        raise InputError(f"this is not CSV: {error}", path, start) from None


def _separator(first: str) -> str:
    """Return the separator that the first line has most of."""
    return max(SEPARATORS, key=first.count)


def _check_header(path: Path, header: list[str]) -> None:
    """Validate the names of the columns."""
    if not header:
        raise InputError("the file is empty", path)
    if twice := [name for name in header if header.count(name) > 1]:
        raise InputError(f"two columns are named {twice[0]!r}", path, 1)
    if numbers := [name for name in header if _is_number(name)]:
        what = f"the first line must name the columns, got the number {numbers[0]!r}"
        raise InputError(what, path, 1)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.lower() not in ("nan", "inf", "infinity")  # odd, but names


def _cells(path: Path, line: int, header: list[str], row: list[str]) -> dict[str, str]:
    """Return the cells of a row by their columns."""
    if len(row) != len(header):
        what = f"{len(row)} cells, but {len(header)} columns: {listed(header)}"
        raise InputError(what, path, line)
    return dict(zip(header, row, strict=True))


def _number(path: Path, line: int, name: str, text: str, wanted: Columns) -> float:
    try:
        return as_number(text, wanted)
    except ValueError as error:
        raise InputError(f"column {name!r}: {error}", path, line) from None


def _time(path: Path, line: int, name: str, text: str, wanted: Columns) -> float | np.datetime64:
    try:
        return as_time(text, wanted)
    except ValueError as error:
        raise InputError(f"column {name!r}: {error}", path, line) from None
