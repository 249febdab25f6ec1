"""The models of the study, with the references of their filtered means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from skh import models
from skh._typing import Array
from skh.filtering.series import particle_filter
from skh.geometry import SE2, Charted
from skh.models.exact_filters import jump_markov_filter, kalman_filter
from skh.models.linear_gaussian import LinearGaussian
from skh.reproduction.second_look.lattice import lattice_filter
from skh.rules.sampling import Stratified

SOLVED_TWICE = 5  # data sets of a case, to know the error of its reference
FIRST_SEED = 6_000  # of the data; seeds below were used to develop the method
ONE_LANDMARK = ((5.0, 1.0),)


class Told(LinearGaussian):
    """A linear Gaussian model that tells the filter the information of its observations."""

    def observation_metric(self, t: int, x: Array) -> Array:
        """C' R^-1 C."""
        return np.asarray(self.C.T @ np.linalg.solve(self.R, self.C))


def told(model: LinearGaussian) -> Told:
    """The same model, telling its information."""
    return Told(**vars(model))


Solved = tuple[Array, float]  # filtered means and log-evidence
Reference = Callable[[Any, Array, int], Solved]


def exact(model: Any, ys: Array, seed: int) -> Solved:
    """The Kalman filter."""
    found = kalman_filter(model, ys)
    return found.means, found.log_evidence


def enumerated(model: Any, ys: Array, seed: int) -> Solved:
    """A Kalman filter for each sequence of modes."""
    found = jump_markov_filter(model, ys)
    return found.means, found.log_evidence


def sampled(model: Any, ys: Array, seed: int, particles: int) -> Solved:
    """A particle filter with many particles."""
    found = particle_filter(model, ys, Stratified(), particles, rng=seed)
    return found.means, found.log_evidence


def lattice(fineness: float = 1.0) -> Reference:
    """A lattice scaled by the posterior's covariance."""
    return partial(lattice_filter, fineness=fineness)


def fixed_lattice(*spacing: float) -> Reference:
    """A lattice of fixed spacing, for posteriors of several modes or of curved shape."""
    return partial(lattice_filter, spacing=np.array(spacing))


@dataclass(frozen=True)
class Case:
    """A model, how it is filtered, its length and its reference."""

    title: str
    model: Callable[[], Any]
    reference: Reference
    T: int = 40
    poses: bool = False  # filtered in a chart of SE(2)
    most_particles: int = 1_000_000  # of the bootstrap filter: rendering is dear
    plain: Callable[[], Any] | None = None  # the model of all but a second look, if told less


SHARP = {
    "lgss3": Case("LGSS, d = 3", models.lgss3, exact),
    "lgss15": Case("LGSS, d = 15", models.lgss15, exact),
    "lgss15-told": Case("LGSS, d = 15, told", lambda: told(models.lgss15()), exact),
    "range-bearing": Case("Range-bearing, 2-d", models.range_bearing, lattice()),
    "range-bearing-pose": Case(
        "Range-bearing, pose", partial(models.range_bearing, heading=True), lattice()
    ),
    "one-landmark": Case(
        "One landmark", partial(models.RangeBearing, landmarks=ONE_LANDMARK), lattice()
    ),
    "coarse": Case(
        "Coarser sensors",
        partial(models.RangeBearing, range_noise=0.1, bearing_noise=0.04),
        lattice(),
    ),
    "laser": Case(
        "Laser beams, SE(2)", models.laser_beams, lattice(0.8), 30, True, most_particles=100_000
    ),
    "depth": Case("Depth images", models.depth_camera, lattice(0.8), 20, most_particles=10_000),
    "radar": Case("Radar, range and Doppler", models.radar, lattice(1.2), 30),
    "field-map": Case("Magnetic map", models.field_map, fixed_lattice(0.03, 0.03), 30),
}
FLOORS = {
    "outliers": Case("5 % outliers", partial(models.RangeBearing, outliers=0.05), lattice(0.7)),
    "outliers-told": Case(
        "5 % outliers, residuals",
        partial(models.ResidualRangeBearing, outliers=0.05),
        lattice(0.7),
        plain=partial(models.RangeBearing, outliers=0.05),
    ),
    "likelihood-field": Case(
        *("Likelihood field, SE(2)", models.likelihood_field, lattice(0.9), 30, True),
        most_particles=100_000,
    ),
}
BROAD = {
    "volatility": Case("Stochastic volatility", models.stochastic_volatility, fixed_lattice(0.06)),
    "nonlinear": Case("Nonlinear benchmark", models.nonlinear_benchmark, fixed_lattice(0.03)),
    "jmls": Case("JMLS", models.jmls, enumerated, 12),
    "bearings": Case("Bearings only", models.bearings_only, partial(sampled, particles=500_000)),
    "lorenz63": Case("Lorenz 63", models.lorenz63, fixed_lattice(0.8, 0.9, 0.9)),
    "localisation": Case("Localisation", models.localisation, fixed_lattice(0.06, 0.06)),
    "counts": Case("Counts", models.counts, fixed_lattice(0.1)),
}
CASES: dict[str, Case] = {**SHARP, **FLOORS, **BROAD}
TITLES = {name: case.title for name, case in CASES.items()}


@dataclass(frozen=True, eq=False)
class Data:
    """Observations of a case with reference values, from one or two runs of the reference."""

    case: Case
    model: Any  # as the filter takes it
    ys: Array
    runs: tuple[Solved, ...]

    @property
    def plain(self) -> Data:
        """The same data, with the model of the filters that a second look is compared with."""
        return self if self.case.plain is None else replace(self, model=self.case.plain())

    @property
    def means(self) -> Array:
        """Mean of the runs."""
        return np.asarray(np.mean([means for means, _ in self.runs], axis=0))

    @property
    def log_evidence(self) -> float:
        """Mean of the runs."""
        return float(np.mean([log_evidence for _, log_evidence in self.runs]))

    @property
    def means_error(self) -> float:
        """Standard error of the means: half of the difference, rms over times and coordinates."""
        return self.rmse(self.runs[0][0], self.runs[1][0]) / 2

    @property
    def evidence_error(self) -> float:
        """Standard error of the log-evidence."""
        return abs(self.runs[0][1] - self.runs[1][1]) / 2

    def rmse(self, means: Array, others: Array | None = None) -> float:
        """Distance of means to those of the reference, or of others; headings wrap."""
        error = means - (self.means if others is None else others)
        if self.case.poses:
            error = SE2().minus(error, np.zeros(3))
        return float(np.sqrt(np.mean(error**2)))


@lru_cache(maxsize=4)
def data_of(name: str, batch: int, T: int) -> Data:
    """Simulate at most T steps of a case, and solve it once, the first data sets twice."""
    case = CASES[name]
    model = case.model()
    _, ys = model.simulate(min(T, case.T), rng=FIRST_SEED + batch)
    seeds = (2 * batch, 2 * batch + 1)[: 2 if batch < SOLVED_TWICE else 1]
    runs = tuple(case.reference(model, ys, seed) for seed in seeds)
    return Data(case, Charted(model, SE2()) if case.poses else model, ys, runs)
