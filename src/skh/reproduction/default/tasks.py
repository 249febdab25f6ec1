"""Tasks of the study of the default rule, on the paper's four models and four others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from skh.frank_wolfe.default import default_rule
from skh.models import bearings_only, localisation, lorenz63, stochastic_volatility
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task, data_seed
from skh.reproduction.filtering import Data, against_many, filter_records
from skh.reproduction.rules import FILTERS, frank_wolfe
from skh.reproduction.synthetic.tasks import MODELS as PAPERS
from skh.reproduction.synthetic.tasks import simulated
from skh.rules.base import Rule
from skh.rules.refined import Refined

FURTHER: dict[str, Any] = {
    "volatility": stochastic_volatility,
    "bearings": bearings_only,
    "lorenz63": lorenz63,
    "localisation": localisation,
}
SCALES = (0.01, 0.1, 1.0, 10.0)  # variances of the fully corrective rule in a fixed kernel
# Errors on this model are close to those of the reference, and more particles are cheap there.
MORE_PARTICLES = {"volatility": 10}
# Measured at n = 100; most of it is the six configurations of the paper.
RELATIVE_COST = {
    **{"lgss3": 1.0, "lgss15": 2.0, "jmls": 0.2, "nonlinear": 0.8},
    **{"volatility": 3.0, "bearings": 3.0, "lorenz63": 3.0, "localisation": 3.0},
}


@dataclass(frozen=True)
class Default:
    """The default rule, a particle filter, SQMC and two rejected candidates, on eight models.

    The data of the paper's four models are those of ``synthetic``, whose records include the
    paper's six configurations (SKH-FW and SKH-FCFW with three sigma^2).  Here these six run on the
    four further models only.  They and the rejected candidates run for n <= ``others_up_to``.

    The reference of a further model is a particle filter with ``reference_particles``, ten times
    as many for stochastic volatility.
    """

    name: ClassVar[str] = "default"
    alone: ClassVar[bool] = False

    models: tuple[str, ...] = (*PAPERS, *FURTHER)
    n: tuple[int, ...] = (20, 50, 100, 200)
    sigma2: tuple[float, ...] = (0.01, 0.1, 1.0)
    others_up_to: int = 200
    search_points: int = 10_000  # of the six
    search_points_scales: int = 3_000
    batches: int = 30
    T: int = 100
    T_jmls: int = 10
    reference_particles: int = 100_000

    @classmethod
    def quick(cls) -> Default:
        """The same models and rules on shorter data."""
        return cls(
            n=(20, 50),
            search_points=1_000,
            search_points_scales=1_000,
            batches=3,
            T=20,
            T_jmls=8,
            reference_particles=20_000,
        )

    def tasks(self) -> list[Task]:
        """All cells of the first batch, then of the second, and so on."""
        return [
            Task(self.name, (model, n), b, cost=RELATIVE_COST[model] * n**1.2)
            for b in range(self.batches)
            for model in self.models
            for n in self.n
        ]

    def work(self, task: Task) -> Iterator[Record]:
        """Run every rule on the same data from the same seed."""
        model, n = str(task.cell[0]), int(task.cell[1])
        data = self._data(model, task.batch)
        for record, rule in self._runs(task.record(model=model, n=n)):
            yield from filter_records(record, rule, data)

    def _data(self, model: str, batch: int) -> Data:
        if model in FURTHER:
            seed = data_seed(self.name, model, batch)
            particles = self.reference_particles * MORE_PARTICLES.get(model, 1)
            return further(model, self.T, seed, particles)
        T = self.T_jmls if model == "jmls" else self.T
        return simulated(model, T, data_seed("synthetic", model, batch), self.reference_particles)

    def _runs(self, start: Record) -> Iterator[tuple[Record, Rule]]:
        """The rules of a cell, each with the start of its record."""
        ours = default_rule()
        yield replace(start, rule="default", m=ours.search_points_for(start.n)), ours
        for name in ("PF", "SQMC"):
            yield replace(start, rule=name), FILTERS[name]
        if start.n > self.others_up_to:
            return
        yield replace(start, rule="Refined Sobol"), Refined()
        m = self.search_points_scales
        yield replace(start, rule="FCFW, four scales", m=m), frank_wolfe("FCFW", SCALES, m)
        if start.model in FURTHER:
            yield from self._fixed(start)

    def _fixed(self, start: Record) -> Iterator[tuple[Record, Rule]]:
        m = self.search_points
        for name in ("FW", "FCFW"):
            for s in self.sigma2:
                record = replace(start, rule=f"SKH-{name}", sigma2=s, m=m)
                yield record, frank_wolfe(name, s, m)


@lru_cache(maxsize=8)  # the tasks of a batch share the data
def further(name: str, T: int, seed: int, reference_particles: int) -> Data:
    """Simulate a further model, with a particle filter of many particles as the reference."""
    model = FURTHER[name]()
    _, ys = model.simulate(T, rng=seed)
    return against_many(model, ys, reference_particles, seed + 1)
