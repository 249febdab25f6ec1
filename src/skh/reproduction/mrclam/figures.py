"""Figures of MRCLAM 7."""

from __future__ import annotations

from collections.abc import Sequence

from skh.reproduction.engine.record import Record
from skh.reproduction.robots.figures import pictures_of
from skh.reproduction.style import Picture


def pictures(records: Sequence[Record]) -> list[Picture]:
    """The figures of each log."""
    return pictures_of("mrclam", "MRCLAM 7", records)
