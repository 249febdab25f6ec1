"""Figures of a second look: ratios for every model, and errors against random particles."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.second_look.cases import FLOORS, SHARP, TITLES
from skh.reproduction.second_look.claims import cells_of, relative
from skh.reproduction.second_look.one_step import (
    LOOK,
    PILOT,
    POSTERIOR,
    PREDICTIVE,
    RADIUS,
    SURROGATE,
)
from skh.reproduction.second_look.tasks import BOOTSTRAP, LOOKS, PLAIN
from skh.reproduction.statistics import Ratio, batches, medians

ELLIPSES = {  # colour, line and name
    PREDICTIVE: (style.GREY, "-", "predictive"),
    SURROGATE: (style.RED, "--", "predictive times surrogate"),
    POSTERIOR: ("black", "-", "posterior, exact"),
}
DOTS = {PILOT: (style.BLUE, "pilot"), LOOK: (style.RED, "second look")}
SHADES = {20: "#9ecae1", 50: "#3b75af", 100: "#08306b"}  # of N
COLUMNS = 4


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw the ratios, and the errors of random particles if they were measured."""
    found = [_ratios(records)]
    if any(r.rule == BOOTSTRAP for r in records):
        found.append(_against_random(records))
    if any(r.rule == PILOT for r in records):
        found.append(_one_step([r for r in records if not isnan(r.time)]))
    return found


def _ratios(records: Sequence[Record]) -> style.Picture:
    models = [m for m in TITLES if any(r.model == m and r.rule == LOOKS for r in records)]
    figure = style.blank(9.5, 0.33 * len(models) + 1.5)
    axes = figure.subplots(1, 2, sharey=True, width_ratios=[1.6, 1])
    fields = {"rmse": "RMSE", "log_evidence_error": "error of the log-evidence"}
    for axis, (field, what) in zip(axes, fields.items(), strict=True):
        _dots(axis, records, models, field)
        axis.set(xscale="log", xlabel=f"{what} / default rule's")
        style.grid(axis)
    axes[0].set_yticks(range(len(models)), [TITLES[m] for m in models])
    axes[0].invert_yaxis()
    style.legend(figure, np.array(axes))
    caption = (
        "A second look relative to the default rule with as many likelihood evaluations: geometric "
        f"means over {batches(records)} data sets and 95 % intervals. Left of the line at 1, it is "
        "more accurate."
    )
    return style.Picture("second-look", caption, figure)


def _dots(axis: Any, records: Sequence[Record], models: Sequence[str], field: str) -> None:
    """One dot with its interval per cell, those of one model above each other."""
    cells = cells_of(records, models)
    sizes = sorted({n for _, n in cells})
    axis.axvline(1.0, color="0.5", linewidth=1.2)
    for k, n in enumerate(sizes):
        shift = 0.22 * (k - (len(sizes) - 1) / 2)
        of_size = [m for m, size in cells if size == n]
        found = {models.index(m) + shift: relative(records, (m, n), field) for m in of_size}
        _bars(axis, found, SHADES.get(n, style.GREY), f"N = {n}")


def _bars(axis: Any, found: dict[float, Ratio], colour: str, label: str) -> None:
    height, means = list(found), np.array([r.mean for r in found.values()])
    ends = np.array([[r.mean - r.low, r.high - r.mean] for r in found.values()]).T
    axis.errorbar(
        *(means, height),
        xerr=np.nan_to_num(ends),
        fmt="o",
        color=colour,
        markersize=4,
        linewidth=1.3,
        label=label,
    )


