"""Tasks of appendix B: the same rules with more and more search points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from skh.frank_wolfe.fw_quad import FWQuad
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task, data_seed
from skh.reproduction.filtering import filter_records
from skh.reproduction.mixture.tasks import quadrature, random_mixture, setting_name
from skh.reproduction.rules import SOBOL, frank_wolfe
from skh.reproduction.synthetic.tasks import simulated

STEPS = ("FW", "FCFW")
SUFFIX = ", Sobol"  # of the rules whose search points are a Sobol sequence


@dataclass(frozen=True)
class SearchPoints:
    """Points chosen among M search points, random ones or a Sobol sequence.

    One task is one M and one mixture in d dimensions, or one batch of data for a filter.
    """

    name: ClassVar[str] = "search-points"
    alone: ClassVar[bool] = False

    m: tuple[int, ...] = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
    m_filter: tuple[int, ...] = (100, 300, 1_000, 3_000, 10_000)
    dimensions: tuple[int, ...] = (2, 5)
    K: int = 100
    n: int = 100
    sigma2: float = 1.0
    filters: tuple[str, ...] = ("lgss3",)
    n_filter: int = 50
    T: int = 100
    batches: int = 20

    @classmethod
    def quick(cls) -> SearchPoints:
        """Fewer points, steps and batches."""
        return cls(
            m=(100, 300, 1_000, 3_000, 10_000),
            m_filter=(100, 300, 1_000, 3_000),
            n=50,
            n_filter=20,
            T=30,
            batches=6,
        )

    def tasks(self) -> list[Task]:
        """All cells of the first batch, then of the second, and so on."""
        cells = [(f"d{d}", m) for d in self.dimensions for m in self.m]
        cells += [(model, m) for model in self.filters for m in self.m_filter]
        return [Task(self.name, c, b, cost=200 + c[1]) for b in range(self.batches) for c in cells]

    def work(self, task: Task) -> Iterator[Record]:
        """Run FW and FCFW with both kinds of search points."""
        family, m = str(task.cell[0]), int(task.cell[1])
        start = task.record(model=family, sigma2=self.sigma2, n=self.n, m=m)
        filtering = family in self.filters
        return self._filter(start) if filtering else self._mixture(start, int(family[1:]))

    def _mixture(self, start: Record, d: int) -> Iterator[Record]:
        p = random_mixture(self.K, d, data_seed(self.name, f"{self.K}_{d}", start.batch))
        for name, rule in self._rules(start.m).items():
            rule(p, 2, rng=0)  # compile before measuring the time
            yield quadrature(replace(start, model=setting_name(self.K, d), rule=name), rule, p)

    def _filter(self, start: Record) -> Iterator[Record]:
        data = simulated(start.model, self.T, data_seed(self.name, start.model, start.batch), 1)
        for name, rule in self._rules(start.m).items():
            named = replace(start, rule=name, n=self.n_filter)
            yield from filter_records(named, rule, data, [GaussianKernel(self.sigma2)])

    def _rules(self, m: int) -> dict[str, FWQuad]:
        sobol = SOBOL["Hilbert-Sobol"]
        random = {name: frank_wolfe(name, self.sigma2, m) for name in STEPS}
        return random | {name + SUFFIX: frank_wolfe(name, self.sigma2, m, sobol) for name in STEPS}
