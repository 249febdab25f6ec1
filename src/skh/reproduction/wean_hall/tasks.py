"""Tasks on Wean Hall: tracking by all rules, starts anywhere, and a kidnapped robot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task
from skh.reproduction.robots.log import Log
from skh.reproduction.robots.runs import LANDMARK, placed
from skh.reproduction.robots.study import MAP, LogStudy
from skh.reproduction.wean_hall.log import FILES, MAP_FILE, grid, tracked
from skh.reproduction.wean_hall.starts import anywhere, anywhere_kld, kidnapped

ANYWHERE, KIDNAPPED = "anywhere, ", "kidnapped"
OURS, KLD, STAYING = "localiser", "KLD", "no recovery"
WALLS = 2  # every so many cells of a wall are drawn


@dataclass(frozen=True)
class WeanHall(LogStudy):
    """Logs 1 and 3; parameters were chosen on log 1."""

    name: ClassVar[str] = "wean-hall"
    files: ClassVar[tuple[str, ...]] = (MAP_FILE, *FILES.values())

    logs: tuple[str, ...] = tuple(FILES)
    steps: int = 10_000  # all
    reference_particles: int = 25_000
    starts: int = 10  # seeds of starts anywhere, and of kidnapped robots
    claimed: int = 30  # the N at which the default's accuracy is claimed, with all seeds
    least: int = 50
    most: int = 12_000
    kld: tuple[tuple[float, int], ...] = ((0.05, 120_000), (0.02, 60_000), (0.01, 60_000))
    jump: tuple[int, int] = (100, 50)  # from a step of log 1 to one of log 3

    @classmethod
    def quick(cls) -> WeanHall:
        """The first steps, few seeds."""
        return cls(
            n=(30, 50),
            seeds=2,
            shown_seeds=2,
            steps=40,
            reference_particles=2_000,
            starts=1,
            most=2_000,
            kld=((0.05, 2_000),),
            jump=(5, 5),
        )

    def load(self, log: str) -> Log:
        """A log with the pose at its start given."""
        return tracked(log, self.steps)

    def tasks(self) -> list[Task]:
        """Those of tracking, more seeds for the claim, starts anywhere, kidnapped robots."""
        found = [*super().tasks(), Task(self.name, ("walls", MAP), 0, cost=0.1)]
        for run, log in product(range(self.seeds, self.shown_seeds), self.logs):
            found.append(Task(self.name, (log, "default", self.claimed), run, cost=5.0))
        for run in range(self.starts):
            for log in self.logs:
                found.append(Task(self.name, (ANYWHERE + log, OURS, self.most), run, cost=6.0))
                found += [
                    Task(self.name, (ANYWHERE + log, KLD, n, error), run, cost=n / 2e4)
                    for error, n in self.kld
                ]
            found += [
                Task(self.name, (KIDNAPPED, rule, self.most), run, cost=8.0)
                for rule in (OURS, STAYING)
            ]
        return found

    def work(self, task: Task) -> Iterator[Record]:
        """Run one task."""
        model, kind, *rest = task.cell
        start = task.record(model=str(model), n=int(rest[0]) if rest else 0)
        if model == "walls":
            yield from walls(start)
        elif model == KIDNAPPED:
            recover = kind == OURS
            yield from kidnapped(
                *(replace(start, rule=str(kind)), self.steps, self.moments, self.least),
                jump=self.jump,
                recover=recover,
            )
        elif str(model).startswith(ANYWHERE):
            yield from self._anywhere(start, str(model).removeprefix(ANYWHERE), str(kind), rest)
        else:
            yield from super().work(task)

    def _anywhere(self, start: Record, log: str, kind: str, rest: list[Any]) -> Iterator[Record]:
        if kind == OURS:
            named = replace(start, rule=OURS)
            yield from anywhere(named, log, self.steps, self.moments, self.least)
        else:
            error = float(rest[1])
            named = replace(start, rule=f"{KLD} {error:g}")
            yield from anywhere_kld(named, log, self.steps, self.moments, error)


def walls(start: Record) -> Iterator[Record]:
    """Occupied cells that have a free neighbour, so that figures need no data."""
    cells = grid()
    occupied: Any = cells.occupied
    free: Any = np.logical_not(occupied) if cells.free is None else cells.free
    beside = [np.roll(free, way, axis) for axis in (0, 1) for way in (-1, 1)]
    rows, columns = np.nonzero(np.any(beside, axis=0) & occupied)
    places = np.asarray(cells.origin) + cells.resolution * (np.column_stack([columns, rows]) + 0.5)
    for place in places[::WALLS]:
        yield placed(replace(start, rule=LANDMARK), 0.0, place)
