"""The command ``skh compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as ScreenTable

from skh._runtime.progress import progress_bar
from skh.app import options
from skh.app.compare import Comparison, compared, duration, error_text, in_words
from skh.app.compare_figure import draw_comparison
from skh.app.input_error import InputError
from skh.app.run import Prepared, check_outputs, explained, prepare
from skh.app.stopping import errors_in_one_line
from skh.app.trials import (
    METHODS,
    PLACED_REFERENCE,
    Measured,
    Series,
    Sizes,
    cost_of,
    measure,
    run_reference,
    sizes_within,
)


def compare_command(
    what: options.What = None,
    data: options.Data = None,
    columns: options.ColumnList = None,
    times: options.Times = None,
    date_format: options.DateFormat = None,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    n: options.Number = None,
    repeats: Annotated[int, typer.Option(help="Runs of each filter.", min=2)] = 5,
    seconds: Annotated[float, typer.Option(help="Time to spend, about.", min=0.01)] = 60.0,
    out: options.Folder = None,
    debug: options.Debug = False,
) -> None:
    """Say which filter to use: particle filter, SQMC and the default on your data."""
    with errors_in_one_line(debug):
        reading = {
            "columns": columns,
            "times": times,
            "date_format": date_format,
            "decimal": decimal,
            "missing": missing,
        }
        scenario = options.scenario_of(what, data, reading, {"n": n}, out)
        prepared, console = prepare(scenario), Console()
        sizes, comparison = compare(prepared, repeats, seconds, console)
        console.print(error_table(comparison))
        for line in in_words(comparison):
            console.print(line, markup=False, highlight=False)
        path = write_figure(prepared, sizes, comparison)
        console.print(f"figure: {path}", soft_wrap=True, highlight=False)


def compare(
    prepared: Prepared, repeats: int, seconds: float, console: Console
) -> tuple[Sizes, Comparison]:
    """Run the filters and compare them."""
    model, n = prepared.model, prepared.scenario.filter.n
    series = Series(prepared.table.values, prepared.table.times)
    if hasattr(model, "mean_state"):
        raise InputError(f"{prepared.scenario.model.use}: compare needs states that are vectors")
    try:
        sizes = sizes_within(model, series, n, repeats, seconds)
        console.print(described(sizes, len(series)), highlight=False)
        series = series.first(sizes.steps)
        reference = run_reference(model, series, sizes)
        measured: list[Measured] = []
        with progress_bar(True, "comparing") as report:
            for one in measure(model, series, sizes, reference):
                measured.append(one)
                report(len(measured), len(sizes.n) * len(METHODS))
    except Exception as error:
        so_far = getattr(error, "result", None)
        t = 0 if so_far is None else len(so_far.means)
        raise InputError(explained(prepared, error, t)) from error
    return sizes, compared(measured, n, reference, cost_of([reference.run]))


def described(sizes: Sizes, T: int) -> str:
    """Say what is run."""
    steps = f"all {T} steps" if sizes.steps == T else f"the first {sizes.steps} of {T} steps"
    placed = PLACED_REFERENCE * sizes.n[1]
    return (
        f"Each filter runs {sizes.repeats} times on {steps}; they are compared with two runs of "
        f"{sizes.reference:,} particles, or of {placed:,} placed ones if the likelihood is sharp."
    )


def error_table(c: Comparison) -> ScreenTable:
    """Errors and times at n likelihood evaluations per step."""
    screen = ScreenTable(title=f"{c.n} likelihood evaluations per step", title_justify="left")
    for heading in ("filter", "error (sd of the state)", "time of a step"):
        screen.add_column(heading, justify="left" if heading == "filter" else "right")
    for m in c.measured:
        if m.n == c.n:
            screen.add_row(m.method, error_text(c, m.method), duration(m.cost.total))
    return screen


def write_figure(prepared: Prepared, sizes: Sizes, comparison: Comparison) -> Path:
    """Draw the comparison into the folder of the outputs."""
    scenario = prepared.scenario
    check_outputs(scenario)
    path = scenario.folder / scenario.outputs.folder / "compare.png"
    title = f"{scenario.model.use} on {sizes.steps} steps of {scenario.data.name}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draw_comparison(comparison, title, path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path) from error
    return path
