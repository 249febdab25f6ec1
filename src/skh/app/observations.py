"""Read a table in a program as the commands do."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from skh.app.read_table import read_table
from skh.app.table import Columns, Table


def read_observations(
    path: str | PathLike[str],
    columns: str | Sequence[str] = (),
    times: str | None = None,
    *,
    date_format: str | None = None,
    decimal: str = ".",
    missing: str | Sequence[str] = (),
) -> Table:
    """Read observations from a CSV or Parquet file, as ``skh run`` does.

    The options are those of the command: the columns to use (all but the times if none are named),
    the column of the times, how dates and numbers are written, and cells that mean that nothing was
    measured.  ``.values`` (T, m) of the table are the observations, with NaN where a cell is
    missing, and ``.times`` numbers, dates or None::

        table = read_observations("data.csv", "y", "day", decimal=",")
        result = skh.particle_filter(model, table.values, n=50, times=table.times)
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    marks = (missing,) if isinstance(missing, str) else tuple(missing)
    wanted = Columns(names, times, marks, decimal=decimal, date_format=date_format)
    return read_table(Path(path), wanted)
