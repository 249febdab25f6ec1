"""Tasks of the paragraph "Runtimes": times of placements and filters as their sizes grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task, Value, data_seed
from skh.reproduction.filtering import filter_records
from skh.reproduction.mixture.tasks import quadrature, random_mixture
from skh.reproduction.rules import FILTERS, frank_wolfe
from skh.reproduction.synthetic.tasks import simulated

PLACING = "d=6 mixture"  # the three parts of the experiment, as "model" in the records
STREAMING = "nonlinear, growing T"
FILTERING = "nonlinear"
STEPS = ("FW", "FCFW")


@dataclass(frozen=True)
class Runtime:
    """Times of single placements (d = 6 as in the paper's flight data, K = n) and of filters."""

    name: ClassVar[str] = "runtime"
    alone: ClassVar[bool] = True  # a second task would disturb the measured times

    n: tuple[int, ...] = (25, 50, 100, 200, 400)
    m: tuple[int, ...] = (1_000, 3_000, 10_000, 30_000, 100_000)
    T: tuple[int, ...] = (25, 50, 100, 200)
    search_points: int = 10_000  # where n grows, as in the paper
    n_fixed: int = 100  # where m or T grows
    sigma2: float = 1.0
    repeats: int = 5  # of each measurement, whose median is recorded
    n_sampling: tuple[int, ...] = (20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
    n_placing: tuple[int, ...] = (20, 30, 50, 70, 100, 140, 200)
    sigma2_filter: float = 0.1  # the paper's for this model
    T_filter: int = 100
    reference_particles: int = 100_000
    batches: int = 10

    @classmethod
    def quick(cls) -> Runtime:
        """The sizes for which the paper gives times, and few others."""
        return cls(
            n=(50, 100, 200),
            m=(1_000, 3_000, 10_000),
            T=(10, 20, 40),
            repeats=3,
            n_sampling=(20, 100, 500, 2_000),
            n_placing=(20, 50, 100),
            T_filter=30,
            reference_particles=50_000,
            batches=3,
        )

    def tasks(self) -> list[Task]:
        """All cells of each batch; a cell has the name of its part and the sizes."""
        sizes = [(n, self.search_points) for n in self.n] + [(self.n_fixed, m) for m in self.m]
        cells: list[tuple[tuple[Value, ...], float]] = [
            *((("place", n, m), n_m_cost(n, m)) for n, m in dict.fromkeys(sizes)),
            *((("stream", self.n_fixed, T), 10.0 * T) for T in self.T),
            *((("sample", n, 0), 1_500.0 + n) for n in self.n_sampling),
            *((("search", n, 0), 1_500.0 + 30 * n) for n in self.n_placing),
        ]
        return [Task(self.name, c, b, cost=k) for b in range(self.batches) for c, k in cells]

    def work(self, task: Task) -> Iterator[Record]:
        """Measure each rule of the part once."""
        part, n, size = str(task.cell[0]), int(task.cell[1]), int(task.cell[2])
        if part == "place":
            return self._place(task.record(model=PLACING, n=n, m=size, sigma2=self.sigma2))
        if part == "stream":
            return self._filter(task.record(model=STREAMING, n=n), ("FW",), size)
        names = tuple(FILTERS) if part == "sample" else STEPS
        return self._filter(task.record(model=FILTERING, n=n), names, self.T_filter)

    def _place(self, start: Record) -> Iterator[Record]:
        p = random_mixture(start.n, 6, data_seed(self.name, f"{start.n}_6", start.batch))
        for name in STEPS:
            rule = frank_wolfe(name, self.sigma2, start.m)
            rule(p, 2, rng=0)  # compile before measuring the time
            times = [quadrature(replace(start, rule=name), rule, p) for _ in range(self.repeats)]
            yield replace(times[0], seconds=float(np.median([r.seconds for r in times])))

    def _filter(self, start: Record, names: tuple[str, ...], T: int) -> Iterator[Record]:
        # The seed does not depend on T: short data are the beginning of long data.
        seed = data_seed(self.name, "nonlinear", start.batch)
        data = simulated("nonlinear", T, seed, self.reference_particles)
        sigma2, m = self.sigma2_filter, self.search_points
        for name in names:  # without a kernel: the MMD of 10,000 particles would take too long
            if name in FILTERS:
                yield from filter_records(replace(start, rule=name), FILTERS[name], data)
            else:
                skh = replace(start, rule=f"SKH-{name}", sigma2=sigma2, m=m)
                yield from filter_records(skh, frank_wolfe(name, sigma2, m), data)


def n_m_cost(n: int, m: int) -> float:
    """The approximate cost of a fully corrective placement, relative to other tasks."""
    return (n + n**2 / 50) * m / 1_000
