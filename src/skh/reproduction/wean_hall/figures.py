"""Figures of Wean Hall: errors of tracking, paths on the map, starts anywhere, a kidnapping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.figures import all_errors
from skh.reproduction.robots.maps import plane, trajectory
from skh.reproduction.robots.statistics import moments
from skh.reproduction.statistics import MissingError
from skh.reproduction.wean_hall.log import FILES
from skh.reproduction.wean_hall.statistics import (
    NEAR,
    cells,
    distances,
    evaluations,
    right,
    tracking,
)
from skh.reproduction.wean_hall.tasks import ANYWHERE, KIDNAPPED, OURS

MARGIN = 4.0  # metres around the paths in which walls are drawn
COLOURS = ("#c03d3e", "#3b75af", "#59a14f", "#8064a2")


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """All figures whose records exist."""
    found = list[style.Picture]()
    for log in FILES:
        of_log = select_tracking(records, log)
        name = f"wean-hall-{log.replace(' ', '-')}"
        if of_log:
            found += all_errors(name, f"Wean Hall, {log}", of_log)
            found.append(
                trajectory(name, f"Wean Hall, {log}", of_log, background_of(records, of_log))
            )
    return found + [draw(records) for draw in (anywhere, kidnapping) if _has_starts(records)]


def select_tracking(records: Sequence[Record], log: str) -> list[Record]:
    """The records of a log with a known start; none if it was not run."""
    return [r for r in tracking(records) if r.model == log]


def _has_starts(records: Sequence[Record]) -> bool:
    return any(r.model == KIDNAPPED for r in records)


def background_of(records: Sequence[Record], of_log: Sequence[Record]) -> Any:
    """Draw the walls of the map that are near the paths of a log."""
    walls, path = plane([r for r in records if r.model == "walls"]), plane(moments(of_log))
    low, high = path.min(axis=0) - MARGIN, path.max(axis=0) + MARGIN
    walls = walls[((walls >= low) & (walls <= high)).all(axis=1)]

    def draw(axis: Any) -> None:
        axis.plot(*walls.T, ".", color="0.6", markersize=0.8, zorder=0)

    return draw


def anywhere(records: Sequence[Record]) -> style.Picture:
    """Seeds that are right against the likelihood evaluations of a run, for each log."""
    logs = [log for log in FILES if cells(records, ANYWHERE + log)]
    if not logs:
        raise MissingError("starts anywhere")
    figure, axes = style.panels(1, len(logs), width=4.4, height=3.0)
    for axis, log in zip(axes.flat, logs, strict=True):
        for colour, cell in zip(COLOURS, cells(records, ANYWHERE + log), strict=False):
            cost, often = np.median(evaluations(records, cell)), right(records, cell)
            marker = "*" if cell[1] == OURS else "o"
            words = f"{cell[1]}, {cell[2]:,}"
            axis.plot(cost, often.sum(), marker, color=colour, markersize=9, label=words)
        axis.set(xscale="log", ylim=(-0.5, len(often) + 0.5), title=f"Wean Hall, {log}")
        axis.set(xlabel="likelihood evaluations of a run", ylabel="seeds that are right")
        axis.legend(fontsize=7)
        style.grid(axis)
    caption = (
        "Starts anywhere: how many seeds end at the right place, against the likelihood "
        "evaluations of a whole run (median). KLD: error and largest number of particles."
    )
    return style.Picture("wean-hall-anywhere", caption, figure)


def kidnapping(records: Sequence[Record]) -> style.Picture:
    """Distances to the references after the robot was carried away, for each seed."""
    tried = cells(records, KIDNAPPED)
    figure, axes = style.panels(1, 1, width=9.0, height=3.0)
    axis = axes[0, 0]
    for colour, cell in zip(COLOURS, tried, strict=False):
        for k, (times, apart) in enumerate(distances(records, cell).values()):
            label = cell[1] if k == 0 else None
            axis.plot(times, apart, color=colour, linewidth=0.9, alpha=0.7, label=label)
    axis.axhline(NEAR, color="black", linestyle="--", linewidth=1, label=f"{NEAR} m")
    axis.set(yscale="log", xlabel="time in log 3 [s]", ylabel="distance to reference [m]")
    style.plain_heights(axis)
    style.legend(figure, axes)
    style.grid(axis)
    caption = (
        "Kidnapped: driven along log 1, then carried into log 3 without being told; every seed. "
        "Dashed: half a metre."
    )
    return style.Picture("wean-hall-kidnapped", caption, figure)
