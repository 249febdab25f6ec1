"""Run experiments and show their progress."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from skh.reproduction.engine.executor import Engine, cluster, complete, local
from skh.reproduction.engine.results import unpack
from skh.reproduction.engine.task import Experiment
from skh.reproduction.report.progress import task_progress


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
    with where.engine() as engine, task_progress(console) as start:
        for experiment in experiments:
            if lost := unpack(out, experiment):
                console.print(
                    f"{out / 'records.csv.gz'} was cut short: {lost} tasks of {experiment.name} "
                    "are lost and computed again",
                    style="yellow",
                    markup=False,
                    soft_wrap=True,
                )
            complete(experiment, out / experiment.name, engine, start(experiment))
