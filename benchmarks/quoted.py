"""Single numbers that pages quote and that belong to no study.

    python benchmarks/quoted.py > benchmarks/tables/quoted.md     # two minutes, then `make numbers`

Times are of the processor, the best of three calls.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from scipy import stats

import skh

Row = tuple[str, float]


def least_seconds(call: Callable[[], object]) -> float:
    """Least processor time of three calls, after one that compiles."""
    call()
    times = []
    for _ in range(3):
        begin = process_time()
        call()
        times.append(process_time() - begin)
    return min(times)


def mixture(k: int, d: int, shared: bool, rng: np.random.Generator) -> skh.GaussianMixture:
    """Gaussians of equal weight around random means, with one covariance or one each."""
    C = 0.1 * np.eye(d) if shared else 0.1 * np.eye(d) * rng.uniform(0.5, 2.0, (k, 1, 1))
    return skh.GaussianMixture(np.full(k, 1 / k), rng.standard_normal((k, d)), C)


def many_points() -> Iterator[Row]:
    """Times of rules that place hundreds and thousands of points."""
    rng = np.random.default_rng(0)
    for d in (1, 2, 6):
        for n in (300, 1000):
            p = mixture(n, d, True, rng)
            seconds = least_seconds(lambda n=n, p=p: skh.default_rule()(p, n, rng=0))
            yield f"default rule, n = {n}, d = {d}, seconds", seconds
    for d, shared in ((2, True), (6, False)):
        p, rule = mixture(20_000, d, shared, rng), skh.Matched(skh.Stratified())
        seconds = least_seconds(lambda p=p, rule=rule: rule(p, 20_000, rng=0))
        yield f"matched, n = 20000, d = {d}, seconds", seconds


def residuals() -> Iterator[Row]:
    """Distance of residuals from those of the Kalman filter on LGSS, d = 3."""
    model = skh.models.lgss3()
    _, ys = model.simulate(60, rng=0)
    filtered = skh.kalman_filter(model, ys)
    means = np.vstack([model.initial_mean, filtered.means[:-1] @ model.A.T])
    predicted = [model.A @ P @ model.A.T + model.Q for P in filtered.covariances[:-1]]
    squares = [model.C @ P @ model.C.T + model.R for P in (model.initial_covariance, *predicted)]
    exact = stats.norm.cdf(ys, means @ model.C.T, np.sqrt(np.reshape(squares, (-1, 1))))
    for name, rule, n in (("no rule", None, 50), ("stratified", skh.Stratified(), 100)):
        found = skh.pit(model, ys, rule, n, rng=0).pit
        yield f"residuals, {name}, N = {n}", float(np.sqrt(np.mean((found - exact) ** 2)))


def sizes() -> Iterator[Row]:
    """Sizes of saved results and of the page of a run."""
    model = skh.models.lgss3()
    _, ys = model.simulate(2000, rng=0)
    with TemporaryDirectory() as folder:
        for history in (False, True):
            saved = [Path(folder, f"{T}.npz") for T in (1000, 2000)]
            for T, path in zip((1000, 2000), saved, strict=True):
                run = skh.particle_filter(
                    model, ys[:T], skh.Stratified(), 50, rng=0, history=history
                )
                run.save(path)
            per_step = np.diff([path.stat().st_size for path in saved])[0] / 1000
            yield f"bytes per step, history {history}", float(per_step)
        run = skh.particle_filter(model, ys, skh.Stratified(), 100, rng=0, history=True)
        page = Path(folder, "run.html")
        skh.report.write_run_html(run, page, observations=ys)
        yield "page of a run, megabytes", page.stat().st_size / 1e6


def tails() -> Iterator[Row]:
    """Variances of Student's t with three degrees of freedom as mixtures; the exact one is 3."""
    for components in (10, 20):
        p = skh.student_t(np.zeros((1, 1)), 1.0, 3.0, components=components)
        yield f"variance of t, {components} components", float(p.covariance[0, 0])


def print_head(program: str) -> None:
    """Print the command that writes a table, the day and the version."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    print(f"<!-- python benchmarks/{program}; {date.today()}, {commit} -->\n")


def print_rows(program: str, studies: Iterable[Callable[[], Iterator[Row]]]) -> None:
    """Print a table of single numbers."""
    print_head(program)
    print("| what | value |\n|---|---|")
    for study in studies:
        for name, value in study():
            print(f"| {name} | {value:.4g} |", flush=True)


if __name__ == "__main__":
    print_rows(Path(__file__).name, (tails, residuals, sizes, many_points))
