"""The commands ``skh run``, ``skh check`` and ``skh compare`` as a terminal sees them."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from skh.app.input_error import InputError
from skh.app.outputs import write_outputs
from skh.app.run import Prepared, Run, StoppedRunError, prepare, run
from skh.app.scenario import Scenario, parse, read_scenario
from skh.app.stopping import Terminated, errors_in_one_line, say_error
from skh.app.summary import printed_files, summary_table
from skh.app.template import TEMPLATE

What = Annotated[
    str | None,
    typer.Argument(help="scenario.toml; or a model: model.py, module:object, a built-in name."),
]
Data = Annotated[str | None, typer.Argument(help="CSV or Parquet file, after a model.")]
ColumnList = Annotated[str | None, typer.Option(help="Columns to use, such as a,b.")]
Times = Annotated[str | None, typer.Option(help="The column with the times.")]
RuleName = Annotated[str | None, typer.Option(help="default, MonteCarlo, SQMC, ...")]
Number = Annotated[int | None, typer.Option(help="Particles.", show_default="50")]
Seed = Annotated[int | None, typer.Option(help="Of the random numbers.", show_default="0")]
Folder = Annotated[str | None, typer.Option(help="For the outputs.", show_default="run")]
Kind = Annotated[str | None, typer.Option(help="none, threads or processes.", show_default="none")]
Workers = Annotated[int | None, typer.Option(help="Threads or processes.", show_default="2")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code an error arose.")]


def run_command(
    what: What = None,
    data: Data = None,
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented scenario, to a file or here.")
    ] = False,
    columns: ColumnList = None,
    times: Times = None,
    rule: RuleName = None,
    n: Number = None,
    seed: Seed = None,
    executor: Kind = None,
    workers: Workers = None,
    out: Folder = None,
    debug: Debug = False,
) -> None:
    """Filter your data by a model: a table, a figure and an interactive report."""
    with errors_in_one_line(debug):
        if init:
            write_template(what)
            return
        filtering = {"rule": rule, "n": n, "seed": seed, "executor": executor, "workers": workers}
        scenario = scenario_of(what, data, columns, times, filtering, out)
        prepared = prepare(scenario)
        console = Console()
        finished = run_or_keep(prepared, console)
        console.print(summary_table(finished))
        written = write_outputs(finished)
        console.print(printed_files(written, finished.seconds), soft_wrap=True, highlight=False)


def scenario_of(
    what: str | None,
    data: str | None,
    columns: str | None,
    times: str | None,
    filtering: dict[str, Any],
    out: str | None,
) -> Scenario:
    """Return the scenario of a file, or of arguments, with the options that were given."""
    if what is None:
        raise InputError("name a scenario.toml, or a model and a table; skh run --init writes one")
    given = {
        "data": {"columns": columns and [c.strip() for c in columns.split(",")], "times": times},
        "filter": filtering,
        "outputs": {"folder": out},
    }
    options = {
        name: {key: value for key, value in section.items() if value is not None}
        for name, section in given.items()
    }
    if what.endswith(".toml"):
        if data is not None:
            raise InputError(f"a scenario names its data: leave out {data!r}, or name a model")
        return read_scenario(Path(what), options)
    if data is None:
        raise InputError(f"name the table for the model {what!r}: skh run {what} data.csv")
    return parse({"model": {"use": what}, "data": {"file": data}}, options)


def write_template(path: str | None) -> None:
    """Write the commented scenario to a new file, or print it."""
    if path is None:
        print(TEMPLATE, end="")
        return
    try:
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        raise InputError("this file is there already; nothing was written", Path(path)) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", Path(path)) from None
    print(f"{path}: edit it, then run skh run {path}")


def run_or_keep(prepared: Prepared, console: Console) -> Run:
    """Run; if that is stopped at a step, write the table of the steps before and say so."""
    try:
        return run(prepared, progress=True)
    except StoppedRunError as error:
        kept = keep(prepared, error.result, error.seconds)
        raise InputError(f"{error}{kept}") from error
    except KeyboardInterrupt as error:
        say_error(f"Interrupted{keep(prepared, getattr(error, 'result', None), 0.0) or KEPT_NONE}.")
        raise typer.Exit(128 + signal.SIGINT) from None
    except Terminated as error:
        say_error(f"Terminated{keep(prepared, getattr(error, 'result', None), 0.0) or KEPT_NONE}.")
        raise typer.Exit(128 + signal.SIGTERM) from None


KEPT_NONE = "; no step was complete, and nothing was written"


def keep(prepared: Prepared, result: Any, seconds: float) -> str:
    """Write the steps that were completed; return what to say about it."""
    if result is None:
        return ""
    written = write_outputs(Run(prepared, result, seconds), ("table", "result"))
    files = " and ".join(map(str, written.values()))
    steps = f"{len(result.means)} of {len(prepared.table)} steps"
    return f"; the first {steps} are in {files}" if files else f"; the first {steps} are lost"
