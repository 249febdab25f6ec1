"""Beams per second of the laser models: 180 beams on a map of 800 by 800 cells.

    python benchmarks/beams.py [--states 200] [--repeats 7] > benchmarks/tables/beams.md

Rates are per core (the kernels run on one thread) and the best of some repeats, so that other work
on the machine counts little; ratios are to `numpy.exp` of as many numbers.
"""

from __future__ import annotations

import argparse
from datetime import date
from functools import partial
from time import perf_counter

import numpy as np

from skh.models import GridMap
from skh.robotics import BeamModel, LikelihoodFieldModel

CELLS = 800
SIDE = 0.1  # metres
BEAMS = 180


def rooms(rng: np.random.Generator) -> GridMap:
    """A floor of 80 m by 80 m: rooms of 10 m with doors and furniture."""
    occupied = np.zeros((CELLS, CELLS), dtype=bool)
    for wall in range(0, CELLS, 100):
        occupied[wall : wall + 2] = occupied[:, wall : wall + 2] = True
    for door in range(50, CELLS, 100):
        occupied[:, door : door + 12] = occupied[door : door + 12] = False
    occupied[:2] = occupied[-2:] = occupied[:, :2] = occupied[:, -2:] = True
    for i, j in rng.integers(10, CELLS - 20, (200, 2)):
        occupied[i : i + 6, j : j + 8] = True
    return GridMap(occupied, SIDE, (0.0, 0.0))


def best_seconds(f, repeats: int) -> float:
    """Least time of a call, after one that compiles."""
    f()
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        f()
        times.append(perf_counter() - begin)
    return min(times)


def main() -> None:
    """Print the rates."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--states", type=int, default=200)
    options.add_argument("--repeats", type=int, default=7)
    chosen, rng = options.parse_args(), np.random.default_rng(0)
    grid = rooms(rng)
    free = np.argwhere(~grid.occupied)[:, ::-1]
    places = SIDE * (free[rng.integers(len(free), size=chosen.states)] + 0.5)
    states = np.column_stack([places, rng.uniform(-np.pi, np.pi, chosen.states)])
    angles = np.linspace(-np.pi / 2, np.pi / 2, BEAMS)
    beams = chosen.states * BEAMS
    yardstick = best_seconds(lambda: np.exp(np.linspace(-1.0, 0.0, beams)), chosen.repeats)
    print(f"<!-- python benchmarks/beams.py; {date.today()} -->\n")
    print("| model | million beams per second | times numpy.exp |\n|---|---|---|")
    for kind in (BeamModel, LikelihoodFieldModel):
        laser = kind(grid, angles, max_range=80.0, max_beams=BEAMS)
        y = laser.observe(states[0], rng)
        seconds = best_seconds(partial(laser.log_likelihood, states, y), chosen.repeats)
        rate = beams / seconds / 1e6
        print(f"| {kind.__name__} | {rate:.2g} | {seconds / yardstick:.2g} |")


if __name__ == "__main__":
    main()
