"""The command ``skh run``."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from skh.app import options
from skh.app.input_error import InputError
from skh.app.outputs import write_outputs
from skh.app.run import Prepared, Run, StoppedRunError, prepare, run
from skh.app.stopping import Terminated, errors_in_one_line, say_error
from skh.app.summary import printed_files, summary_table
from skh.app.surprise import surprise
from skh.app.template import TEMPLATE


def run_command(
    what: options.What = None,
    data: options.Data = None,
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented scenario, to a file or here.")
    ] = False,
    columns: options.ColumnList = None,
    times: options.Times = None,
    date_format: options.DateFormat = None,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    rule: options.RuleName = None,
    n: options.Number = None,
    seed: options.Seed = None,
    executor: options.Kind = None,
    workers: options.Workers = None,
    out: options.Folder = None,
    debug: options.Debug = False,
) -> None:
    """Filter your data by a model: a table, a figure and an interactive report."""
    with errors_in_one_line(debug):
        if init:
            write_template(what, TEMPLATE, "skh run")
            return
        reading = {
            "columns": columns,
            "times": times,
            "date_format": date_format,
            "decimal": decimal,
            "missing": missing,
        }
        filtering = {"rule": rule, "n": n, "seed": seed, "executor": executor, "workers": workers}
        scenario = options.scenario_of(what, data, reading, filtering, out)
        prepared = prepare(scenario)
        console = Console()
        finished = run_or_keep(prepared)
        console.print(summary_table(finished))
        if note := surprise(finished):
            console.print(note, soft_wrap=True, highlight=False)
        written = write_outputs(finished)
        console.print(printed_files(written, finished.seconds), soft_wrap=True, highlight=False)


def write_template(path: str | None, template: str, command: str) -> None:
    """Write a commented scenario to a new file, or print it."""
    if path is None:
        print(template, end="")
        return
    try:
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(template)
    except FileExistsError:
        raise InputError("this file is there already; nothing was written", Path(path)) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", Path(path)) from None
    print(f"{path}: edit it, then run {command} {path}")


def run_or_keep(prepared: Prepared) -> Run:
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
    goes_on = prepared.scenario.outputs.checkpoint is not None
    more = "; the same command continues" if goes_on else "" if files else "; none are kept"
    return f"; the first {steps} are in {files}{more}" if files else f"; {steps} were done{more}"
