"""Figure of the demo: where each rule places its particles, and how the error falls with N."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from skh._typing import Array
from skh.reproduction import style
from skh.reproduction.demo.tasks import DENSITY, PLACED
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import batches, median, select

TALL = 1.8  # height of the default rule's panel relative to the others
NAMES = {"default": "default rule, no tuning", "PF": "random (particle filter)"}


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw the points of each rule (left) and the errors of the filters (right)."""
    placed = [r for r in records if r.model == PLACED]
    runs = [r for r in records if isnan(r.time)]
    if not (placed and runs):
        return []  # a run that has only begun
    figure = style.blank(10.4, 5.3)
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    left, right = halves
    _placements(left, placed)
    _errors(right.subplots(), runs, placed[0].n)
    caption = (
        f"Nonlinear benchmark. Left: one predictive distribution (grey) and {placed[0].n} "
        "particles by each rule. Right: RMSE of the filtered mean to a filter with very many "
        f"particles; medians and quartiles over {batches(runs)} data sets."
    )
    return [style.Picture("demo", caption, figure)]


def _rules(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each rule, the default rule first."""
    return dict(reversed(style.by_rule(records).items()))


def _name(rule: str) -> str:
    return NAMES.get(rule, style.label(rule))


def _xy(records: Sequence[Record]) -> tuple[Array, Array]:
    return np.array([r.x for r in records]), np.array([r.y for r in records])


def _placements(figure: Any, placed: Sequence[Record]) -> None:
    x, height = _xy(select(placed, rule=DENSITY))
    rules = _rules([r for r in placed if r.rule != DENSITY])
    ratios = [TALL, *[1.0] * (len(rules) - 1)]
    axes = figure.subplots(len(rules), 1, sharex=True, height_ratios=ratios)
    for axis, (rule, points) in zip(axes, rules.items(), strict=True):
        axis.fill_between(x, height / height.max(), color="0.9", linewidth=0)
        _stems(axis, rule, points)
        axis.set(yticks=[], ylim=(0, 1.3), xlim=(x[0], x[-1]))
        axis.spines["left"].set_visible(False)
        axis.tick_params(length=2)
    axes[0].set_title(f"One distribution,\n{placed[0].n} particles", loc="left", weight="bold")
    axes[-1].set_xlabel("state (height of a point: its weight)")


def _stems(axis: Any, rule: str, points: Sequence[Record]) -> None:
    """Draw points with their weights; equal weights have the same height in all panels."""
    x, w = _xy(points)
    stems = np.minimum(w * points[0].n / 2.5, 1.2)
    colour, size = style.colour(rule), 7 if rule == "default" else 4
    axis.vlines(x, 0, stems, color=colour, linewidth=size / 5)
    axis.plot(x, stems, ".", color=colour, markersize=size)
    axis.text(0, 0.93, _name(rule), transform=axis.transAxes, va="top", color=colour)


def _errors(axis: Any, runs: Sequence[Record], n: int) -> None:
    for rule, of_rule in _rules(runs).items():
        sizes = sorted({r.n for r in of_rule})
        _, low, middle, high, _ = style.quantiles(of_rule, "rmse", sizes)
        bold = {"linewidth": 3.2, "markersize": 8.0, "zorder": 5} if rule == "default" else {}
        style.band(axis, rule, sizes, low, high)
        axis.plot(sizes, middle, **style.look(rule) | bold, label=_name(rule))
    sizes = sorted({r.n for r in runs})
    style.log_axes(axis, sizes, "particles = likelihood evaluations per step", "RMSE", "")
    axis.set_title(_headline(runs, n), loc="left", weight="bold")
    axis.legend(loc="upper right")


def _headline(runs: Sequence[Record], n: int) -> str:
    most = max(r.n for r in runs)
    ours = median(select(runs, rule="default", n=n), "rmse")
    theirs = median(select(runs, rule="PF", n=most), "rmse")
    return f"{n} placed particles: RMSE {ours:.2f}\n{most} random particles: RMSE {theirs:.2f}"
