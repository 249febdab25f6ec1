"""Is `result.numerical_error` calibrated?  Its estimates against the true errors on nine models.

    python benchmarks/numerical_error.py              # a quarter of an hour; writes the record
    python benchmarks/numerical_error.py table        # prints the table of the page, from it
    python benchmarks/numerical_error.py figure       # draws the picture of the page, from it
    python benchmarks/numerical_error.py accuracy     # what accuracy=0.05 chooses, a minute
    python benchmarks/numerical_error.py bound        # the paper's bound against the true error

Errors of means are root mean squares over steps and coordinates, in standard deviations of the
exact posterior.  Exact are the Kalman filter, all sequences of modes, and sums over lattices.  The
record has the seeds 7000 to 7029; the estimate was developed on the seeds 100 to 119.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import skh
from skh.filtering.model_protocols import predictive
from skh.models import LinearGaussian
from skh.reproduction.second_look.lattice import one_step

FIRST_SEED = 7000
FIRST_DEVELOPED = 100  # seeds of parts that are not the record
RECORD = Path(__file__).with_suffix(".json")
PICTURE = Path(__file__).parents[1] / "docs" / "numerical_error.png"
SIZES = (20, 50, 100)


class Exact(NamedTuple):
    """Filtered means, standard deviations (T, d) and the log-evidence."""

    means: np.ndarray
    deviations: np.ndarray
    log_evidence: float


class Row(NamedTuple):
    """One run: true and estimated errors of means and of the log-evidence, and of single steps."""

    model: str
    n: int
    seed: int
    means: float
    estimated_means: float
    evidence: float
    estimated_evidence: float
    covered_steps: float  # share of the means that are off by less than twice their estimate
    own_units: float  # estimated error of the means in the run's own standard deviations


def solved(filtered: Any) -> Exact:
    variances = np.diagonal(filtered.covariances, axis1=1, axis2=2)
    return Exact(filtered.means, np.sqrt(variances), filtered.log_evidence)


def kalman(model: Any, ys: Any, seed: int) -> Exact:
    return solved(skh.kalman_filter(model, ys))


def enumerated(model: Any, ys: Any, seed: int) -> Exact:
    return solved(skh.jump_markov_filter(model, ys))


def on_lattice(model: Any, ys: Any, seed: int, spacing: float | None = None) -> Exact:
    rng, p, means, variances, total = np.random.default_rng(seed), model.prior(), [], [], 0.0
    fixed = None if spacing is None else np.full(p.d, spacing)
    for t, y in enumerate(ys):
        found = one_step(model, t, y, p, rng, spacing=fixed)
        means.append(found.w @ found.x)
        variances.append(found.w @ (found.x - means[-1]) ** 2)
        total += found.log_evidence_increment
        p = predictive(model.transition(t, found.x), found.w)
    return Exact(np.array(means), np.sqrt(variances), total)


def autoregression() -> LinearGaussian:
    return LinearGaussian([[0.9]], [[1.0]], [[0.19]], [[0.5]], [0.0], [[1.0]])


def constant_velocity() -> LinearGaussian:
    A, Q = [[1.0, 1.0], [0.0, 1.0]], [[0.01 / 3, 0.005], [0.005, 0.01]]
    return LinearGaussian(A, [[1.0, 0.0]], Q, [[1.0]], np.zeros(2), np.eye(2))


CASES: dict[str, tuple[Callable[[], Any], Callable[..., Exact], int]] = {
    "AR(1)": (autoregression, kalman, 40),
    "LGSS, d = 3": (skh.models.lgss3, kalman, 40),
    "LGSS, d = 15": (skh.models.lgss15, kalman, 40),
    "constant velocity": (constant_velocity, kalman, 40),
    "jump-Markov": (skh.models.jmls, enumerated, 12),
    "volatility": (skh.models.stochastic_volatility, partial(on_lattice, spacing=0.06), 40),
    "nonlinear": (skh.models.nonlinear_benchmark, partial(on_lattice, spacing=0.03), 40),
    "counts": (skh.models.counts, partial(on_lattice, spacing=0.1), 40),
    "range-bearing": (skh.models.range_bearing, on_lattice, 40),
}


def rms(values: Any) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def row(name: str, model: Any, ys: Any, exact: Exact, n: int, seed: int) -> Row:
    run = skh.particle_filter(model, ys, n=n, rng=seed, numerical_error=True)
    error, true = run.numerical_error, np.abs(run.means - exact.means)
    return Row(
        *(name, n, seed),
        *(rms(true / exact.deviations), rms(error.means / exact.deviations)),
        *(abs(run.log_evidence - exact.log_evidence), error.log_evidence),
        float(np.mean(true <= 2 * error.means)),
        error.overall,
    )


def rows(first: int, count: int) -> list[Row]:
    found: list[Row] = []
    for seed in range(first, first + count):
        for name, (make, reference, steps) in CASES.items():
            model = make()
            ys = model.simulate(steps, rng=seed)[1]
            exact = reference(model, ys, seed)
            found += [row(name, model, ys, exact, n, seed) for n in SIZES]
        print(f"seed {seed}: {process_time():.0f} s", flush=True)
    return found


def cells(found: list[Row]) -> dict[tuple[str, int], list[Row]]:
    """The rows of each model and N."""
    pairs = [(name, n) for name in CASES for n in SIZES]
    return {(name, n): [r for r in found if (r.model, r.n) == (name, n)] for name, n in pairs}


def table_lines(found: list[Row]) -> list[str]:
    """The table in Markdown, a line for each cell."""
    head = "| model | N | means: true | estimate | ratio | below twice |"
    lines = [head + " evidence: true | estimate | ratio | below twice |", "|---" * 10 + "|"]
    for (name, n), cell in cells(found).items():
        parts = []
        for true, estimate in columns(cell):
            share = np.mean(true <= 2 * estimate)
            ratio = rms(estimate) / rms(true)
            parts.append(f"{rms(true):.2g} | {rms(estimate):.2g} | {ratio:.2f} | {share:.2f}")
        lines.append(f"| {name} | {n} | {' | '.join(parts)} |")
    return lines


def outliers(found: list[Row]) -> list[str]:
    """Cells whose ratio of estimated to true errors is outside 1/3 to 3."""
    ratios = [
        (name, n, rms(estimate) / rms(true))
        for (name, n), cell in cells(found).items()
        for true, estimate in columns(cell)
    ]
    return [f"{name}, N = {n}: {x:.2f}" for name, n, x in ratios if not 1 / 3 < x < 3]


def table(found: list[Row]) -> None:
    """Print a line for each cell, then the shares over all of them."""
    print("\n".join(table_lines(found)))
    for what, share in shares(found).items():
        print(f"{what}: {share:.3f} of {len(found)} runs")
    print("cells with a ratio outside 1/3 to 3:", outliers(found) or "none")


def shares(found: list[Row]) -> dict[str, float]:
    """Shares of the runs whose true error is near or below what was estimated."""
    shares = {}
    for what, (true, estimate) in zip(("means", "evidence"), columns(found), strict=True):
        ratios = estimate / true
        shares[f"{what} below twice the estimate"] = np.mean(true <= 2 * estimate)
        shares[f"{what} within a factor of 3"] = np.mean((ratios > 1 / 3) & (ratios < 3))
    shares["means of single steps"] = np.mean([r.covered_steps for r in found])
    own = [r.means <= 2 * r.own_units for r in found]
    return shares | {"means, in standard deviations of the run itself": np.mean(own)}


def columns(found: list[Row]) -> list[tuple[np.ndarray, np.ndarray]]:
    """True and estimated errors, of means and of the log-evidence."""
    means = np.array([(r.means, r.estimated_means) for r in found]).T
    evidence = np.array([(r.evidence, r.estimated_evidence) for r in found]).T
    return [(means[0], means[1]), (evidence[0], evidence[1])]


def figure(found: list[Row], path: str) -> None:
    """Draw true against estimated errors, a point for each run."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(9.0, 4.4), layout="constrained")
    for axis, k, what in zip(drawing.subplots(1, 2), (0, 1), TITLES, strict=True):
        for i, name in enumerate(CASES):
            true, estimate = columns([r for r in found if r.model == name])[k]
            axis.loglog(estimate, true, ".", color=f"C{i}", markersize=3, alpha=0.7, label=name)
        low, high = np.percentile(np.concatenate(columns(found)[k]), [1.0, 100.0])
        line = np.array([low, 2 * high])
        axis.fill_between(line, line[0], 2 * line, color="0.93", zorder=0)
        axis.plot(line, line, color="0.5", linewidth=1)
        axis.set(xlim=line, ylim=line, title=what, xlabel="estimated", ylabel="true error")
    axis.legend(fontsize=7, markerscale=3, loc="upper left")
    drawing.savefig(path, dpi=110)


