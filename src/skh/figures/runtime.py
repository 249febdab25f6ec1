"""Pictures of the paragraph "Runtimes": growth of the cost, and when placing pays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from skh.claims.break_even import Curve, curves, targets
from skh.claims.runtime import MATLAB
from skh.claims.statistics import MissingError, medians, select
from skh.experiments.record import Record
from skh.experiments.runtime import PLACING, STREAMING
from skh.figures.style import LOOK, Picture, end_labels, label, legend, log_axes, look, panels

COSTS = np.geomspace(1e-7, 1e-1, 200)  # seconds per likelihood evaluation


def pictures(records: Sequence[Record]) -> list[Picture]:
    """The growth in N, M and T; the time to a given accuracy against the cost of a likelihood."""
    made = []
    for picture in (_growth, _break_even):
        try:
            made.append(picture(records))
        except MissingError:  # a partial run: the report says how many tasks are missing
            continue
    return made


def _growth(records: Sequence[Record]) -> Picture:
    figure, axes = panels(1, 3, width=3.7, height=2.9)
    placing = select(records, model=PLACING)
    _times(axes[0, 0], select(placing, m=10_000), "n", "number of points N", "M = 10,000")
    for rule in ("FW", "FCFW"):
        known = {n: s for (name, n), s in MATLAB.items() if name == rule}
        style = {**look(rule), "linestyle": ":", "markerfacecolor": "white"}
        axes[0, 0].plot(list(known), list(known.values()), **style, label=f"{rule}, paper (Matlab)")
    _times(axes[0, 1], select(placing, n=100), "m", "search points M", "N = 100")
    streaming = select(records, model=STREAMING)
    title = f"filtering T steps, N = {streaming[0].n}"
    _times(axes[0, 2], streaming, "steps", "time steps T", title)
    legend(figure, axes[0, 0])
    caption = (
        "Runtimes: one placement in d = 6 with K = N components (left, beside the times that the "
        "paper gives per step), and a whole series (right); medians. Grey: linear growth."
    )
    return Picture("runtime", caption, figure)


def _times(axis: Any, records: Sequence[Record], by: str, xlabel: str, title: str) -> None:
    sizes: list[int] = []
    for rule in sorted({r.rule for r in records}, reverse=True):
        found = medians(select(records, rule=rule), "seconds", by)
        sizes = list(found)
        axis.plot(sizes, list(found.values()), **look(rule), label=label(rule))
        line = np.array(sizes) / sizes[0] * found[sizes[0]]
        axis.plot(sizes, line, color="0.75", linewidth=0.9, zorder=0)
    log_axes(axis, sizes, xlabel, "seconds", title)


def _break_even(records: Sequence[Record]) -> Picture:
    rules, levels = curves(records), targets(records)
    figure, axes = panels(1, len(levels), width=3.7, height=2.9)
    for axis, (n, rmse) in zip(axes.flat, levels, strict=True):
        _time_to_accuracy(axis, rules, rmse)
        title = f"RMSE {rmse:.2g}: a PF with {n:,} particles"
        axis.set(
            title=title, xlabel="seconds per likelihood evaluation", ylabel="seconds per time step"
        )
        axis.grid(visible=True, which="major", color="0.92", linewidth=0.8)
    legend(figure, max(axes.flat, key=lambda a: len(a.get_legend_handles_labels()[1])))
    caption = (
        "Break-even on the nonlinear benchmark: the time per step that each rule needs for the "
        "same error, against the cost of one likelihood evaluation. The strip below shows the "
        "fastest rule; a rule without a line does not reach the error with any measured N."
    )
    return Picture("break-even", caption, figure)


def _time_to_accuracy(axis: Any, rules: Sequence[Curve], rmse: float) -> None:
    times = np.array([curve.seconds(rmse, COSTS) for curve in rules])
    for curve, seconds in zip(rules, times, strict=True):
        if np.isfinite(seconds).all():
            axis.plot(COSTS, seconds, **{**look(curve.rule), "marker": ""}, label=label(curve.rule))
    axis.set(xscale="log", yscale="log")
    needed = {curve.rule: curve.needed(rmse) for curve in rules}
    last = dict(zip(needed, times[:, -1], strict=True))
    ends = {r: (float(last[r]), f"N={found[0]:.0f}") for r, found in needed.items() if found}
    end_labels(axis, ends)
    _winners(axis, rules, times)


def _winners(axis: Any, rules: Sequence[Curve], times: Any) -> None:
    """A strip along the lower edge in the colour of the fastest rule."""
    best = np.argmin(times, axis=0)
    edges = [0, *(np.flatnonzero(np.diff(best)) + 1), len(COSTS) - 1]
    for a, b in pairwise(edges):
        colour = LOOK[rules[best[a]].rule][0]
        axis.axvspan(COSTS[a], COSTS[b], 0, 0.035, color=colour, linewidth=0)
