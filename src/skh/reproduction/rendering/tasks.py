"""Tasks of the study: all rules on one simulated flight, and many random particles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar, Self

import numpy as np

from skh.models.rendering import InverseDepthCamera, RenderedFlight, TellingFlight
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task
from skh.reproduction.robots.log import Log
from skh.reproduction.robots.runs import run_records
from skh.reproduction.robots.study import REFERENCE, LogStudy

HALL = "hall"
LEARNED = "default, learned"  # of a model that does not tell the information of its images
FIRST_SEED = 2_000  # of the flight; smaller ones were used to write the model


@dataclass(frozen=True)
class Rendering(LogStudy):
    """Depth images rendered from a voxel map: PF, SQMC, FW, FCFW and the default, N = 30 to 2,000.

    The model tells the information of its images, which takes twelve of them per step; they are in
    the time of the default and not in its evaluations.  Random particles do not use it.
    """

    name: ClassVar[str] = "rendering"
    alone: ClassVar[bool] = True  # times are measured

    logs: tuple[str, ...] = (HALL,)
    rules: tuple[str, ...] = ("PF", "SQMC", "FW", "FCFW", "default", LEARNED)
    many: tuple[tuple[int, int], ...] = ((400, 5), (2_000, 3))  # random particles and seeds
    T: int = 20
    pixels: tuple[int, int] = (72, 54)
    moments: int = 19
    reference_particles: int = 20_000
    reference_runs: int = 1

    @classmethod
    def quick(cls) -> Self:
        """Small images of a short flight."""
        return cls(
            n=(30, 50),
            seeds=2,
            shown_seeds=2,
            many=((400, 2), (2_000, 1)),
            T=8,
            pixels=(16, 12),
            reference_particles=4_000,
        )

    def load(self, log: str) -> Log:
        """Simulate the flight."""
        return flight_log(self.T, self.pixels, tells=True)

    def tasks(self) -> list[Task]:
        """As for other logs and more random particles; references last, for they take longest."""
        more = [
            Task(self.name, (log, "PF", n), run, cost=n / 10)
            for log, (n, seeds) in product(self.logs, self.many)
            for run in range(seeds)
        ]
        return sorted([*super().tasks(), *more], key=lambda task: task.cell[1] == REFERENCE)

    def work(self, task: Task) -> Iterator[Record]:
        """Run one task."""
        if task.cell[1] != LEARNED:
            yield from super().work(task)
            return
        n, log = int(task.cell[2]), flight_log(self.T, self.pixels, tells=False)
        start = task.record(model=str(task.cell[0]), rule=LEARNED, n=n)
        yield from run_records(start, self.rule("default"), log, self.moments)


@lru_cache(maxsize=2)
def flight_log(T: int, pixels: tuple[int, int], *, tells: bool) -> Log:
    """The flight with its true path; the model tells the information of its images, or not."""
    kind = TellingFlight if tells else RenderedFlight
    flight = kind(camera=InverseDepthCamera(pixels=pixels))
    truth, images = flight.simulate(T, rng=FIRST_SEED)
    times = np.arange(float(T))
    return Log(flight.charted(), list(images), times, truth.position, first=1, dimension=3)
