"""Experiments as lists of small tasks that can run anywhere and in any order.

An experiment is a frozen dataclass: its fields are the configuration, ``tasks`` lists the work,
``work`` does one task and ``quick`` makes a small configuration.  A complete example::

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
            yield task.record(model="die", rule="throw", n=len(x), rmse=abs(x.mean() - 3.5))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Protocol, Self

from skh.reproduction.engine.record import Record

Value = str | int | float


@dataclass(frozen=True)
class Task:
    """One cell of an experiment's table, and one repetition (batch) of it."""

    experiment: str
    cell: tuple[Value, ...]
    batch: int
    cost: float = field(default=1.0, compare=False)  # relative; used to estimate the time left

    @property
    def key(self) -> str:
        """The name of the task within its experiment, also used as a file name."""
        return "_".join(str(value) for value in (*self.cell, f"{self.batch:03d}"))

    @property
    def seed(self) -> int:
        """A seed that depends on the names of the experiment and the task only."""
        digest = sha256(f"{self.experiment}/{self.key}".encode()).digest()
        return int.from_bytes(digest[:6], "big")  # 48 bits: exact in every JSON reader

    def record(self, *, model: str, n: int, rule: str = "", **fields: Any) -> Record:
        """Start a record of this task; results are filled in by `dataclasses.replace`."""
        names: dict[str, Any] = {"model": model, "rule": rule, "n": n, **fields}
        return Record(experiment=self.experiment, batch=self.batch, seed=self.seed, **names)


def data_seed(experiment: str, model: str, batch: int) -> int:
    """The seed of a batch of data, the same for all tasks that use the data."""
    return Task(experiment, ("data", model), batch).seed


class Experiment(Protocol):
    """The interface of an experiment; see the example above."""

    name: ClassVar[str]
    alone: ClassVar[bool]  # run one task at a time, because its times are measured

    @classmethod
    def quick(cls) -> Self:
        """The experiment at a size that takes a minute or less."""
        ...

    def tasks(self) -> list[Task]:
        """All tasks, in the order in which they should run."""
        ...

    def work(self, task: Task) -> Iterable[Record]:
        """Compute the records of one task from the configuration and the task alone."""
        ...


def run_tasks(
    experiment: Experiment, progress: Callable[[int, int], None] = lambda done, total: None
) -> list[Record]:
    """Run all tasks in this process, one after the other, and return their records."""
    tasks, records = experiment.tasks(), list[Record]()
    for done, task in enumerate(tasks):
        progress(done, len(tasks))
        records += experiment.work(task)
    progress(len(tasks), len(tasks))
    return records
