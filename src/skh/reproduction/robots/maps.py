"""Figures of paths on the map, with particles and ellipses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skh._typing import Array
from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.runs import LANDMARK, PARTICLE_OF, PATH_OF, TRUTH
from skh.reproduction.robots.statistics import moments
from skh.reproduction.robots.study import REFERENCE

CIRCLE = np.linspace(0, 2 * np.pi, 60)
SDS = 2.0  # standard deviations of the ellipses
CLOSE_UPS = 4
ELLIPSES = 40  # along a path
COLUMN = 5.0  # inches of a panel with a path
AROUND = 0.9  # inches of a panel's title and labels
TALLEST = 3.6  # inches of a map
CLOSER = 2.9  # inches of the row of close-ups
SHOWN = ("PF", "default")

Background = Callable[[Any], None]  # draws a map on an axis


def trajectory(
    name: str,
    title: str,
    records: Sequence[Record],
    background: Background = lambda axis: None,
    rules: Sequence[str] = SHOWN,
) -> style.Picture:
    """The paths of one seed of some rules on the map, and their particles at some moments."""
    times = sorted({r.time for r in records if r.rule.startswith(PARTICLE_OF)})
    chosen = np.linspace(0, len(times) - 1, min(CLOSE_UPS, len(times))).round().astype(int)
    height = _height(records, background, rules)
    figure = style.blank(COLUMN * len(rules), height + (CLOSER if times else 0.0))
    figure.set_layout_engine("constrained", h_pad=0.1)  # else titles of narrow maps are cut off
    parts: Any = figure.subfigures(2, 1, height_ratios=[height, CLOSER]) if times else [figure]
    above, *below = parts
    axes = above.subplots(1, len(rules), squeeze=False, sharex=True, sharey=True)
    for axis, rule in zip(axes.flat, rules, strict=True):
        background(axis)
        _path(axis, records, rule)
        axis.set_title(f"{title}: {rule}")
    for closer in below:
        panels = closer.subplots(1, len(chosen), squeeze=False)
        for axis, time in zip(panels.flat, (times[k] for k in chosen), strict=True):
            background(axis)
            _close_up(axis, records, rules, time)
        style.legend(closer, panels)
    caption = (
        f"{title}: true path (black), landmarks (stars), the filtered path of one seed with "
        "ellipses of two standard deviations; below, particles (areas: weights) and ellipses at "
        "some moments, with the true position (cross) and the references' mean (plus)."
    )
    return style.Picture(f"{name}-path", caption, figure)


def _height(records: Sequence[Record], background: Background, rules: Sequence[str]) -> float:
    """Inches of a row of maps that fill their columns, with titles and labels."""
    axis: Any = style.blank(1.0, 1.0).subplots()
    background(axis)
    for rule in rules:
        _path(axis, records, rule)
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    shape = float((top - bottom) / (right - left))
    return AROUND + min((COLUMN - AROUND) * shape, TALLEST)


def _path(axis: Any, records: Sequence[Record], rule: str) -> None:
    """Landmarks, the true path, and the filtered one with ellipses."""
    _landmarks(axis, records)
    truth = plane([r for r in records if r.rule == TRUTH])
    axis.plot(*truth.T, color="black", linewidth=1, label="truth")
    path = [r for r in records if r.rule == PATH_OF + rule]
    colour = RULE_COLOURS.get(rule, style.colour(rule))
    axis.plot(*plane(path).T, color=colour, linewidth=0.9, label=rule)
    for r in path[:: max(len(path) // ELLIPSES, 1)]:
        _ellipse(axis, r, colour)
    axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")


RULE_COLOURS = {"default": "#c03d3e"}  # where black is the truth


def _landmarks(axis: Any, records: Sequence[Record]) -> None:
    marks = plane([r for r in records if r.rule == LANDMARK])
    axis.plot(*marks.T, "*", color="#d98c3f", markersize=7, label="landmarks")


def _close_up(axis: Any, records: Sequence[Record], rules: Sequence[str], time: float) -> None:
    """Particles and ellipses of some rules around the truth at one moment."""
    now = [r for r in records if r.time == time]
    seen = [_marks(axis, now, TRUTH, "x", "truth"), _marks(axis, now, REFERENCE, "+", "references")]
    for rule in rules:
        cloud = [r for r in now if r.rule == PARTICLE_OF + rule]
        colour = RULE_COLOURS.get(rule, style.colour(rule))
        weights = np.array([r.rmse for r in cloud])
        area = 150 * weights / max(weights.max(initial=0), 1e-12) + 2
        axis.scatter(*plane(cloud).T, area, colour, alpha=0.45, label=rule, lw=0)
        for r in (r for r in now if r.rule == PATH_OF + rule):
            _ellipse(axis, r, colour)
        seen.append(plane(cloud)[weights > 0.2 * weights.max(initial=0)])
    _square(axis, np.concatenate(seen))
    axis.set_title(f"t = {time:.0f} s", fontsize=9)


def _marks(axis: Any, now: Sequence[Record], rule: str, marker: str, label: str) -> Array:
    """Draw the mean position of the records of a rule; return it."""
    places = plane(
        [r for r in moments(now) if r.rule == rule] or [r for r in now if r.rule == rule]
    )
    if len(places):
        places = places.mean(axis=0, keepdims=True)
        axis.plot(*places.T, marker, color="black", markersize=9, mew=1.6, label=label, zorder=5)
    return places


def _square(axis: Any, points: Array) -> None:
    """Show a square that contains all points."""
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    reach = max(float(np.abs(points - centre).max()) * 1.25, 1e-3)
    axis.set_xlim(centre[0] - reach, centre[0] + reach)
    axis.set_ylim(centre[1] - reach, centre[1] + reach)
    axis.set_aspect("equal")
    axis.locator_params(nbins=4)
    axis.tick_params(labelsize=7)


def _ellipse(axis: Any, r: Record, colour: str) -> None:
    values, axes = np.linalg.eigh([[r.xx, r.xy], [r.xy, r.yy]])
    radii = SDS * np.sqrt(np.maximum(values, 0))
    circle = (axes * radii) @ np.stack([np.cos(CIRCLE), np.sin(CIRCLE)])
    axis.plot(r.x + circle[0], r.y + circle[1], color=colour, linewidth=0.8, alpha=0.8)


def plane(records: Sequence[Record]) -> Array:
    """Coordinates x and y, (k, 2)."""
    return np.array([(r.x, r.y) for r in records]).reshape(-1, 2)
