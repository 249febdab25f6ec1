"""Times that mean something on a busy machine: medians of interleaved runs, on one core.

Seconds are those the process spent computing, which on an idle machine are the seconds on the clock
and on a busy one are not stretched by its neighbours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table: a number with its bound, and whether it may lie above or below."""

    name: str
    value: float
    bound: float
    unit: str = "x"
    at_least: bool = False
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Whether the bound is kept."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def pin(cores: int = 1) -> None:
    """Run on the last ``cores`` cores only, where the system lets a process choose."""
    if hasattr(os, "sched_setaffinity"):
        available = sorted(os.sched_getaffinity(0) if cores == 1 else range(os.cpu_count() or 1))
        os.sched_setaffinity(0, available[-cores:])


def turns(*works: Work, repeats: int = 15) -> list[list[float]]:
    """The seconds of each in each turn, so that a slow moment hits all of them alike."""
    for work in works:
        work()
    return [[seconds_of(work) for work in works] for _ in range(repeats)]


def seconds_of(work: Work) -> float:
    """What the process spent computing."""
    start = time.process_time()
    work()
    return time.process_time() - start


def medians(*works: Work, repeats: int = 15) -> list[float]:
    """Median seconds of each, run in turn."""
    return [median(seconds) for seconds in zip(*turns(*works, repeats=repeats), strict=True)]


def growth_of(small: Work, large: Work, repeats: int) -> tuple[float, float]:
    """By what factor the large one takes longer, the median over turns, and its seconds."""
    times = turns(small, large, repeats=repeats)
    return median(b / a for a, b in times), median(b for _, b in times)


def best_of(rounds: int, measure: Callable[[], Sequence[float]]) -> list[float]:
    """The least of each number that is measured, for what cannot be run in turn."""
    return [min(found) for found in zip(*(measure() for _ in range(rounds)), strict=True)]
