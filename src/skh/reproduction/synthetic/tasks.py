"""Tasks of section 4.2: filters on simulated data of four models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.models import LinearGaussian, jmls, lgss3, lgss15, nonlinear_benchmark
from skh.models.exact_filters import KalmanResult, jump_markov_filter, kalman_filter
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task, data_seed
from skh.reproduction.filtering import Data, against_many, filter_records
from skh.reproduction.rules import FILTERS, frank_wolfe

MODELS: dict[str, Any] = {
    "lgss3": lgss3,
    "lgss15": lgss15,
    "jmls": jmls,
    "nonlinear": nonlinear_benchmark,
}
RELATIVE_COST = {"lgss3": 1.0, "lgss15": 1.6, "jmls": 0.2, "nonlinear": 0.7}  # measured


@dataclass(frozen=True)
class Synthetic:
    """Four models; one task runs all rules and sigma^2 on one batch of data with one n.

    The paper does not give M for these runs; 10,000 is its M for the flight data.
    """

    name: ClassVar[str] = "synthetic"
    alone: ClassVar[bool] = False

    models: tuple[str, ...] = ("lgss3", "lgss15", "jmls", "nonlinear")
    n: tuple[int, ...] = (20, 30, 50, 70, 100, 140, 200)
    sigma2: tuple[float, ...] = (0.01, 0.1, 1.0)
    search_points: int = 10_000
    batches: int = 30
    T: int = 100
    T_jmls: int = 10  # the exact filter costs 2^T
    reference_particles: int = 100_000

    @classmethod
    def quick(cls) -> Synthetic:
        """The same models and rules on shorter data."""
        return cls(
            n=(20, 50, 100), search_points=2_000, batches=6, T=30, reference_particles=50_000
        )

    def tasks(self) -> list[Task]:
        """All cells of the first batch, then of the second, and so on."""
        return [
            Task(self.name, (model, n), b, cost=RELATIVE_COST[model] * n**1.3)
            for b in range(self.batches)
            for model in self.models
            for n in self.n
        ]

    def work(self, task: Task) -> Iterator[Record]:
        """Run every rule on the same data from the same seed."""
        model, n = str(task.cell[0]), int(task.cell[1])
        T = self.T_jmls if model == "jmls" else self.T
        seed = data_seed(self.name, model, task.batch)
        data = simulated(model, T, seed, self.reference_particles)
        start = task.record(model=model, n=n)
        kernels = [GaussianKernel(s) for s in self.sigma2]
        for name, rule in FILTERS.items():
            yield from filter_records(replace(start, rule=name), rule, data, kernels)
        for name in ("FW", "FCFW"):
            for s in self.sigma2:
                rule = frank_wolfe(name, s, self.search_points)
                skh = replace(start, rule=f"SKH-{name}", m=self.search_points)
                yield from filter_records(skh, rule, data, [GaussianKernel(s)])


@lru_cache(maxsize=8)  # the tasks of a batch share the data
def simulated(name: str, T: int, seed: int, reference_particles: int) -> Data:
    """Simulate a model; the reference is exact, or a PF with many particles for `nonlinear`."""
    model = MODELS[name]()
    _, ys = model.simulate(T, rng=seed)
    if name == "nonlinear":
        return against_many(model, ys, reference_particles, seed + 1)
    exact = (jump_markov_filter if name == "jmls" else kalman_filter)(model, ys)
    known = exact_predictives(model, exact) if isinstance(exact, KalmanResult) else None
    return Data(model, ys, exact.means, exact.log_evidence, known)


def exact_predictives(model: LinearGaussian, exact: KalmanResult) -> list[GaussianMixture]:
    """The distributions of x_t given y_{0:t-1} for all t, from the Kalman filter."""
    A, predictives = model.A, [model.prior()]
    for m, P in zip(exact.means[:-1], exact.covariances[:-1], strict=True):
        S = A @ P @ A.T + model.Q
        predictives.append(GaussianMixture([1.0], np.array([A @ m]), (S + S.T) / 2))
    return predictives
