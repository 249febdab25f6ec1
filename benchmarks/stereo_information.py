"""What it is worth to tell the filter what a camera sees: Starry Night, with its map, N = 50.

    SKH_DATA=/path/to/the/data python benchmarks/stereo_information.py   # ten minutes, one process

The table of docs/starry_night.md: the default of a filter, the same without smoothing, and one look
per step, with the information told by the sensor or learned from likelihoods.  Medians over seeds;
nothing was chosen on these runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import skh
from skh.reproduction.engine.task import Task
from skh.reproduction.robots.log import Log
from skh.reproduction.robots.runs import filtered, whole_run
from skh.reproduction.starry_night import tasks

STEPS, SEEDS = 1_701, range(5)
PLANS = {
    "what a filter does without a rule": skh.default_plan(),
    "`SecondLook()`": skh.SecondLook(),
    "`default_rule()`": skh.default_rule(),
}
RUNS = [(told, name, 50) for name in PLANS for told in (True, False)]
RUNS.append((False, next(iter(PLANS)), 100))


class Silent:
    """A camera that does not tell its information."""

    information = None

    def __init__(self, camera: Any) -> None:
        self._camera = camera

    def __getattr__(self, name: str) -> Any:
        return getattr(self._camera, name)


def log_of(told: bool) -> Log:
    """The log with its map, filtered by the camera or by a silent one."""
    camera = tasks.camera_of
    tasks.camera_of = camera if told else lambda log: Silent(camera(log))
    tasks.known_map.cache_clear()
    try:
        return tasks.known_map(STEPS)
    finally:
        tasks.camera_of = camera


def main() -> None:
    """Print a row for each filter."""
    print("| filter | information | N | RMSE [m], median (all) | median NEES | mean ESS |")
    print("|---" * 6 + "|")
    logs = {told: log_of(told) for told in (True, False)}
    for told, name, n in RUNS:
        start = Task("starry-night", (name,), 0).record(model="known map", n=n)
        runs = [
            whole_run(
                replace(start, seed=seed), logs[told], filtered(logs[told], PLANS[name], n, seed)
            )
            for seed in SEEDS
        ]
        rmse, nees, ess = np.array([(r.rmse, r.nees, r.ess) for r in runs]).T
        every = ", ".join(f"{x:.3f}" for x in np.sort(rmse))
        said = "told" if told else "learned"
        print(
            f"| {name} | {said} | {n} | {np.median(rmse):.3f} ({every}) "
            f"| {np.median(nees):.1f} | {np.mean(ess):.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
