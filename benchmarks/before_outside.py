"""A filter step outside rule and likelihood against an earlier version, in turn, as in `before`.

    python benchmarks/before_outside.py      # these rows alone

A model whose states are charted, and one whose particles carry Kalman filters as well.  The parts
are those of ``belief.seconds`` by the clock of the process: transitions and records are outside.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from earlier import before_and_now
from timing import Row

TURNS, STEPS, BOUND = 11, 30, 0.5
CASES = {"robot": "SE(2), four bearings", "uav": "UAV"}
BEACONS = np.array([[0.0, 0.0], [8.0, 1.0], [1.0, 9.0], [7.0, 8.0]])


class Robot:
    """Drives through the plane and sees the bearings of four beacons."""

    def prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Start and its covariance."""
        return np.array([5.0, 0.0, 3.0]), 0.01 * np.eye(3)

    def transition(self, t: int, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn on the way round."""
        way = np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), np.full(len(s), 0.3)], axis=1)
        return s + 0.1 * way, np.diag([0.01, 0.01, 0.02])

    def bearings(self, s: np.ndarray) -> np.ndarray:
        """Bearings of the beacons, (n, 4)."""
        way = BEACONS - s[:, None, :2]
        return np.arctan2(way[..., 1], way[..., 0]) - s[:, 2:]

    def log_likelihood(self, t: int, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Bearings with an error of 0.1."""
        off = y - self.bearings(s)
        return -50.0 * (np.arctan2(np.sin(off), np.cos(off)) ** 2).sum(axis=1)


def problem(name: str) -> tuple[Any, list[Any]]:
    """Return a model and its observations."""
    import skh

    if name == "uav":
        flight = skh.models.survey_flight(STEPS, rng=0)
        return flight.model, flight.observations
    robot, rng = Robot(), np.random.default_rng(0)
    states = [robot.prior()[0][None]]
    while len(states) < STEPS:
        states.append(robot.transition(len(states), states[-1])[0])
    ys = [robot.bearings(s)[0] + 0.1 * rng.normal(size=4) for s in states]
    return skh.geometry.Charted(robot, skh.geometry.SE2()), ys


def serve() -> None:
    """Run a filter for each name on the standard input; print seconds per step outside."""
    time.perf_counter = time.process_time  # type: ignore[assignment] # that of `belief.seconds`
    import skh

    for line in sys.stdin:
        model, ys = problem(line.strip())
        result = skh.particle_filter(model, ys, skh.default_rule(), 50, rng=0)
        print(median(result.seconds.rest[1:]), flush=True)


def outside() -> Iterator[Row]:
    """Ratios of times outside rule and likelihood to those of the earlier version."""
    with before_and_now(__file__) as versions:
        for name, title in CASES.items():
            for version in versions:  # the first steps compile
                version(name)
            times = [[version(name) for version in versions] for _ in range(TURNS)]
            before, now = (1e3 * median(column) for column in zip(*times, strict=True))
            detail = f"{now:.2f} ms instead of {before:.2f}"
            ratio = median(new / old for old, new in times)
            title = f"outside rule and likelihood, N = 50, {title}"
            yield Row(title, ratio, BOUND, "x before", detail=detail)


SECTIONS = [outside]

if __name__ == "__main__":
    if "serve" in sys.argv:
        serve()
    else:
        for row in outside():
            print(f"{row.name}: {row.value:.2f} {row.unit} (bound {row.bound:g}); {row.detail}")
