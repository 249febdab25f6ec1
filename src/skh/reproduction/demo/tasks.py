"""Tasks of the demo: runs of filters, and the points of each rule for one distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skh._typing import Array
from skh.filtering.particle_filter import ParticleFilter
from skh.frank_wolfe.default import default_rule
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task, data_seed
from skh.reproduction.filtering import Data, filter_records
from skh.reproduction.rules import FILTERS, frank_wolfe
from skh.reproduction.synthetic.tasks import simulated
from skh.rules.base import Rule

PLACED, DENSITY = "one predictive", "density"
GRID = 400  # points of the density


@dataclass(frozen=True)
class Demo:
    """Filters with the same numbers of particles; the defaults take about a minute.

    One task runs all rules on one batch of data with one n.  The first task records what the
    figure shows of a predictive distribution: its density, and the points of each rule, with the
    state as ``x`` and the density or the weight as ``y``.
    """

    name: ClassVar[str] = "demo"
    alone: ClassVar[bool] = True  # its table compares times

    n: tuple[int, ...] = (20, 50, 100)
    n_random: tuple[int, ...] = (200, 400)  # more, for the rules that do not search
    shown: int = 50  # the number of particles in the table and of the points in the figure
    batches: int = 8
    T: int = 100
    search_points: int = 3_000
    sigma2: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)  # of the herding rules' kernel
    reference_particles: int = 100_000

    @classmethod
    def quick(cls) -> Demo:
        """Shorter and fewer data sets."""
        return cls(n_random=(200,), batches=3, T=30, reference_particles=20_000)

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules by name, the default rule first."""
        return {
            "default": default_rule(),
            "SKH-FCFW": frank_wolfe("FCFW", self.sigma2, self.search_points),
            "SKH-FW": frank_wolfe("FW", self.sigma2, self.search_points),
            **self.random_rules,
        }

    @property
    def random_rules(self) -> dict[str, Rule]:
        """The rules that do not search, which also run with more particles."""
        return {name: FILTERS[name] for name in ("SQMC", "PF")}

    def tasks(self) -> list[Task]:
        """The placement of points, then all n of the first batch, of the second, and so on."""
        sizes = sorted({*self.n, *self.n_random})
        runs = [Task(self.name, ("filter", n), b) for b in range(self.batches) for n in sizes]
        return [Task(self.name, ("place", self.shown), 0), *runs]

    def work(self, task: Task) -> Iterator[Record]:
        """Run every rule on the same data, or on one predictive distribution."""
        kind, n = str(task.cell[0]), int(task.cell[1])
        data = self._data(task.batch)
        if kind == "place":
            yield from self._place(task.record(model=PLACED, n=n), data)
            return
        for name, rule in (self.rules if n in self.n else self.random_rules).items():
            start = task.record(model="nonlinear", rule=name, n=n)
            yield from filter_records(start, rule, data, [GaussianKernel(self.sigma2)])

    def _data(self, batch: int) -> Data:
        seed = data_seed(self.name, "nonlinear", batch)
        return simulated("nonlinear", self.T, seed, self.reference_particles)

    def _place(self, start: Record, data: Data) -> Iterator[Record]:
        """Record the density of a predictive distribution and the points of each rule."""
        p, t = widest_predictive(data)
        start = replace(start, time=float(t))
        reach = 2 * p.covariance[0, 0] ** 0.5
        for x in np.linspace(p.mean[0] - reach, p.mean[0] + reach, GRID):
            yield replace(start, rule=DENSITY, x=float(x), y=density(p, float(x)))
        for name, rule in self.rules.items():
            points = rule(p, start.n, rng=start.seed)
            for x, w in zip(points.x[:, 0], points.w, strict=True):
                yield replace(start, rule=name, x=float(x), y=float(w))


def widest_predictive(data: Data) -> tuple[GaussianMixture, int]:
    """The predictive mixture with the largest variance in one run of a filter, and its step."""
    pf = ParticleFilter(data.model, default_rule(), 100, rng=0)
    found = []
    for t, y in enumerate(data.ys[:-1]):
        known = pf.step(y).information
        assert known is not None  # there was an observation
        found.append((pf.predict().with_information(known.matrix), t + 1))
    return max(found, key=lambda pair: pair[0].covariance[0, 0])


def density(p: GaussianMixture, x: float) -> float:
    """The density of a one-dimensional mixture."""
    variance: Array = p.covariance_matrices[:, 0, 0]
    bumps = np.exp(-((x - p.means[:, 0]) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    return float(bumps @ p.weights)
