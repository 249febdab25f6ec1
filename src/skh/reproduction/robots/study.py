"""The tasks of a study of logs: rules x numbers of particles x seeds, and references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan
from typing import ClassVar, Self

from skh.filtering.default_plan import default_plan
from skh.filtering.plans import Plan
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task
from skh.reproduction.robots.data import missing_data
from skh.reproduction.robots.log import Log
from skh.reproduction.robots.runs import map_records, run_records
from skh.reproduction.rule_wrappers import Whitened
from skh.reproduction.rules import FILTERS, frank_wolfe
from skh.rules.base import Rule

REFERENCE, MAP = "reference", "map"


@dataclass(frozen=True)
class LogStudy:
    """PF, SQMC, FW and FCFW of the paper and the default of this library on logs of robots.

    A subclass says its ``name``, the ``files`` it needs, its ``logs``, and how to `load` one.
    Kinds of tasks: a rule with N particles on a log from one seed; a reference, which is the PF
    with very many particles; and the map with the true path.
    """

    name: ClassVar[str]
    alone: ClassVar[bool] = False
    files: ClassVar[tuple[str, ...]] = ()

    logs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ("PF", "SQMC", "FW", "FCFW", "default")
    n: tuple[int, ...] = (30, 50, 100, 200)
    shown: int = 50  # the N of most figures, with more seeds
    seeds: int = 5
    shown_seeds: int = 10
    moments: int = 60  # at which positions are recorded
    pictured: int = 6  # at which particles are recorded, for one seed
    search_points: int = 2_000
    sigma2_fw: tuple[float, ...] = (1.0,)  # of the whitened mixture, as for flights
    sigma2_fcfw: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0)
    reference_particles: int = 50_000
    reference_runs: int = 2

    @classmethod
    def quick(cls) -> Self:
        """Few seeds and particles."""
        return cls(n=(30, 50), seeds=2, shown_seeds=2, reference_particles=2_000)

    @classmethod
    def missing(cls) -> str:
        """Say which files are missing and how to name them; empty if all are there."""
        return missing_data(cls.files)

    def load(self, log: str) -> Log:
        """Read a log; called once per task, so worth a cache."""
        raise NotImplementedError

    def tasks(self) -> list[Task]:
        """The maps and references, then the first seed of everything, and so on."""
        found = [Task(self.name, (log, MAP), 0, cost=0.1) for log in self.logs]
        for run in range(max(self.seeds, self.shown_seeds, self.reference_runs)):
            for log in self.logs:
                found += self._tasks_of(log, run)
        return found

    def _tasks_of(self, log: str, run: int) -> Iterator[Task]:
        if run < self.reference_runs:
            yield Task(self.name, (log, REFERENCE), run, cost=self.reference_particles / 400)
        for n in self.n:
            if run < (self.shown_seeds if n == self.shown else self.seeds):
                for rule in self.rules:
                    cost = 2.0 + n / 10 if rule not in FILTERS else 2.0
                    yield Task(self.name, (log, rule, n), run, cost=cost)

    def work(self, task: Task) -> Iterator[Record]:
        """Run one task."""
        name, kind, *size = task.cell
        log = self.load(str(name))
        start = task.record(model=str(name), n=0)
        if kind == MAP:
            yield from map_records(start, log)
        elif kind == REFERENCE:
            start = replace(start, rule=REFERENCE, n=self.reference_particles)
            yield from run_records(start, FILTERS["PF"], log, self.moments)
        else:
            n = int(size[0])
            pictured = self.pictured if n == self.shown and task.batch == 0 else 0
            start = self._named(replace(start, n=n), str(kind))
            yield from run_records(start, self.rule(str(kind)), log, self.moments, pictured)

    def _named(self, start: Record, rule: str) -> Record:
        """Fill in the rule and, for those of the paper, its kernel and search points."""
        variances = {"FW": self.sigma2_fw, "FCFW": self.sigma2_fcfw}.get(rule)
        if variances is None:
            return replace(start, rule=rule)
        sigma2 = variances[0] if len(variances) == 1 else nan
        return replace(start, rule=rule, sigma2=sigma2, m=self.search_points)

    def rule(self, name: str) -> Rule | Plan:
        """A rule by its name; those of the paper in coordinates in which a mixture is white."""
        if name in FILTERS:
            return FILTERS[name]
        if name == "default":
            return default_plan()
        variances = {"FW": self.sigma2_fw, "FCFW": self.sigma2_fcfw}[name]
        return Whitened(frank_wolfe(name, variances, self.search_points))