TITLES = ("means, in standard deviations", "log-evidence")


def write(found: list[Row], path: Path) -> None:
    """Write rows to a file, a line for each, in three digits."""
    lines = [json.dumps([float(f"{v:.3g}") if type(v) is float else v for v in r]) for r in found]
    body = ",\n  ".join(lines)
    path.write_text(f'{{"fields": {json.dumps(Row._fields)},\n "rows": [\n  {body}]}}\n')


def read(path: Path) -> list[Row]:
    return [Row(*values) for values in json.loads(path.read_text())["rows"]]


def chosen(accuracy: float = 0.05, count: int = 5) -> None:
    """Print the numbers of particles that an accuracy chooses, and the true errors."""
    print("| model | N, default | true error | N, stratified | true error |")
    print("|---" * 5 + "|")
    for name in ("AR(1)", "LGSS, d = 3", "constant velocity", "jump-Markov", "volatility"):
        make, reference, steps = CASES[name]
        parts = []
        for rule in (None, skh.Stratified()):
            runs = []
            for seed in range(FIRST_DEVELOPED, FIRST_DEVELOPED + count):
                model = make()
                ys = model.simulate(steps, rng=seed)[1]
                exact = reference(model, ys, seed)
                run = skh.particle_filter(model, ys, rule, 20, rng=seed, accuracy=accuracy)
                error = rms((run.means - exact.means) / exact.deviations)
                runs.append((int(run.n_particles.max()), error))
            sizes, errors = zip(*runs, strict=True)
            parts.append(f"{min(sizes)} to {max(sizes)} | {min(errors):.2g} to {max(errors):.2g}")
        print(f"| {name} | {' | '.join(parts)} |", flush=True)


