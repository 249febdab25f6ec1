"""From what cost of a likelihood on placed points are faster than random and sorted Sobol ones.

    python benchmarks/break_even.py           # ten minutes, one process; goes on where it was
    python benchmarks/break_even.py figure    # figure and table of the page, from the record

A filter is run without its likelihood's time: a step of n points takes s(n) seconds, and s(n) + n c
if a likelihood costs c.  The error of a rival at N points is interpolated, and beyond the largest N
extrapolated by the slope of a line through its last points, to find the m points that have the
error of the default.  The default pays where s(n) + n c < s(m) + m c.  Errors are RMSE of the
filtered mean to the references of ``skh reproduce second-look``, geometric means over data sets
that nothing was chosen on; seconds are of the processor.  The record is break_even.json.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import skh
from skh.geometry import SE2, Charted
from skh.reproduction.second_look import runs
from skh.reproduction.second_look.cases import CASES, Data

RECORD = Path(__file__).with_suffix(".json")
FIGURE = Path(__file__).parent.parent / "docs" / "break_even.png"
FIRST_SEED, SETS = 8_000, 12
MODELS = {
    "nonlinear": "nonlinear benchmark",
    "lgss3": "LGSS, d = 3",
    "volatility": "stochastic volatility",
    "range-bearing": "range and bearing",
    "laser": "laser beams, SE(2)",
}
DEFAULT, PF, SQMC = "default", "PF", "sorted SQMC"
RULES = {DEFAULT: None, PF: skh.Stratified(), SQMC: skh.QuasiMonteCarlo("hilbert")}
FEW, MANY = (20, 50, 100), (20, 50, 100, 300, 1_000, 3_000, 10_000)
SHOWN = 50  # points of the default
COSTS = np.logspace(-6, -1, 101)  # seconds


class Curve(NamedTuple):
    """A filter at several numbers of points: errors, and seconds of a step without likelihood."""

    n: np.ndarray
    rmse: np.ndarray
    seconds: np.ndarray

    def points_for(self, rmse: float) -> float:
        """Number of points that have an error; extrapolated beyond the largest."""
        log_n, falling = np.log(self.n), np.minimum.accumulate(np.log(self.rmse))
        if np.log(rmse) >= falling[-1]:
            return float(np.exp(np.interp(-np.log(rmse), -falling, log_n)))
        slope = min(np.polyfit(log_n[-4:], np.log(self.rmse[-4:]), 1)[0], -0.1)
        return float(np.exp(log_n[-1] + (np.log(rmse) - falling[-1]) / slope))

    def seconds_of(self, n: float) -> float:
        """Seconds of a step; in proportion to n beyond the largest."""
        inside = np.interp(np.log(n), np.log(self.n), np.log(self.seconds))
        return float(np.exp(inside) * max(n / self.n[-1], 1.0))


def data_set(name: str, k: int) -> Data:
    """Simulate a data set and solve it."""
    case = CASES[name]
    model = case.model()
    _, ys = model.simulate(case.T, rng=FIRST_SEED + k)
    solved = case.reference(model, ys, k)
    return Data(case, Charted(model, SE2()) if case.poses else model, ys, (solved,))


def measure(name: str) -> dict[str, dict[str, Any]]:
    """Errors and times of all filters on all data sets of a model."""
    found: dict[str, dict[str, Any]] = {rule: {} for rule in RULES}
    sets = [data_set(name, k) for k in range(SETS)]
    for rule, value in RULES.items():
        for n in FEW if rule == DEFAULT else MANY:
            plan = skh.default_plan() if value is None else value
            done = [runs.Run(d.model, plan, n, k).through(d.ys) for k, d in enumerate(sets)]
            errors = [d.rmse(np.array(run.means)) for d, run in zip(sets, done, strict=True)]
            seconds = np.median([np.median(run.own_seconds[1:]) for run in done])
            rmse = float(np.exp(np.mean(np.log(errors))))
            found[rule][str(n)] = {"rmse": float(f"{rmse:.4g}"), "seconds": float(f"{seconds:.4g}")}
    return found


def curve(of_rule: dict[str, Any]) -> Curve:
    """A filter as it was measured."""
    rows = [(int(n), cell["rmse"], cell["seconds"]) for n, cell in of_rule.items()]
    return Curve(*np.array(rows, dtype=float).T)


def break_even(of_model: dict[str, Any], rival: str, n: int = SHOWN) -> tuple[float, float]:
    """Number of points of the rival with the error of n placed ones, and the least cost that pays.

    The cost is 0 where placing is faster even for free, and infinite where the rival needs no more.
    """
    placed, other = of_model[DEFAULT][str(n)], curve(of_model[rival])
    m = other.points_for(placed["rmse"])
    if m <= n:
        return m, np.inf
    return m, max((placed["seconds"] - other.seconds_of(m)) / (m - n), 0.0)


def speed_up(of_model: dict[str, Any], rival: str, costs: np.ndarray) -> np.ndarray:
    """Time of a rival with the same error, relative to that of the default, for each cost."""
    placed, other = of_model[DEFAULT][str(SHOWN)], curve(of_model[rival])
    m = other.points_for(placed["rmse"])
    return np.asarray((other.seconds_of(m) + m * costs) / (placed["seconds"] + SHOWN * costs))


def table(record: dict[str, Any]) -> str:
    """A row for each model."""
    head = ["model", f"error with {SHOWN} placed points", "ms per step"]
    for rival in (PF, SQMC):
        head += [f"{rival}: points with that error", f"{rival}: placing pays from"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, title in MODELS.items():
        placed = record[name][DEFAULT][str(SHOWN)]
        cells = [title, f"{placed['rmse']:.2g}", f"{1e3 * placed['seconds']:.1f}"]
        for rival in (PF, SQMC):
            m, cost = break_even(record[name], rival)
            cells += [f"{float(f'{m:.2g}'):,.0f}", in_us(cost)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def in_us(seconds: float) -> str:
    """A cost from which on placing pays."""
    if seconds == 0.0:
        return "always"
    return "never" if np.isinf(seconds) else f"{1e6 * seconds:.2g} µs"


def draw(record: dict[str, Any]) -> None:
    """Draw how much faster the default is at equal accuracy, against the cost of a likelihood."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for axis, rival in zip(axes, (PF, SQMC), strict=True):
        for name, title in MODELS.items():
            axis.plot(1e6 * COSTS, speed_up(record[name], rival, COSTS), label=title)
        axis.axhline(1.0, color="black", linewidth=1)
        axis.set(xscale="log", yscale="log", xlabel="cost of one likelihood [µs]")
        axis.set_title(f"against {rival}", fontsize=10)
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"times faster with {SHOWN} placed points,\nat equal accuracy")
    handles, titles = axes[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    figure.savefig(FIGURE, dpi=130)
    plt.close(figure)


def main() -> None:
    """Measure what the record lacks, or draw."""
    runs.perf_counter = time.process_time  # of a busy machine
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if sys.argv[1:] == ["figure"]:
        draw(record)
        print(table(record))
        return
    for name in MODELS:
        if name not in record:
            record[name] = measure(name)
            RECORD.write_text(json.dumps(record, indent=1) + "\n")
            print(name, *(f"{rule}: {break_even(record[name], rule)}" for rule in (PF, SQMC)))


if __name__ == "__main__":
    main()
