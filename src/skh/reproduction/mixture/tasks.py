"""Tasks of section 4.1: quadrature of random mixtures by each rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import ClassVar

import numpy as np

from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel, mmd
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task, data_seed
from skh.reproduction.rules import SAMPLING, frank_wolfe
from skh.rules.base import Rule

FRANK_WOLFE = ("FW", "FW-LS", "FCFW")


@dataclass(frozen=True)
class Mixture:
    """Random mixtures; one task runs all rules and all n on one mixture."""

    name: ClassVar[str] = "mixture"
    alone: ClassVar[bool] = False

    settings: tuple[tuple[int, int, float], ...] = (  # (K, d, sigma^2)
        *((100, 2, 1.0), (20, 2, 1.0)),
        *((100, 5, 1.0), (100, 5, 100.0)),
    )
    n: tuple[int, ...] = (10, 15, 21, 31, 45, 66, 97, 141, 206, 300)
    search_points: int = 50_000
    batches: int = 30

    @classmethod
    def quick(cls) -> Mixture:
        """The same settings with fewer n, search points and batches."""
        return cls(n=(10, 21, 45, 97, 206), search_points=5_000, batches=8)

    def tasks(self) -> list[Task]:
        """All settings of the first batch, then of the second, and so on."""
        return [Task(self.name, cell, b) for b in range(self.batches) for cell in self.settings]

    def work(self, task: Task) -> Iterator[Record]:
        """The MMD and the error of the mean for each rule and n."""
        K, d, sigma2 = int(task.cell[0]), int(task.cell[1]), float(task.cell[2])
        p = random_mixture(K, d, data_seed(self.name, f"{K}_{d}", task.batch))
        start = task.record(model=setting_name(K, d), sigma2=sigma2, n=0)
        for name, rule in self.rules(sigma2).items():
            m = self.search_points if name in FRANK_WOLFE else 0
            rule(p, 2, rng=0)  # compile before measuring the time
            for n in self.n:
                yield quadrature(replace(start, rule=name, n=n, m=m), rule, p)

    def rules(self, sigma2: float) -> dict[str, Rule]:
        """All rules by name."""
        searching = {name: frank_wolfe(name, sigma2, self.search_points) for name in FRANK_WOLFE}
        return {**SAMPLING, **searching}


def setting_name(K: int, d: int) -> str:
    """The name of a family of random mixtures in the records."""
    return f"K={K}, d={d}"


def random_mixture(K: int, d: int, seed: int) -> GaussianMixture:
    """Draw a mixture as in appendix C.1."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(-5, 5, (K, d))
    return GaussianMixture(rng.uniform(size=K), means, rng.uniform(0.1, 4.1, K))


def quadrature(start: Record, rule: Rule, p: GaussianMixture) -> Record:
    """Run a rule on a mixture and fill in the record."""
    begin = perf_counter()
    points = rule(p, start.n, rng=start.seed)
    seconds = perf_counter() - begin
    error = points.w @ points.x - p.mean
    return replace(
        start,
        rmse=float(np.sqrt(error @ error)),
        mmd=mmd(GaussianKernel(start.sigma2), p, points.x, points.w),
        ess=float(1 / (points.w @ points.w)),
        n_particles=float(len(points)),
        seconds=seconds,
    )
