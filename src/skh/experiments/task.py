"""Experiments as lists of small tasks that can run anywhere and in any order.

An experiment is one frozen dataclass: its fields are the configuration, ``tasks`` lists the work,
``work`` does one piece of it and ``quick`` makes a small one.  A complete example::

    @dataclass(frozen=True)
    class Dice:
        name: ClassVar[str] = "dice"
        alone: ClassVar[bool] = False
        n: tuple[int, ...] = (10, 100)
        batches: int = 3

        @classmethod
        def quick(cls) -> Dice:
            return cls(batches=1)

        def tasks(self) -> list[Task]:
            return [Task(self.name, (n,), b) for b in range(self.batches) for n in self.n]

        def work(self, task: Task) -> Iterator[Record]:
            x = np.random.default_rng(task.seed).integers(1, 7, task.cell[0])
            yield Record(experiment=self.name, model="die", rule="throw", n=len(x),
                         batch=task.batch, seed=task.seed, rmse=abs(x.mean() - 3.5))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import ClassVar, Protocol

from skh.experiments.record import Record

Value = str | int | float


@dataclass(frozen=True)
class Task:
    """A cell of an experiment's table and one repetition (batch) of it."""

    experiment: str
    cell: tuple[Value, ...]
    batch: int
    cost: float = field(default=1.0, compare=False)  # relative; only the time left depends on it

    @property
    def key(self) -> str:
        """The name of the task within its experiment, fit for a file name."""
        return "_".join(str(value) for value in (*self.cell, f"{self.batch:03d}"))

    @property
    def seed(self) -> int:
        """Follows from the names alone: never from the worker, the order or the other tasks."""
        digest = sha256(f"{self.experiment}/{self.key}".encode()).digest()
        return int.from_bytes(digest[:6], "big")  # 48 bits: exact in every JSON reader


def data_seed(experiment: str, model: str, batch: int) -> int:
    """The seed of a batch of data, the same for all cells that filter it."""
    return Task(experiment, ("data", model), batch).seed


class Experiment(Protocol):
    """What the engine asks of an experiment; see the example above."""

    name: ClassVar[str]
    alone: ClassVar[bool]  # its measured times matter: one task at a time

    def tasks(self) -> list[Task]:
        """All tasks, the ones whose results are wanted first in front."""
        ...

    def work(self, task: Task) -> Iterable[Record]:
        """The records of one task, a function of the configuration and the task alone."""
        ...


def run_tasks(experiment: Experiment) -> Iterator[Record]:
    """All records of an experiment, computed here and now, one task after the other."""
    for task in experiment.tasks():
        yield from experiment.work(task)