def _against_random(records: Sequence[Record]) -> style.Picture:
    models = [
        m for m in (*SHARP, *FLOORS) if any(r.model == m and r.rule == BOOTSTRAP for r in records)
    ]
    columns = min(COLUMNS, len(models))
    figure, axes = style.panels(-(-len(models) // columns), columns, width=2.6, height=2.2)
    for axis in axes.flat[len(models) :]:
        axis.set_axis_off()
    for place, (axis, model) in enumerate(zip(axes.flat, models, strict=False)):
        _panel(axis, [r for r in records if r.model == model], TITLES[model])
        if place % columns:
            axis.set_ylabel("")
    style.legend(figure, axes)
    caption = (
        "Median RMSE of the filtered mean against the number of likelihood evaluations per step, "
        "on the data sets on which random particles were run as well. Dotted: the standard "
        "error of the reference, where it is above the panel's lower end."
    )
    return style.Picture("second-look-particles", caption, figure)


def _panel(axis: Any, of_model: Sequence[Record], title: str) -> None:
    few = {r.batch for r in of_model if r.rule == BOOTSTRAP}
    rules = style.by_rule([r for r in of_model if r.batch in few])
    random = medians([*rules.get("PF", []), *rules.get(BOOTSTRAP, [])], "rmse")
    axis.plot(list(random), list(random.values()), **style.look("PF"), label="random particles")
    for rule in (PLAIN, LOOKS):
        error = medians(rules.get(rule, []), "rmse")
        axis.plot(list(error), list(error.values()), **style.look(rule), label=style.label(rule))
    floor = float(np.median([r.rmse for r in rules.get("reference", [])] or [0.0]))
    if floor > min(r.rmse for r in rules.get(LOOKS, [])) / 3:
        axis.axhline(floor, color="0.5", linestyle=":", linewidth=1.0)
    ticks = [n for n in (100, 1_000, 10_000, 100_000, 1_000_000) if n <= max(random)]
    style.log_axes(axis, ticks, "evaluations per step", "RMSE", title)


def _one_step(of_step: Sequence[Record]) -> style.Picture:
    """The same step twice: in the scale of the predictive, and in that of the posterior."""
    figure = style.blank(9.0, 4.6)
    axes = figure.subplots(1, 2)
    for axis, scale in zip(axes, (PREDICTIVE, POSTERIOR), strict=True):
        for rule, (colour, line, name) in ELLIPSES.items():
            axis.plot(*_places(of_step, rule)[:2], color=colour, linestyle=line, label=name)
        for rule, (colour, name) in DOTS.items():
            x, y, w = _places(of_step, rule)
            size = 8 + 400 * w
            axis.scatter(x, y, s=size, color=colour, alpha=0.7, linewidths=0, label=name, zorder=3)
        _frame(axis, *_places(of_step, scale)[:2])
    axes[0].set_title("the step")
    axes[1].set_title("its posterior")
    style.legend(figure, np.array(axes))
    n = of_step[0].n
    caption = (
        f"One step of a filter that looks twice, on range-bearing with N = {n}. The pilot, half of "
        "the evaluations, is placed for the predictive distribution, blind to the observation; the "
        "other half for its product with the surrogate that was fitted to the pilot. Areas are "
        f"proportional to weights, ellipses are at {RADIUS:g} standard deviations; on the right, "
        "the neighbourhood of the posterior."
    )
    return style.Picture("second-look-step", caption, figure)


def _places(of_step: Sequence[Record], rule: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates and weights of the points of a kind, in their order."""
    ordered = sorted((r for r in of_step if r.rule == rule), key=lambda r: r.time)
    x, y, w = np.array([[r.x, r.y, r.z] for r in ordered]).reshape(-1, 3).T
    return x, y, w


def _frame(axis: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Limits a little beyond an ellipse, in equal scales."""
    half = 0.8 * max(np.ptp(x), np.ptp(y))
    middle = (x.max() + x.min()) / 2, (y.max() + y.min()) / 2
    axis.set_xlim(middle[0] - half, middle[0] + half)
    axis.set_ylim(middle[1] - half, middle[1] + half)
    axis.set_aspect("equal")
    axis.set(xlabel="x, metres", ylabel="y, metres")
    style.grid(axis)
