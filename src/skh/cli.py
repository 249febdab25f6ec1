"""The command ``skh``."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

try:
    import typer
    from rich.console import Console

    from skh import plots
except ImportError as error:  # pragma: no cover - an installation without the extra
    sys.exit(f"the command skh needs its extra, pip install 'skh[app]' ({error})")

from skh import report
from skh.experiments import demo as demo_experiment
from skh.progress import progress_bar

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)


@app.callback()
def _skh() -> None:
    """Particle filtering for expensive likelihoods: sequential kernel herding."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("demo"),
    n: Annotated[int, typer.Option(help="Number of particles in the table.", min=1)] = 50,
    batches: Annotated[int, typer.Option(help="Data sets to average over.", min=1)] = 5,
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
    console.print(report.demo_table(records, n, config.T))
    out.mkdir(parents=True, exist_ok=True)
    path = out / "demo.png"
    plots.demo_figure(records, demo_experiment.placement(config, n), path)
    console.print(f"Figure: {path}   ({perf_counter() - start:.0f} s)", soft_wrap=True)


def main() -> None:
    """Entry point of the command."""
    app()
