"""The command ``skh check``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from skh.app import options
from skh.app.check import Finding, check_model
from skh.app.input_error import InputError, listed
from skh.app.model_loading import load_model
from skh.app.read_table import read_table
from skh.app.sharpness import judge
from skh.app.stopping import BAD_INPUT, errors_in_one_line
from skh.app.table import Table
from skh.app.trials import Series

MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "wrong": ("WRONG", "red")}
NO_TABLE = "-"  # a name for the data that is not read
SIMULATED = 30  # steps, where there is no table


def check_command(
    what: Annotated[
        str, typer.Argument(help="model.py, module:object, a built-in name, or scenario.toml.")
    ],
    data: Annotated[str | None, typer.Argument(help="CSV or Parquet file.")] = None,
    columns: options.ColumnList = None,
    times: options.Times = None,
    date_format: options.DateFormat = None,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    n: options.Number = None,
    debug: options.Debug = False,
) -> None:
    """Try a model: what is wrong with it, what it costs, and whether placing pays."""
    with errors_in_one_line(debug):
        alone = data is None and not what.endswith(".toml")
        reading = {
            "columns": columns,
            "times": times,
            "date_format": date_format,
            "decimal": decimal,
            "missing": missing,
        }
        if alone and any(reading.values()):
            given = listed(f"--{name}" for name, text in reading.items() if text)
            raise InputError(f"{given}: name a table after the model")
        file = NO_TABLE if alone else data
        scenario = options.scenario_of(what, file, reading, {"n": n}, None)
        table = None if alone else read_table(scenario.data_path, scenario.columns)
        model = load_model(scenario.model, scenario.folder, table)
        series = None if table is None else series_of(table)
        if show(findings(model, series, scenario.filter.n)):
            raise typer.Exit(BAD_INPUT)


def series_of(table: Table) -> Series:
    """Return the observations of a table, with their places in its file."""
    return Series(table.values, table.times, tuple(map(table.place, range(len(table)))))


def findings(model: Any, series: Series | None, n: int) -> Iterator[Finding]:
    """Yield all findings: of single calls, then of a short filter if those are right."""
    series = simulated(model) if series is None else series
    right, each = True, 0.0
    for finding in check_model(model, series):
        right = right and finding.verdict != "wrong"
        each = finding.seconds if finding.seconds is not None else each
        yield finding
    if right and series is not None:
        yield from judge(model, series, n, each)


def simulated(model: Any) -> Series | None:
    """Return observations that the model draws; None if it cannot."""
    simulate = getattr(model, "simulate", None)
    return None if simulate is None else Series(np.asarray(simulate(SIMULATED, rng=0)[1]))


def show(found: Iterator[Finding]) -> int:
    """Print findings as they come; return how many are wrong."""
    console, wrong = Console(), 0
    for finding in found:
        mark, style = MARKS[finding.verdict]
        wrong += finding.verdict == "wrong"
        console.print(f"{mark:>5}  ", style=style, end="", highlight=False)
        text = f"{finding.about}: {finding.text}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.print(f"{wrong} wrong" if wrong else "The model can be filtered.", highlight=False)
    return wrong
