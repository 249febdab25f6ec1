"""Run experiments with a progress bar for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from skh.reproduction.engine.executor import Engine, cluster, complete, local
from skh.reproduction.engine.results import unpack
from skh.reproduction.engine.task import Experiment


@dataclass(frozen=True)
class Where:
    """Where tasks run: in a number of local processes, or on a cluster."""

    workers: int
    scheduler: str | None = None

    def engine(self) -> AbstractContextManager[Engine]:
        """An engine for a ``with`` statement."""
        return cluster(self.scheduler) if self.scheduler else local(self.workers)


def run(experiments: Sequence[Experiment], out: Path, where: Where, console: Console) -> None:
    """Run the missing tasks of all experiments and store their records in ``out``."""
    with where.engine() as engine, _bars(console) as bars:
        for experiment in experiments:
            if lost := unpack(out, experiment):
                console.print(
                    f"{out / 'records.csv.gz'} was cut short: {lost} tasks of {experiment.name} "
                    "are lost and computed again",
                    style="yellow",
                    markup=False,
                    soft_wrap=True,
                )
            complete(experiment, out / experiment.name, engine, _bar(bars, experiment))


def _bars(console: Console) -> Progress:
    name, count = TextColumn("{task.description:>13}"), TextColumn("{task.fields[count]}")
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(compact=True))
    # A task may take minutes, so the speed is estimated over an hour, not over half a minute.
    return Progress(
        *(name, BarColumn(20), count, *times), console=console, speed_estimate_period=3600
    )


def _bar(bars: Progress, experiment: Experiment) -> Callable[[float, int], None]:
    """Add a bar that advances by the cost of tasks and shows their number."""
    tasks, finished = experiment.tasks(), 0
    bar = bars.add_task(experiment.name, total=sum(t.cost for t in tasks), count="")

    def advance(cost: float, number: int) -> None:
        nonlocal finished
        finished += number
        bars.update(bar, advance=cost, count=f"{finished}/{len(tasks)} tasks")

    return advance
