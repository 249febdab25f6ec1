"""Models that can only be simulated: the default filter against the bootstrap particle filter.

    python benchmarks/simulators.py   # minutes, one process; the table of docs/any_transition.md

Errors are those of the filtered mean, a root mean square in standard deviations of the filtering
distribution, and of the log-evidence, to a bootstrap filter with 200,000 particles.  The table has
their medians over data sets, since a filter that loses the track in one of them would dominate any
mean, and in how many data sets the mean is closer than that of the bootstrap filter with the same
number of likelihood evaluations, n at each step.  Data sets have the seeds 2000, 2001, ...;
constants were chosen on other data.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

import skh

FIRST_SEED = 2000
REFERENCE = 200_000  # particles
STEPS = 30


class Case(NamedTuple):
    """A model: its prior, its simulator by a generator and by uniform numbers, and its sensor."""

    name: str
    prior: Callable[[int, np.random.Generator], np.ndarray]
    simulate: Callable[[int, np.ndarray, np.random.Generator], np.ndarray]
    noise_dim: int
    from_uniforms: Callable[[int, np.ndarray, np.ndarray], np.ndarray]
    log_likelihood: Callable[[int, np.ndarray, Any], np.ndarray]
    observe: Callable[[np.ndarray, np.random.Generator], Any]


# --- a robot with noise in its turns and in the length of its steps; ranges to two beacons --------

BEACONS, RANGE_SD = np.array([[0.0, 0.0], [12.0, 4.0]]), 0.4


def drive(t: int, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    half = 0.05 + 0.125 * np.sin(0.3 * t)
    heading = x[:, 2] + half + 0.08 * z[:, 0]
    step = np.exp(0.15 * z[:, 1])
    forward = step * np.cos(heading), step * np.sin(heading), half + 0.08 * z[:, 2]
    return np.column_stack([x[:, :2], heading]) + np.column_stack(forward)


def ranges(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x[..., None, :2] - BEACONS, axis=-1)


odometry = Case(
    "odometry",
    lambda n, rng: [4.0, 0.0, 0.3] + rng.standard_normal((n, 3)) * [0.5, 0.5, 0.2],
    lambda t, x, rng: drive(t, x, rng.standard_normal(x.shape)),
    3,
    lambda t, x, u: drive(t, x, special.ndtri(u)),
    lambda t, x, y: stats.norm.logpdf(y, ranges(x), RANGE_SD).sum(axis=1),
    lambda x, rng: ranges(x) + RANGE_SD * rng.standard_normal(2),
)

# --- an epidemic: susceptible and infected people, a tenth of the infected is counted -------------

PEOPLE, INFECTION, RECOVERY, REPORTED = 1000, 0.5, 0.2, 0.1


def risks(x: np.ndarray) -> tuple[np.ndarray, float]:
    return -np.expm1(-INFECTION * x[:, 1] / PEOPLE), -np.expm1(-RECOVERY)


def spread(x: np.ndarray, infected: np.ndarray, recovered: np.ndarray) -> np.ndarray:
    return np.column_stack([x[:, 0] - infected, x[:, 1] + infected - recovered])


def epidemic_simulate(t: int, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    (healthy, ill), (p, q) = x.T.astype(int), risks(x)
    return spread(x, rng.binomial(healthy, p), rng.binomial(ill, q))


def epidemic_from_uniforms(t: int, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    (healthy, ill), (p, q) = x.T, risks(x)
    return spread(x, stats.binom.ppf(u[:, 0], healthy, p), stats.binom.ppf(u[:, 1], ill, q))


def rate(x: np.ndarray) -> np.ndarray:
    return REPORTED * x[..., 1] + 0.5


def first_infections(n: int, rng: np.random.Generator) -> np.ndarray:
    infected = rng.poisson(20, n)
    return np.column_stack([PEOPLE - infected, infected]).astype(float)


epidemic = Case(
    "epidemic",
    first_infections,
    epidemic_simulate,
    2,
    epidemic_from_uniforms,
    lambda t, x, y: stats.poisson.logpmf(y, rate(x)),
    lambda x, rng: float(rng.poisson(rate(x))),
)

# --- a level with Student-t shocks ----------------------------------------------------------------

DF = 3
level = Case(
    "Student-t shocks",
    lambda n, rng: rng.standard_normal((n, 1)),
    lambda t, x, rng: 0.95 * x + 0.4 * rng.standard_t(DF, x.shape),
    1,
    lambda t, x, u: 0.95 * x + 0.4 * special.stdtrit(DF, u),
    lambda t, x, y: stats.norm.logpdf(y, x[:, 0]),
    lambda x, rng: x[0] + rng.standard_normal(),
)
level_mixture = skh.model_from_functions(
    ([0.0], 1.0), lambda t, x: skh.student_t(0.95 * x, 0.4, DF), level.log_likelihood
)
CASES = (odometry, epidemic, level)


# --- filters --------------------------------------------------------------------------------------


class Filtered(NamedTuple):
    """Means and standard deviations (T, d), and the log-evidence."""

    means: np.ndarray
    deviations: np.ndarray
    log_evidence: float


def simulated(case: Case, steps: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    x, ys = case.prior(1, rng), []
    for t in range(steps):
        x = case.simulate(t - 1, x, rng) if t else x
        ys.append(case.observe(x[0], rng))
    return ys


def bootstrap(case: Case, ys: list[Any], n: int, seed: int) -> Filtered:
    """Resample (stratified), simulate, reweight, at each step."""
    rng, w, rows = np.random.default_rng(seed), np.full(n, 1 / n), []
    x, log_evidence = case.prior(n, rng), 0.0
    for t, y in enumerate(ys):
        if t:
            strata = (np.arange(n) + rng.random(n)) / n
            chosen = np.searchsorted(np.cumsum(w), strata * w.sum())
            x = case.simulate(t - 1, x[np.minimum(chosen, n - 1)], rng)
        level = case.log_likelihood(t, x, y)
        w = np.exp(level - level.max())
        log_evidence += level.max() + np.log(w.mean())
        w /= w.sum()
        rows.append((w @ x, np.sqrt(w @ (x - w @ x) ** 2)))
    means, deviations = map(np.array, zip(*rows, strict=True))
    return Filtered(means, deviations, float(log_evidence))


def placed(model: Any, ys: list[Any], n: int, seed: int) -> Filtered:
    result = skh.particle_filter(model, ys, n=n, rng=seed)
    deviations = np.sqrt(np.diagonal(result.covariances, axis1=1, axis2=2))
    return Filtered(result.means, deviations, result.log_evidence)


def filters(case: Case) -> dict[str, Callable[[list[Any], int, int], Filtered]]:
    by_draws = skh.from_simulator(case.prior, case.simulate, case.log_likelihood)
    by_points = skh.from_simulator(
        case.prior, case.from_uniforms, case.log_likelihood, noise_dim=case.noise_dim
    )
    found = {
        "bootstrap filter": lambda ys, n, seed: bootstrap(case, ys, n, seed),
        "its 4 n particles": lambda ys, n, seed: bootstrap(case, ys, 4 * n, seed),
        "`from_simulator`": lambda ys, n, seed: placed(by_draws, ys, n, seed),
        "with `noise_dim`": lambda ys, n, seed: placed(by_points, ys, n, seed),
    }
    if case is level:
        found["`student_t`"] = lambda ys, n, seed: placed(level_mixture, ys, n, seed)
    return found


# --- the study ------------------------------------------------------------------------------------


def errors(found: Filtered, reference: Filtered) -> tuple[float, float]:
    """Mean square errors of the means, in standard deviations, and of the log-evidence."""
    off = (found.means - reference.means) / np.maximum(reference.deviations, 1e-9)
    return float((off**2).mean()), (found.log_evidence - reference.log_evidence) ** 2


def study(
    case: Case,
    sizes: tuple[int, ...],
    sets: int,
    runs: int,
    steps: int = STEPS,
    large: int = REFERENCE,
) -> dict[tuple[str, int], np.ndarray]:
    """Square errors (sets, runs, 2) for each filter and number of particles."""
    found: dict[tuple[str, int], Any] = {}
    for s in range(FIRST_SEED, FIRST_SEED + sets):
        ys = simulated(case, steps, s)
        reference = bootstrap(case, ys, large, s)
        for name, run in filters(case).items():
            for n in sizes:
                of_set = [errors(run(ys, n, 100 * s + r), reference) for r in range(runs)]
                found.setdefault((name, n), []).append(of_set)
    return {key: np.array(value) for key, value in found.items()}


def table(
    case: Case, found: dict[tuple[str, int], np.ndarray], sizes: tuple[int, ...]
) -> list[str]:
    """Rows with median errors of mean and log-evidence, and the number of data sets won."""
    lines = []
    for name in dict.fromkeys(name for name, _ in found):
        cells = []
        for n in sizes:
            of_sets = np.sqrt(found[name, n].mean(axis=1))
            random = np.sqrt(found["bootstrap filter", n].mean(axis=1))
            mean, evidence = np.median(of_sets, axis=0)
            won = f" ({(of_sets < random)[:, 0].sum()})" if name != "bootstrap filter" else ""
            cells.append(f"{mean:.3f}, {evidence:.2f}{won}")
        lines.append(f"| {case.name} | {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    sizes, start = tuple(options.sizes), time.perf_counter()
    print(f"| model | filter | {' | '.join(f'n = {n}' for n in sizes)} |")
    print("|---" * (2 + len(sizes)) + "|")
    for case in CASES:
        print(
            "\n".join(table(case, study(case, sizes, options.sets, options.runs), sizes)),
            flush=True,
        )
    last = FIRST_SEED + options.sets - 1
    print(f"\nData sets {FIRST_SEED} to {last}, {options.runs} runs each, {STEPS} steps; ", end="")
    print(f"{(time.perf_counter() - start) / 60:.0f} minutes.")


if __name__ == "__main__":
    main()
