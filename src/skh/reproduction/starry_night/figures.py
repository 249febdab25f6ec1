"""Figures of Starry Night."""

from __future__ import annotations

from collections.abc import Sequence

from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.figures import all_errors
from skh.reproduction.robots.maps import trajectory
from skh.reproduction.robots.statistics import logs_of

TITLE = "Starry Night"


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Errors over seeds, over time and against N, the split of the time, and the path."""
    found = []
    for name, of_log in logs_of(records).items():
        file, title = f"starry-night-{name.replace(' ', '-')}", f"{TITLE}, {name}"
        found += [*all_errors(file, title, of_log), trajectory(file, title, of_log)]
    return found
