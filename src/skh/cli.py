"""The command ``skh``: filter your data, show the library at work, and reproduce the paper."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

try:
    import matplotlib  # noqa: F401  # imported by the figures when they are drawn
    import typer
    from rich.console import Console
except ImportError as error:  # pragma: no cover - an installation without the extra
    sys.exit(f'skh as a command needs pip install ".[app]" in the folder of skh ({error})')

from skh import __version__
from skh._runtime.progress import Report, progress_bar
from skh.app.check_command import check_command
from skh.app.compare_command import compare_command
from skh.app.localize.command import localize_command
from skh.app.run_command import run_command
from skh.app.stopping import Terminated, sigterm_raises
from skh.app.usage_errors import OneLineErrors
from skh.reproduction.catalogue import EXPERIMENTS, STUDIES
from skh.reproduction.demo.table import table_of
from skh.reproduction.demo.tasks import Demo
from skh.reproduction.engine.executor import EngineError
from skh.reproduction.engine.store import StoreError
from skh.reproduction.engine.task import Experiment, run_tasks
from skh.reproduction.report import runner
from skh.reproduction.report.claims import as_table
from skh.reproduction.report.drawing import draw
from skh.reproduction.report.progress import activity, lines
from skh.reproduction.report.writer import notes, write_report

app = typer.Typer(cls=OneLineErrors, add_completion=False, no_args_is_help=True)
app.command("run")(run_command)
app.command("check")(check_command)
app.command("compare")(compare_command)
app.command("localize")(localize_command)


def show_version(wanted: bool) -> None:
    """Print the version and end the command."""
    if wanted:
        print(f"skh {__version__}")
        raise typer.Exit


@app.callback()
def _skh(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Particle filtering by sequential kernel herding: on your data, at work, and its paper."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("demo"),
    n: Annotated[int, typer.Option(help="Number of particles in the table.", min=1)] = Demo.shown,
    batches: Annotated[int, typer.Option(help="Number of data sets.", min=1)] = Demo.batches,
    steps: Annotated[int, typer.Option(help="Length of each data set.", min=1)] = Demo.T,
) -> None:
    """Filter the nonlinear benchmark by five rules; print a table, draw a figure."""
    start, console = perf_counter(), Console()
    experiment = Demo(n=tuple(sorted({*Demo.n, n})), shown=n, batches=batches, T=steps)
    console.print("The first run compiles for some seconds; later runs use the compiled code.")
    with progress_bar(True if console.is_terminal else plain(console), "filtering") as progress:
        records = run_tasks(experiment, progress)
    console.print(table_of(records, n))
    with activity(console) as say:
        draw(experiment.name, records, out, svg=False, say=say)
    seconds = perf_counter() - start
    console.print(f"Figure: {out / 'demo.png'}   ({seconds:.0f} s)", soft_wrap=True)


def plain(console: Console) -> Report:
    """The progress of the demo as plain lines."""
    show = lines(console, "filtering")
    return lambda done, total: show(done / (total or 1), f"{done}/{total} tasks")


@app.command("reproduce")
def reproduce(
    experiment: Annotated[str, typer.Argument(help=" | ".join((*EXPERIMENTS, "all")))],
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: minutes, not hours.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Output folder.", show_default="reproduction or reproduction-quick"),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes, one core each.", show_default="all cores", min=0)
    ] = 0,
    scheduler: Annotated[
        str | None, typer.Option(help="Use a dask scheduler such as tcp://host:8786 instead.")
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing; report the existing records.")
    ] = False,
) -> None:
    """Rebuild the figures of the paper and check its claims; the same command resumes a run."""
    out = out or Path("reproduction-quick" if quick else "reproduction")
    experiments = chosen(experiment, quick)
    where = None if report_only else runner.Where(workers or available_cores(), scheduler)
    if where:
        experiments = with_data(experiments, experiment)
    try:
        with sigterm_raises():
            run_and_report(experiments, out, where)
    except (StoreError, EngineError) as error:
        Console(stderr=True).print(f"error: {error}", style="red", markup=False, soft_wrap=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        raise stopped("Interrupted", out, 128 + signal.SIGINT) from None
    except Terminated:
        raise stopped("Terminated", out, 128 + signal.SIGTERM) from None


def stopped(how: str, out: Path, code: int) -> typer.Exit:
    """Say what a stopped run leaves, and return its exit."""
    text = f"\n{how}. Finished tasks are in {out}; the same command continues."
    Console(stderr=True).print(text, markup=False, soft_wrap=True)
    return typer.Exit(code)


def run_and_report(experiments: list[Experiment], out: Path, where: runner.Where | None) -> None:
    """Run the experiments, unless ``where`` is None, and report all records in ``out``."""
    start, console = perf_counter(), Console()
    if where:
        runner.run(experiments, out, where, console)
    with activity(console) as say:
        results, judged = write_report(out, say)
    console.print(as_table(judged))
    for note in notes(results):
        console.print(note, style="yellow", markup=False)
    seconds = perf_counter() - start
    console.print(f"Report: {out / 'report.html'}   ({seconds:.0f} s)", soft_wrap=True)


def chosen(name: str, quick: bool) -> list[Experiment]:
    """The experiments that a name on the command line selects."""
    if name != "all" and name not in EXPERIMENTS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join((*EXPERIMENTS, 'all'))}")
    entries = STUDIES if name == "all" else (EXPERIMENTS[name],)
    return [entry.experiment(quick=quick) for entry in entries]


def with_data(experiments: list[Experiment], name: str) -> list[Experiment]:
    """The experiments whose data is there; of ``all`` the others are left out with a message."""
    missing = {e.name: text for e in experiments if (text := EXPERIMENTS[e.name].missing())}
    for experiment, text in missing.items():
        style, text = (
            ("yellow", f"{experiment} skipped: {text}")
            if name == "all"
            else ("red", f"error: {text}")
        )
        Console(stderr=True).print(text, style=style, markup=False, soft_wrap=True)
    if missing and name != "all":
        raise typer.Exit(1)
    return [e for e in experiments if e.name not in missing]


def available_cores() -> int:
    """The number of cores that this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return count or 1


def main() -> None:
    """Entry point of the command."""
    app()


if __name__ == "__main__":
    main()
