"""Smoothing and score: the default against random particles, both against exact answers.

    python benchmarks/inference.py          # minutes, one process; writes inference.json
    python benchmarks/inference.py table    # prints the tables of docs/smoothing.md, from it

Errors of smoothed means are root mean squares in standard deviations of the exact smoother, over
all steps, coordinates and data sets; of the score, those of the gradient relative to its length,
for parameters on a logarithmic scale.  Exact are the Kalman smoother, all sequences of modes, and
for volatility a grid of 1,500 points.  Data sets have the seeds 3000, 3001, ...
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import skh
from skh.models import LinearGaussian

RECORD = Path(__file__).with_suffix(".json")
FIRST_SEED, SETS = 3000, 8
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
    exact = partial(skh.kalman_smoother, LGSS3)
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


def measured_smoothing() -> list[dict[str, Any]]:
    """Errors of smoothed means of every case."""
    rows = []
    for case in cases():
        errors, ms = smoothing_errors(case, SETS)
        rows.append({"model": case.name, "errors": errors, "ms": ms})
        print(rows[-1], flush=True)
    return rows


def smoothing_table(rows: list[dict[str, Any]]) -> list[str]:
    head = [name for name, *_ in FILTERS]
    lines = [
        f"| model | {' | '.join(head)} | ratio | ms per step |",
        "|---" * (len(head) + 3) + "|",
    ]
    for row in rows:
        errors = row["errors"]
        shown = " | ".join(f"{e:.4f}" for e in errors)
        lines.append(
            f"| {row['model']} | {shown} | {errors[0] / errors[1]:.3f} | {row['ms']:.2f} |"
        )
    return lines


def exact_gradient(make_model: Any, theta: np.ndarray, ys: Any, h: float = 1e-5) -> np.ndarray:
    pairs = [(make_model(theta + e), make_model(theta - e)) for e in h * np.eye(len(theta))]
    values = [[skh.kalman_filter(m, ys).log_evidence for m in pair] for pair in pairs]
    return np.array([high - low for high, low in values]) / (2 * h)


SCORED = {
    "AR(1) with noise": (autoregression, np.log([0.9, 0.19, 0.5])),
    "LGSS3": (scaled_lgss3, np.zeros(3)),
}
POINTS = {"far": [0.9, 2.0, 0.5], "near": [0.9, 1.3, 0.7]}  # parameters over the true ones


def score_errors(name: str, factors: list[float], filters: Any) -> list[list[float]]:
    """Relative errors of the gradient by each filter, one for each data set."""
    make_model, truth = SCORED[name]
    errors: list[list[float]] = [[] for _ in filters]
    for seed in range(FIRST_SEED, FIRST_SEED + SETS):
        _, ys = make_model(truth).simulate(100, rng=seed)
        theta = truth + np.log(factors)
        exact = exact_gradient(make_model, theta, ys)
        for k, (_, rule, n) in enumerate(filters):
            found = skh.score(make_model, theta, ys, rule, n, rng=seed).gradient
            errors[k].append(float(np.linalg.norm(found - exact) / np.linalg.norm(exact)))
    return errors


def measured_scores() -> list[dict[str, Any]]:
    """Errors of scores; of the filters with random particles only where gradients are large."""
    rows = []
    for point, factors in POINTS.items():
        for name in SCORED:
            filters = FILTERS if point == "far" else FILTERS[:1]
            errors = score_errors(name, factors, filters)
            medians, worst = [float(np.median(e)) for e in errors], max(errors[0])
            rows.append({"model": name, "point": point, "medians": medians, "worst": worst})
            print(rows[-1], flush=True)
    return rows


def score_table(rows: list[dict[str, Any]]) -> list[str]:
    head = " | ".join(name for name, *_ in FILTERS)
    lines = [
        f"| score, parameters over the true ones | {head} | default, worst |",
        "|---" * 5 + "|",
    ]
    for row in rows:
        cells = [f"{100 * e:.2f} %" for e in row["medians"]]
        cells += [""] * (len(FILTERS) - len(cells))
        where = ", ".join(f"{factor:g}" for factor in POINTS[row["point"]])
        last = f"{100 * row['worst']:.2f} %"
        lines.append(f"| {row['model']}: {where} | {' | '.join(cells)} | {last} |")
    return lines


def measured_pruning() -> list[list[float]]:
    """What pruning leaves out, and the change of means it makes, in standard deviations."""
    model = autoregression(np.log([0.9, 0.19, 0.5]))
    _, ys = model.simulate(50, rng=FIRST_SEED)
    rows = []
    for n in (50, 500):
        run = skh.particle_filter(model, ys, skh.Systematic(), n, rng=0, history=True)
        full = run.smooth(model)
        sd = np.sqrt(full.covariances[:, 0, 0])
        for prune in (1e-6, 1e-4):
            some = run.smooth(model, prune=prune)
            change = np.abs((some.means - full.means)[:, 0] / sd).max()
            pairs, mass = some.pruned_pairs.mean(), some.pruned_mass.mean()
            rows.append([n, prune, *map(float, (pairs, mass, change))])
    return rows


def pruning_table(rows: list[list[float]]) -> list[str]:
    lines = ["| N | prune | pairs left out | their probability | change of means |"]
    lines.append("|---" * 5 + "|")
    for n, prune, pairs, mass, change in rows:
        lines.append(f"| {n} | {prune:g} | {100 * pairs:.1f} % | {mass:.1e} | {change:.1e} |")
    return lines


MEASURED = {"smoothing": measured_smoothing, "score": measured_scores, "pruning": measured_pruning}
TABLES: dict[str, Callable[[Any], list[str]]] = {
    "smoothing": smoothing_table,
    "score": score_table,
    "pruning": pruning_table,
}


def measure(parts: list[str]) -> None:
    """Measure some parts and write them to the record."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for part in parts:
        record[part] = MEASURED[part]()
        RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        record = json.loads(RECORD.read_text())
        print("\n\n".join("\n".join(table(record[part])) for part, table in TABLES.items()))
    else:
        measure(sys.argv[1:] or list(MEASURED))
