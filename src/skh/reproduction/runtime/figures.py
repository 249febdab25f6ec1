"""Figures of the paragraph "Runtimes": growth of the time, and when placing pays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.runtime.break_even import Curve, curves, targets
from skh.reproduction.runtime.claims import MATLAB
from skh.reproduction.runtime.tasks import PLACING, STREAMING
from skh.reproduction.statistics import MissingError, medians, select

COSTS = np.geomspace(1e-7, 1e-1, 200)  # seconds per likelihood evaluation


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw the growth in N, M and T, and the time to an accuracy by the cost of a likelihood."""
    made = []
    for picture in (_growth, _break_even):
        try:
            made.append(picture(records))
        except MissingError:  # a partial run: the report says how many tasks are missing
            continue
    return made


def _growth(records: Sequence[Record]) -> style.Picture:
    figure, axes = style.panels(1, 3, width=3.7, height=2.9)
    by_n, by_m, by_t = axes.flat
    placing = select(records, model=PLACING)
    _times(by_n, select(placing, m=10_000), "n", "number of points N", "M = 10,000")
    for rule in ("FW", "FCFW"):
        known = {n: s for (name, n), s in MATLAB.items() if name == rule}
        dotted = style.look(rule) | {"linestyle": ":", "markerfacecolor": "white"}
        by_n.plot(list(known), list(known.values()), **dotted, label=f"{rule}, paper (Matlab)")
    _times(by_m, select(placing, n=100), "m", "search points M", "N = 100")
    streaming = select(records, model=STREAMING)
    title = f"filtering T steps, N = {streaming[0].n}"
    _times(by_t, streaming, "steps", "time steps T", title)
    style.legend(figure, axes)
    caption = (
        "Runtimes: one placement in d = 6 with K = N components (left, beside the times that the "
        "paper gives per step), and a whole series (right); medians. Grey: linear growth."
    )
    return style.Picture("runtime", caption, figure)


def _times(axis: Any, records: Sequence[Record], by: str, xlabel: str, title: str) -> None:
    sizes: list[int] = []
    for rule in sorted({r.rule for r in records}, reverse=True):
        found = medians(select(records, rule=rule), "seconds", by)
        sizes = list(found)
        axis.plot(sizes, list(found.values()), **style.look(rule), label=style.label(rule))
        line = np.array(sizes) / sizes[0] * found[sizes[0]]
        axis.plot(sizes, line, color="0.75", linewidth=0.9, zorder=0)
    style.log_axes(axis, sizes, xlabel, "seconds", title)


def _break_even(records: Sequence[Record]) -> style.Picture:
    rules, levels = curves(records), targets(records)
    figure, axes = style.panels(1, len(levels), width=3.7, height=2.9)
    for axis, (n, rmse) in zip(axes.flat, levels, strict=True):
        _time_to_accuracy(axis, rules, rmse)
        axis.set_title(f"RMSE {rmse:.2g}: a PF with {n:,} particles")
        axis.set(xlabel="seconds per likelihood evaluation", ylabel="seconds per time step")
        style.grid(axis)
    style.legend(figure, axes)
    caption = (
        "Break-even on the nonlinear benchmark: the time per step that each rule needs for the "
        "same error, against the cost of one likelihood evaluation. The strip below shows the "
        "fastest rule; a rule without a line does not reach the error with any measured N."
    )
    return style.Picture("break-even", caption, figure)


def _time_to_accuracy(axis: Any, rules: Sequence[Curve], rmse: float) -> None:
    times = np.array([curve.seconds(rmse, COSTS) for curve in rules])
    ends = {}
    for curve, seconds in zip(rules, times, strict=True):
        if needed := curve.needed(rmse):
            line = style.look(curve.rule) | {"marker": ""}
            axis.plot(COSTS, seconds, **line, label=style.label(curve.rule))
            ends[curve.rule] = float(seconds[-1]), f"N={needed[0]:.0f}"
    axis.set(xscale="log", yscale="log")
    style.end_labels(axis, ends)
    _winners(axis, rules, times)


def _winners(axis: Any, rules: Sequence[Curve], times: Any) -> None:
    """Draw a strip along the lower edge in the colour of the fastest rule."""
    best = np.argmin(times, axis=0)
    edges = [0, *(np.flatnonzero(np.diff(best)) + 1), len(COSTS) - 1]
    for a, b in pairwise(edges):
        colour = style.colour(rules[best[a]].rule)
        axis.axvspan(COSTS[a], COSTS[b], 0, 0.035, color=colour, linewidth=0)
