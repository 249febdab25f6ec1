"""Smoothing and score: the default against random particles, both against exact answers.

    python benchmarks/inference.py   # minutes, one process; the tables of docs/smoothing.md

Errors of smoothed means are root mean squares in standard deviations of the exact smoother, over
all steps, coordinates and data sets; of the score, those of the gradient relative to its length,
for parameters on a logarithmic scale.  Exact are the Kalman smoother, all sequences of modes, and
for volatility a grid of 1,500 points.  Data sets have the seeds 3000, 3001, ...
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import skh
from skh.models import LinearGaussian

FIRST_SEED = 3000
FILTERS = [("default, N = 50", None, 50)]
FILTERS += [(f"random, N = {n}", skh.MonteCarlo(), n) for n in (50, 500)]
SMOOTHED = skh.Smoothed(skh.Matched(skh.default_rule()))
LGSS3 = skh.models.lgss3()


class Exact(NamedTuple):
    """Moments of an exact smoother."""

    means: np.ndarray  # (T, k)
    covariances: np.ndarray  # (T, k, k)


class Case(NamedTuple):
    """A model, one that simulates it, its exact smoother, and the smoothed means of (x, z)."""

    name: str
    model: Any
    source: Any
    exact: Callable[[Any], Any]
    steps: int
    order: list[int] | None = None  # of the coordinates of (x, z)
    rule: Any = None  # in place of the default

    def means(self, smoothed: skh.SmoothingResult) -> np.ndarray:
        if self.order is None:
            return smoothed.means
        return np.hstack([smoothed.means, smoothed.z_means])[:, np.argsort(self.order)]


def autoregression(theta: Any) -> LinearGaussian:
    a, q, r = np.exp(theta)
    return LinearGaussian([[a]], [[1.0]], [[q]], [[r]], [0.0], [[1.0]])


def scaled_lgss3(theta: Any) -> LinearGaussian:
    a, q, r = np.exp(theta)
    m, P = LGSS3.initial_mean, LGSS3.initial_covariance
    return LinearGaussian(a * LGSS3.A, LGSS3.C, q * LGSS3.Q, r * LGSS3.R, m, P)


def constant_velocity(q: float = 0.01, singular: bool = False) -> LinearGaussian:
    Q = np.diag([0.0, 1.0]) if singular else np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]])
    A = [[1.0, 1.0], [0.0, 1.0]]
    return LinearGaussian(A, [[1.0, 0.0]], q * Q, [[1.0]], np.zeros(2), np.eye(2))


def on_a_grid(model: Any, ys: Any, points: int = 1500) -> Exact:
    """Smoother of a model in one dimension with additive noise, by sums over a grid."""
    prior = model.prior()
    mean, sd = float(prior.mean[0]), float(np.sqrt(prior.covariance[0, 0]))
    grid = np.linspace(mean - 7 * sd, mean + 7 * sd, points)[:, None]
    means, variance = model.transition(0, grid)
    kernel = np.exp(-0.5 * (grid - means.T) ** 2 / variance)  # (next, before)
    kernel /= kernel.sum(axis=0)
    w = np.exp(-0.5 * (grid[:, 0] - mean) ** 2 / sd**2)
    filtered, predicted = [], w / w.sum()
    for t, y in enumerate(ys):
        log_l = model.log_likelihood(t, grid, y)
        w = predicted * np.exp(log_l - log_l.max())
        filtered.append(w / w.sum())
        predicted = kernel @ filtered[-1]
    smoothed = [filtered[-1]]
    for w in filtered[-2::-1]:
        ahead = kernel @ w
        ratio = np.divide(smoothed[-1], ahead, out=np.zeros(points), where=ahead > 0)
        smoothed.append(w * (kernel.T @ ratio))
    W = np.array(smoothed[::-1])
    m = W @ grid
    return Exact(m, (W @ grid**2 - m**2)[:, :, None])


def split(x: list[int]) -> Case:
    z = [k for k in range(3) if k not in x]
    exact = lambda ys: skh.kalman_smoother(LGSS3, ys)  # noqa: E731
    return Case(f"LGSS3, x = {x}", skh.rao_blackwellize(LGSS3, x), LGSS3, exact, 30, [*x, *z])


def linear(name: str, model: LinearGaussian, rule: Any = None) -> Case:
    return Case(name, model, model, lambda ys: skh.kalman_smoother(model, ys), 50, None, rule)


def cases() -> list[Case]:
    volatility, jumps = skh.models.stochastic_volatility(), skh.models.jmls()
    return [
        linear("AR(1)", autoregression(np.log([0.9, 0.19, 0.5]))),
        Case("volatility", volatility, volatility, lambda ys: on_a_grid(volatility, ys), 100),
        linear("LGSS3", LGSS3),
        linear("constant velocity", constant_velocity()),
        linear("the same, noise in the velocity only", constant_velocity(0.01, True)),
        linear("... by Smoothed(Matched(default_rule()))", constant_velocity(0.01, True), SMOOTHED),
        *(split(x) for x in ([0], [0, 1])),
        Case("jump-Markov", jumps, jumps, lambda ys: skh.jump_markov_smoother(jumps, ys), 9),
    ]


def smoothing_errors(case: Case, sets: int) -> tuple[list[float], float]:
    """Errors of all filters, and milliseconds per step of smoothing with N = 50."""
    squares: list[list[float]] = [[] for _ in FILTERS]
    seconds = []
    for seed in range(FIRST_SEED, FIRST_SEED + sets):
        _, ys = case.source.simulate(case.steps, rng=seed)
        exact = case.exact(ys)
        sd = np.sqrt(np.einsum("tii->ti", exact.covariances))
        for k, (_, rule, n) in enumerate(FILTERS):
            rule = case.rule if rule is None else rule
            run = skh.particle_filter(case.model, ys, rule, n, rng=seed, history=True)
            start = time.perf_counter()
            smoothed = run.smooth(case.model, ys, rng=seed)
            if k == 0:
                seconds.append((time.perf_counter() - start) / case.steps)
            squares[k].append(float((((case.means(smoothed) - exact.means) / sd) ** 2).mean()))
    return [float(np.sqrt(np.mean(s))) for s in squares], 1000 * float(np.median(seconds))


def smoothing_table(sets: int) -> None:
    print("| model | " + " | ".join(name for name, *_ in FILTERS) + " | ratio | ms per step |")
    print("|---|" + "---|" * (len(FILTERS) + 2))
    for case in cases():
        errors, ms = smoothing_errors(case, sets)
        shown = " | ".join(f"{e:.4f}" for e in errors)
        print(f"| {case.name} | {shown} | {errors[0] / errors[1]:.3f} | {ms:.2f} |", flush=True)


def exact_gradient(make_model: Any, theta: np.ndarray, ys: Any, h: float = 1e-5) -> np.ndarray:
    pairs = [(make_model(theta + e), make_model(theta - e)) for e in h * np.eye(len(theta))]
    values = [[skh.kalman_filter(m, ys).log_evidence for m in pair] for pair in pairs]
    return np.array([high - low for high, low in values]) / (2 * h)


def score_table(sets: int) -> None:
    """Relative errors of the gradient, where it is large: noise twice and half that of the data."""
    starts = {
        "AR(1) with noise": (autoregression, np.log([0.9, 0.19, 0.5])),
        "LGSS3": (scaled_lgss3, np.zeros(3)),
    }
    print("\n| score | " + " | ".join(name for name, *_ in FILTERS) + " | default, worst |")
    print("|---|" + "---|" * (len(FILTERS) + 1))
    for name, (make_model, truth) in starts.items():
        errors: list[list[float]] = [[] for _ in FILTERS]
        for seed in range(FIRST_SEED, FIRST_SEED + sets):
            _, ys = make_model(truth).simulate(100, rng=seed)
            theta = truth + np.log([0.9, 2.0, 0.5])
            exact = exact_gradient(make_model, theta, ys)
            for k, (_, rule, n) in enumerate(FILTERS):
                found = skh.score(make_model, theta, ys, rule, n, rng=seed).gradient
                errors[k].append(np.linalg.norm(found - exact) / np.linalg.norm(exact))
        shown = " | ".join(f"{100 * np.median(e):.2f} %" for e in errors)
        print(f"| {name} | {shown} | {100 * max(errors[0]):.2f} % |", flush=True)


def pruning_table() -> None:
    """What pruning leaves out, and the change of means it makes, in standard deviations."""
    model = autoregression(np.log([0.9, 0.19, 0.5]))
    _, ys = model.simulate(50, rng=FIRST_SEED)
    print("\n| N | prune | pairs left out | their probability | change of means |")
    print("|---|---|---|---|---|")
    for n in (50, 500):
        run = skh.particle_filter(model, ys, skh.Systematic(), n, rng=0, history=True)
        full = run.smooth(model)
        sd = np.sqrt(full.covariances[:, 0, 0])
        for prune in (1e-6, 1e-4):
            some = run.smooth(model, prune=prune)
            change = np.abs((some.means - full.means)[:, 0] / sd).max()
            pairs, mass = some.pruned_pairs.mean(), some.pruned_mass.mean()
            print(f"| {n} | {prune:g} | {100 * pairs:.1f} % | {mass:.1e} | {change:.1e} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=10, help="data sets per model")
    sets = parser.parse_args().sets
    smoothing_table(sets)
    score_table(sets)
    pruning_table()


if __name__ == "__main__":
    main()
