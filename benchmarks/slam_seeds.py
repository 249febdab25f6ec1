"""Starry Night without its map, N = 100: FW against the default, by more seeds than the study.

    SKH_DATA=/path/to/the/data python benchmarks/slam_seeds.py   # five minutes, one process

The table of docs/starry_night.md: ten seeds that are not those of the study.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skh.reproduction.engine.task import Task
from skh.reproduction.robots.runs import filtered, whole_run
from skh.reproduction.starry_night.tasks import StarryNightSlam

N, SEEDS = 100, range(100, 110)
STUDY = StarryNightSlam()


def main() -> None:
    """Print a row for each rule."""
    print("| rule | N | RMSE to truth, m: median (lowest, highest) | median NEES |")
    print("|---" * 4 + "|")
    log = STUDY.load(STUDY.logs[0])
    for name in ("PF", "FW", "default"):
        start = Task(STUDY.name, (name,), 0).record(model=STUDY.logs[0], rule=name, n=N)
        runs = [
            whole_run(replace(start, seed=seed), log, filtered(log, STUDY.rule(name), N, seed))
            for seed in SEEDS
        ]
        rmse, nees = np.array([(r.rmse, r.nees) for r in runs]).T
        spread = f"{np.median(rmse):.3f} ({rmse.min():.3f}, {rmse.max():.3f})"
        print(f"| {name} | {N} | {spread} | {np.median(nees):.3g} |", flush=True)


if __name__ == "__main__":
    main()
