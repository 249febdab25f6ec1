"""Tasks of the study: all rules on one simulated flight, and many random particles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar, Self

import numpy as np

from skh.filtering.plans import OneLook
from skh.models.rendering import (
    InverseDepthCamera,
    RenderedFlight,
    ResidualFlight,
    TellingFlight,
)
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task
from skh.reproduction.robots.log import Log
from skh.reproduction.robots.runs import run_records
from skh.reproduction.robots.study import REFERENCE, LogStudy
from skh.reproduction.rules import FILTERS

HALL = "hall"
LINEARISED = "PF, linearised"  # random particles for the mixture times the approximation
TOLD = "default, told"  # of a model that tells the information of its images, but no residuals
LEARNED = "default, learned"  # of one that tells nothing
FLIGHTS = {LINEARISED: ResidualFlight, TOLD: TellingFlight, LEARNED: RenderedFlight}
FIRST_SEED = 2_000  # of the flight; smaller ones were used to write the model


@dataclass(frozen=True)
class Rendering(LogStudy):
    """Depth images rendered from a voxel map: PF, SQMC, FW, FCFW and the default, N = 30 to 2,000.

    The model is in residual form.  The default linearises it at 26 images per step, 13 where N is
    30; they are among its N evaluations, and so are not particles.  Rules that place points blindly
    do not.  Three variants at one N say what helps: random particles that use the linearisation,
    and the default with information that is told (by twelve images beyond N) or learned.
    """

    name: ClassVar[str] = "rendering"
    alone: ClassVar[bool] = True  # times are measured

    logs: tuple[str, ...] = (HALL,)
    variants: tuple[str, ...] = tuple(FLIGHTS)  # of which there are runs with ``shown`` points
    many: tuple[tuple[int, int], ...] = ((400, 5), (2_000, 5))  # random particles and seeds
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
        return flight_log(self.T, self.pixels, ResidualFlight)

    def tasks(self) -> list[Task]:
        """As for other logs and more random particles; references last, for they take longest."""
        more = [
            Task(self.name, (log, rule, self.shown), run, cost=self.shown / 10)
            for run, log, rule in product(range(self.shown_seeds), self.logs, self.variants)
        ]
        more += [
            Task(self.name, (log, "PF", n), run, cost=n / 10)
            for log, (n, seeds) in product(self.logs, self.many)
            for run in range(seeds)
        ]
        return sorted([*super().tasks(), *more], key=lambda task: task.cell[1] == REFERENCE)

    def work(self, task: Task) -> Iterator[Record]:
        """Run one task."""
        variant = str(task.cell[1])
        if variant not in self.variants:
            yield from super().work(task)
            return
        log = flight_log(self.T, self.pixels, FLIGHTS[variant])
        start = task.record(model=str(task.cell[0]), rule=variant, n=int(task.cell[2]))
        rule = Linearising(FILTERS["PF"]) if variant == LINEARISED else self.rule("default")
        yield from run_records(start, rule, log, self.moments)


@dataclass(frozen=True)
class Linearising(OneLook):
    """The plan of a rule that takes its points blindly, but for the linearised likelihood."""

    @property
    def uses_information(self) -> bool:
        """True: else the filter would not linearise."""
        return True


@lru_cache(maxsize=3)
def flight_log(T: int, pixels: tuple[int, int], kind: type[RenderedFlight]) -> Log:
    """The flight with its true path; the kinds differ in what the model tells the filter."""
    flight = kind(camera=InverseDepthCamera(pixels=pixels))
    truth, images = flight.simulate(T, rng=FIRST_SEED)
    times = np.arange(float(T))
    return Log(flight.charted(), list(images), times, truth.position, first=1, dimension=3)
