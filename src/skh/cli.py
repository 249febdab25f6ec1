"""The command ``skh``: particle filtering by sequential kernel herding, shown and reproduced."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

try:
    import typer
    from rich.console import Console

    from skh import reproduce, tables
    from skh.figures import demo as demo_picture
except ImportError as error:  # pragma: no cover - an installation without the extra
    sys.exit(f'skh as a command needs pip install ".[app]" in the folder of skh ({error})')

from skh._runtime.progress import progress_bar
from skh.experiments import demo as demo_experiment
from skh.experiments.catalogue import catalogue
from skh.experiments.engine import EngineError
from skh.experiments.store import StoreError
from skh.experiments.task import Experiment

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def _skh() -> None:
    """Particle filtering by sequential kernel herding: see it at work, or reproduce its paper."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("demo"),
    n: Annotated[int, typer.Option(help="Number of particles in the table.", min=1)] = 50,
    batches: Annotated[int, typer.Option(help="Data sets to average over.", min=1)] = 8,
    steps: Annotated[int, typer.Option(help="Length of each data set.", min=1)] = 100,
) -> None:
    """Filter the nonlinear benchmark by five rules; print a table, draw a figure."""
    start = perf_counter()
    console = Console()
    grid = tuple(sorted({20, 50, 100, 200, n}))
    config = demo_experiment.DemoConfig(n=grid, batches=batches, T=steps)
    console.print("The first run compiles for some seconds; later runs find the result on disk.")
    records = []
    with progress_bar(True, "filtering") as progress:
        progress(0, config.runs)
        for record in demo_experiment.run(config):
            records.append(record)
            progress(len(records), config.runs)
    console.print(tables.demo_table(records, n, config.T))
    out.mkdir(parents=True, exist_ok=True)
    path = out / "demo.png"
    demo_picture.draw(records, demo_experiment.placement(config, n), path)
    console.print(f"Figure: {path}   ({perf_counter() - start:.0f} s)", soft_wrap=True)


@app.command("reproduce")
def reproduce_command(
    experiment: Annotated[str, typer.Argument(help=" | ".join((*reproduce.NAMES, "all")))],
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
        str | None, typer.Option(help="A dask scheduler such as tcp://host:8786, in their place.")
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing; report the records that exist.")
    ] = False,
) -> None:
    """Rebuild the figures of the paper and check its claims; the same command resumes a run."""
    start, console = perf_counter(), Console()
    out = out or Path("reproduction-quick" if quick else "reproduction")
    experiments = chosen(experiment, quick)
    try:
        if not report_only:
            where = reproduce.Where(workers or available_cores(), scheduler)
            reproduce.run(experiments, out, where, console)
        results, judged = reproduce.report(out)
    except (StoreError, EngineError) as error:
        Console(stderr=True).print(f"error: {error}", style="red", markup=False, soft_wrap=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        Console(stderr=True).print(
            f"\nInterrupted. Finished tasks are in {out}; the same command goes on."
        )
        raise typer.Exit(130) from None
    console.print(reproduce.claims_table(judged))
    for note in reproduce.notes(results):
        console.print(note, style="yellow", markup=False)
    seconds = perf_counter() - start
    console.print(f"Report: {out / 'report.html'}   ({seconds:.0f} s)", soft_wrap=True)


def chosen(name: str, quick: bool) -> list[Experiment]:
    """The experiments that a name on the command line stands for."""
    known = catalogue(quick)
    if name == "all":
        return list(known.values())
    if name not in known:
        raise typer.BadParameter(f"{name!r} is none of {', '.join((*known, 'all'))}")
    return [known[name]]


def available_cores() -> int:
    """The cores that this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return count or 1


def main() -> None:
    """Entry point of the command."""
    app()


if __name__ == "__main__":
    main()
