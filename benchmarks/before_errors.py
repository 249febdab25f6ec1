"""Filter errors of the default rule against an earlier version of itself, on the same data sets.

    python benchmarks/before_errors.py          # half an hour; writes what before_errors.json lacks
    python benchmarks/before_errors.py table    # prints ratios and their intervals, from it

Errors are root mean squares of the means, relative to exact ones, over the steps of a data set; the
ratio is that of their averages over sets, with 95 % intervals by resampling sets.  The sets have
the seeds 9000, 9001, ..., on which nothing was developed.
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
SETS = {20: 120, 50: 120, 100: 120, 200: 48, 1000: 2}
BOUND = 1.05


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


def measure() -> None:
    """Run both versions on all sets that the record lacks, writing it after each set."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    with tempfile.TemporaryDirectory() as folder, before_and_now(__file__) as versions:
        for n, problem, k in tasks():
            if (key := f"{problem},{n},{k}") not in record:
                if not (file := Path(folder) / f"{problem}{k}.npz").exists():
                    write_set(problem, FIRST_SEED + k, file)
                errors = [version(f"{key},{file}") for version in versions]
                record[key] = [float(f"{error:.6g}") for error in errors]
                RECORD.write_text(json.dumps(record, indent=0) + "\n")


def tasks() -> Iterator[tuple[int, str, int]]:
    """Numbers of points, problems and sets, the cheap ones first."""
    for n, sets in SETS.items():
        for problem in PROBLEMS:
            for k in range(sets):
                yield n, problem, k


def ratio(errors: np.ndarray) -> tuple[float, float, float]:
    """Ratio of the mean errors (sets, 2), now to before, and its 95 % interval."""
    rng = np.random.default_rng(0)
    some = errors[rng.integers(len(errors), size=(4000, len(errors)))].mean(axis=1)
    low, high = np.quantile(some[:, 1] / some[:, 0], [0.025, 0.975])
    before, now = errors.mean(axis=0)
    return float(now / before), float(low), float(high)


def table(record: dict[str, list[float]]) -> str:
    """Ratios for each problem and number of points."""
    lines = [
        "| problem | N | sets | error before | now | ratio | 95 % interval |",
        "|---" * 7 + "|",
    ]
    for problem in PROBLEMS:
        for n in SETS:
            rows = [record[key] for k in range(SETS[n]) if (key := f"{problem},{n},{k}") in record]
            if rows:
                errors = np.array(rows)
                middle, low, high = ratio(errors)
                before, now = errors.mean(axis=0)
                numbers = f"{before:.3g} | {now:.3g} | {middle:.3f} | {low:.3f} to {high:.3f}"
                lines.append(f"| {problem} | {n} | {len(rows)} | {numbers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        print(table(json.loads(RECORD.read_text())))
    elif sys.argv[1:] == ["serve"]:
        serve()
    else:
        measure()
