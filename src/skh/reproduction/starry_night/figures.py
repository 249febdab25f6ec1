"""Figures of Starry Night."""

from __future__ import annotations

from collections.abc import Sequence

from skh.reproduction.engine.record import Record
from skh.reproduction.robots.figures import pictures_of
from skh.reproduction.style import Picture


def pictures(records: Sequence[Record]) -> list[Picture]:
    """The figures of the log with its map."""
    return pictures_of("starry-night", "Starry Night", records)


def slam_pictures(records: Sequence[Record]) -> list[Picture]:
    """The figures of the log without its map."""
    return pictures_of("starry-night", "Starry Night", records)
