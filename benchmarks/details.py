"""Errors of single filters that pages quote and that belong to no study.

    python benchmarks/details.py > benchmarks/tables/details.md     # a minute, then `make numbers`

Errors are root mean squares over data sets, or spread over seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from quoted import Row, print_rows

import inference
import skh
from skh.models.uav_navigation import drawn_flight, survey_flight
from skh.models.uav_navigation.model import INNOVATIONS, REPORT
from skh.models.uav_navigation.sensor_diagnostics import reports_at_truth
from skh.scores import nees

sys.path.append(str(Path(__file__).parents[1] / "examples"))
import landmarks
import smoothed

HERDED = skh.Smoothed(skh.Matched(skh.QuasiMonteCarlo()))


def rms(values: object) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


class Carried:
    """y = x - 0.5 (x one step before) + noise, where a particle carries the x before."""

    def prior(self) -> skh.GaussianMixture:
        return skh.GaussianMixture([1.0], [[0.0]], 1.0)

    def transition(self, t, x, carry):
        return 0.9 * x, 0.25

    def initial_carry(self, x):
        return np.zeros_like(x)

    def move(self, t, x, carry, x_next):
        return x

    def log_likelihood(self, t, x, y, carry):
        return -0.5 * (y - x[:, 0] + 0.5 * carry[:, 0]) ** 2 / 0.09, carry


def two_states() -> Iterator[Row]:
    """The model of docs/any_transition.md whose observations depend on two states."""
    A, Q = np.array([[0.9, 0.0], [1.0, 0.0]]), np.diag([0.25, 0.0])
    exact = skh.models.LinearGaussian(A, [[1.0, -0.5]], Q, [[0.09]], np.zeros(2), np.eye(2))
    plain = skh.model_from_functions(
        prior=(np.zeros(2), np.eye(2)),
        transition=lambda t, x: (x @ A.T, Q),
        log_likelihood=lambda t, x, y: -0.5 * (y[0] - x[:, 0] + 0.5 * x[:, 1]) ** 2 / 0.09,
    )
    filters = (plain, "default", None), (plain, "bootstrap", skh.MonteCarlo())
    for model, name, rule in (*filters, (Carried(), "carried", None)):
        errors = []
        for seed in range(10):
            _, ys = exact.simulate(31, rng=seed)
            ys[0] = np.nan
            true = skh.kalman_filter(exact, ys)
            found = skh.particle_filter(model, ys, rule, 50, rng=seed)
            sd = np.sqrt(true.covariances[:, 0, 0])
            constant = 30 * 0.5 * np.log(2 * np.pi * 0.09)
            evidence = found.log_evidence - constant - true.log_evidence
            errors.append([rms((found.means - true.means)[:, 0] / sd), evidence])
        for what, column in zip(("mean", "log-evidence"), np.transpose(errors), strict=True):
            yield f"two states, {name}, {what}", rms(column)


def spread(what: str, values: list[float]) -> Iterator[Row]:
    """Least, median and most of some values."""
    for which, quantile in (("least", 0.0), ("median", 0.5), ("most", 1.0)):
        yield f"{what}, {which}", float(np.quantile(values, quantile))


def in_the_plane() -> Iterator[Row]:
    """Distance of the mean on the drive of examples/landmarks.py, over ten seeds."""
    truth, wheels, seen, _ = landmarks.simulate(480, np.random.default_rng(1))
    model = landmarks.robot(wheels, truth[0])
    exact = skh.particle_filter(model, seen, skh.Stratified(), 20_000, rng=0)
    for name, rule in (("smoothed", HERDED), ("plain", skh.QuasiMonteCarlo())):
        runs = [skh.particle_filter(model, seen, rule, 50, rng=seed) for seed in range(10)]
        steps = [landmarks.CHART.minus(run.mean_states, exact.mean_states) for run in runs]
        off = [nees(step, exact.covariances).mean ** 0.5 for step in steps]
        yield from spread(f"drive, Sobol {name}", off)


def in_two_dimensions() -> Iterator[Row]:
    """Errors of examples/smoothed.py in two dimensions, N = 50."""
    for name, rule in smoothed.RULES.items():
        errors = [smoothed.error(2, rule, 50, 300, seed) for seed in range(6)]
        yield f"two positions, {name}", float(np.mean(errors))


def innovations() -> Iterator[Row]:
    """Mean squared innovations on flights of the model, and on one of the experiment."""
    drawn = [reports_at_truth(drawn_flight(300, rng=seed)) for seed in range(40)]
    survey = [reports_at_truth(survey_flight(2000, rng=0))]
    for kind, reports in (("drawn", drawn), ("survey", survey)):
        for name in INNOVATIONS:
            column = np.concatenate(reports)[:, REPORT.index(name)]
            yield f"innovations, {kind} flights, {name}", float(np.nanmean(column))


def velocities() -> Iterator[Row]:
    """Smoothing at nearly constant velocity without moving particles, N = 50."""
    model = inference.constant_velocity()
    squares = []
    for seed in range(inference.FIRST_SEED, inference.FIRST_SEED + inference.SETS):
        _, ys = model.simulate(50, rng=seed)
        exact = skh.kalman_smoother(model, ys)
        run = skh.particle_filter(model, ys, n=50, rng=seed, history=True)
        sd = np.sqrt(np.einsum("tii->ti", exact.covariances))
        only_weighed = run.smooth(model, regularize=False)
        squares.append(((only_weighed.means - exact.means) / sd) ** 2)
    yield "smoothing, constant velocity, only weighed", float(np.sqrt(np.mean(squares)))


def narrow_scores() -> Iterator[Row]:
    """Derivatives by the logarithm of a narrow transition's noise, less the exact ones."""
    for n in (50, 150):
        off = []
        for seed in range(inference.FIRST_SEED, inference.FIRST_SEED + inference.SETS):
            _, ys = inference.constant_velocity().simulate(60, rng=seed)
            theta = np.log([0.01])
            exact = inference.exact_gradient(velocity_of, theta, ys)
            found = skh.score(velocity_of, theta, ys, n=n, rng=seed)
            off.append(float((found.gradient - exact)[0]))
        yield f"score, constant velocity, N = {n}", rms(off)


def velocity_of(theta: np.ndarray) -> skh.models.LinearGaussian:
    return inference.constant_velocity(float(np.exp(theta[0])))


def main() -> None:
    """Print the table."""
    studies = (two_states, in_the_plane, in_two_dimensions, innovations, velocities, narrow_scores)
    print_rows(Path(__file__).name, studies)


if __name__ == "__main__":
    main()
