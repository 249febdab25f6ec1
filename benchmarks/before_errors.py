"""Filter errors of the default rule against an earlier version of itself, on the same data sets.

    python benchmarks/before_errors.py before   # two hours; what the record lacks of the earlier
    python benchmarks/before_errors.py now      # a quarter of an hour; errors of this version anew
    python benchmarks/before_errors.py          # prints ratios and their intervals, from the record

Errors are root mean squares of the means, relative to exact ones, over the steps of a data set; the
ratio is that of their averages over sets, with 95 % intervals by resampling sets; this version runs
on the sets that the record, before_errors.json, has of the earlier one.  They have the seeds 9000,
9001, ...; the number of iterations was chosen on the first 240: the second table is of the others.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from earlier import before_and_now
from numerical_error import CASES

import skh

RECORD = Path(__file__).with_suffix(".json")
FIRST_SEED, STEPS = 9000, 50
PROBLEMS = {"nonlinear": "nonlinear", "LGSS3": "LGSS, d = 3", "volatility": "volatility"}
SETS = {20: 960, 50: 480, 100: 480, 200: 240, 300: 96, 500: 32, 1_000: 8}
VERSIONS = "before", "now"
FRESH = 240  # the first set on which nothing was chosen


def model_of(problem: str) -> Any:
    """Make the model of a problem; the earlier version has the same ones."""
    makers = {
        "nonlinear": skh.models.nonlinear_benchmark,
        "LGSS3": skh.models.lgss3,
        "volatility": skh.models.stochastic_volatility,
    }
    return makers[problem]()


def serve() -> None:
    """Print the error of a run for each line ``problem,n,seed,file of data``."""
    for line in sys.stdin:
        problem, n, seed, file = line.strip().split(",")
        data = np.load(file)
        run = skh.particle_filter(
            model_of(problem), data["ys"], skh.default_rule(), int(n), rng=int(seed)
        )
        print(float(np.sqrt(np.mean((run.means - data["means"]) ** 2))), flush=True)


def write_set(problem: str, seed: int, file: Path) -> None:
    """Write observations and exact means of one data set."""
    model, exact = model_of(problem), CASES[PROBLEMS[problem]][1]
    ys = model.simulate(STEPS, rng=seed)[1]
    np.savez(file, ys=ys, means=exact(model, ys, seed).means)


def measure(which: str) -> None:
    """Run a version on all sets that the record lacks, writing it after each set."""
    record = read_record()
    errors = record[which] = record[which] if which == "before" else {}
    with tempfile.TemporaryDirectory() as folder, before_and_now(__file__) as versions:
        version = versions[VERSIONS.index(which)]
        for key, problem, k in tasks():
            if key not in errors and (which == "before" or key in record["before"]):
                if not (file := Path(folder) / f"{problem}{k}.npz").exists():
                    write_set(problem, FIRST_SEED + k, file)
                errors[key] = float(f"{version(f'{key},{file}'):.6g}")
                RECORD.write_text(json.dumps(record, indent=0) + "\n")


def read_record() -> dict[str, dict[str, float]]:
    """Errors of each version by problem, number of points and data set."""
    record: dict[str, dict[str, float]] = {version: {} for version in VERSIONS}
    return record | (json.loads(RECORD.read_text()) if RECORD.exists() else {})


def tasks() -> Iterator[tuple[str, str, int]]:
    """Problems, numbers of points and sets; a first quarter of the sets of all before the next."""
    for quarter in range(4):
        for n, sets in SETS.items():
            for problem in PROBLEMS:
                for k in range(quarter * sets // 4, (quarter + 1) * sets // 4):
                    yield f"{problem},{n},{k}", problem, k


def ratio(errors: np.ndarray) -> tuple[float, float, float]:
    """Ratio of the mean errors (sets, 2), now to before, and its 95 % interval."""
    rng = np.random.default_rng(0)
    some = errors[rng.integers(len(errors), size=(4000, len(errors)))].mean(axis=1)
    low, high = np.quantile(some[:, 1] / some[:, 0], [0.025, 0.975])
    before, now = errors.mean(axis=0)
    return float(now / before), float(low), float(high)


def table(record: dict[str, dict[str, float]], first: int = 0) -> str:
    """Ratios for each problem and number of points, over the sets from the ``first`` on."""
    lines = [
        "| problem | N | sets | error before | now | ratio | 95 % interval |",
        "|---" * 7 + "|",
    ]
    for problem in PROBLEMS:
        for n in SETS:
            keys = [f"{problem},{n},{k}" for k in range(first, SETS[n])]
            both = [key for key in keys if all(key in record[version] for version in VERSIONS)]
            if both:
                errors = np.array([[record[version][key] for version in VERSIONS] for key in both])
                middle, low, high = ratio(errors)
                before, now = errors.mean(axis=0)
                numbers = f"{before:.3g} | {now:.3g} | {middle:.3f} | {low:.3f} to {high:.3f}"
                lines.append(f"| {problem} | {n} | {len(both)} | {numbers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif sys.argv[1:]:
        measure(sys.argv[1])
    else:
        print(table(read_record()), table(read_record(), FRESH), sep="\n\n")
