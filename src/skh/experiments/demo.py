"""The demo: five rules filter the nonlinear benchmark with the same numbers of particles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skh.experiments.filtering import against_many, filter_records
from skh.experiments.record import Record
from skh.filtering.particle_filter import ParticleFilter
from skh.frank_wolfe.fully_corrective import FullyCorrective
from skh.frank_wolfe.fw_quad import FWQuad
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.models import nonlinear_benchmark
from skh.rules.base import Measured, Rule, WeightedPoints
from skh.rules.sampling import QuasiMonteCarlo, Stratified


@dataclass(frozen=True)
class DemoConfig:
    """Sizes of the demo; the defaults take about a minute."""

    n: tuple[int, ...] = (20, 50, 100, 200)
    batches: int = 8
    T: int = 100
    search_points: int = 3_000
    reference_particles: int = 100_000
    sigma2: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)  # the model has several scales

    @property
    def kernel(self) -> GaussianKernel:
        """The kernel of the herding rules, with which the MMD of all rules is measured."""
        return GaussianKernel(self.sigma2)

    @property
    def rules(self) -> dict[str, Rule]:
        """The five rules."""
        return {
            "PF": Stratified(),
            "QMC": QuasiMonteCarlo("storage"),
            "SQMC": QuasiMonteCarlo("hilbert"),
            "SKH-FW": FWQuad(self.kernel, search_points=self.search_points),
            "SKH-FCFW": FWQuad(self.kernel, FullyCorrective(), self.search_points),
        }

    @property
    def runs(self) -> int:
        """How many records `run` yields."""
        return self.batches * len(self.n) * len(self.rules)


def run(config: DemoConfig) -> Iterator[Record]:
    """One record for each batch, rule and number of particles."""
    model = nonlinear_benchmark()
    for batch in range(config.batches):
        _, ys = model.simulate(config.T, rng=batch)
        data = against_many(model, ys, config.reference_particles, seed=batch)
        for n in config.n:
            for name, rule in config.rules.items():
                start = Record(
                    experiment="demo", model="nonlinear", rule=name, n=n, batch=batch, seed=batch
                )
                yield from filter_records(start, rule, data, [config.kernel])


@dataclass(frozen=True, eq=False)
class Placement:
    """A predictive mixture, and the points that each rule makes of it."""

    mixture: GaussianMixture
    points: dict[str, WeightedPoints]
    kernel: GaussianKernel


def placement(config: DemoConfig, n: int) -> Placement:
    """The widest predictive of the first batch, as each rule sees it with ``n`` points."""
    model = nonlinear_benchmark()
    _, ys = model.simulate(config.T, rng=0)
    pf = ParticleFilter(model, Stratified(), 1_000, rng=0)
    mixtures = []
    for y in ys:
        pf.step(y)
        mixtures.append(pf.predict())
    widest = mixtures[int(np.argmax([p.covariance[0, 0] for p in mixtures]))]
    rules = {name: Measured(rule, config.kernel) for name, rule in config.rules.items()}
    points = {name: rule(widest, n, rng=0) for name, rule in rules.items()}
    return Placement(widest, points, config.kernel)