def bound(variance: float = 0.5, n: int = 50, count: int = 10) -> None:
    """Print how much larger than the true error the paper's bound on the evidence is, at least."""
    ratios = np.array([bound_ratio(variance, n, FIRST_DEVELOPED + k) for k in range(count)])
    for t in (1, 2, 5, 10, 20, 40):
        print(f"T = {t}: bound / true error, median of {count}: {np.median(ratios[:, t - 1]):.2g}")


def bound_ratio(variance: float, n: int, seed: int) -> np.ndarray:
    """Return, for each step, a lower bound of the paper's bound over the true relative error of Z.

    Appendix of the paper: |Z - Z^| / Z <= |o_t| / W_t sum_u c_u eps_u prod_{u <= k < t} C_k / W_k.
    C_k is at least the growth of a point mass: the peak of o_k times the norm of the mean map of
    the transition.  All norms are known for a Gaussian kernel in one dimension.
    """
    model, Q, R = autoregression(), 0.19, 0.5
    ys = model.simulate(40, rng=seed)[1]
    rule = skh.FWQuad(skh.GaussianKernel(variance))
    run = skh.particle_filter(model, ys, rule, n, rng=seed)
    totals = [skh.kalman_filter(model, ys[: t + 1]).log_evidence for t in range(len(ys))]
    log_w = np.diff(totals, prepend=0.0)
    excess = np.cumsum(run.log_evidence_increments - log_w)  # log of Z^ / Z
    telescoped = np.exp(np.concatenate([[0.0], excess[:-1]]))
    growth = (variance / (variance + 2 * Q)) ** 0.25 / np.sqrt(2 * np.pi * R)
    norm = (variance / (2 * R - variance)) ** 0.25 / np.sqrt(2 * np.pi * variance)  # of o_t
    total, bounds = 0.0, []
    for t, w in enumerate(np.exp(log_w)):
        total += telescoped[t] * run.mmd[t]
        bounds.append(norm / w * total)
        total *= growth / w
    return np.asarray(bounds) / np.abs(np.expm1(excess))


PARTS: dict[str, Callable[[], None]] = {
    "measure": lambda: write(rows(FIRST_SEED, 30), RECORD),
    "table": lambda: table(read(RECORD)),
    "figure": lambda: figure(read(RECORD), str(PICTURE)),
    "accuracy": chosen,
    "bound": bound,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Calibration of result.numerical_error.")
    parser.add_argument("part", nargs="?", choices=[*PARTS], default="measure")
    PARTS[parser.parse_args().part]()
