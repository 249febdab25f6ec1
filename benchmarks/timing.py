"""Timing that is robust on a busy machine: medians of interleaved runs, on one core.

Times are CPU seconds of the process, which other processes do not lengthen; on an idle machine they
are wall-clock seconds.
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
    """One row of the table: a number and its bound, a lower one if ``at_least``."""

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
    """Pin the process to the last ``cores`` cores, where the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        available = sorted(os.sched_getaffinity(0) if cores == 1 else range(os.cpu_count() or 1))
        os.sched_setaffinity(0, available[-cores:])


def turns(*works: Work, repeats: int = 15) -> list[list[float]]:
    """Seconds of each work in each turn; interleaving spreads slow moments evenly."""
    for work in works:
        work()
    return [[seconds_of(work) for work in works] for _ in range(repeats)]


def seconds_of(work: Work) -> float:
    """CPU seconds of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def medians(*works: Work, repeats: int = 15) -> list[float]:
    """Median seconds of each work, run in turn."""
    return [median(seconds) for seconds in zip(*turns(*works, repeats=repeats), strict=True)]


def growth_of(small: Work, large: Work, repeats: int) -> tuple[float, float]:
    """Median over turns of the ratio large / small, and the seconds of ``large``."""
    times = turns(small, large, repeats=repeats)
    return median(b / a for a, b in times), median(b for _, b in times)


def best_of(rounds: int, measure: Callable[[], Sequence[float]]) -> list[float]:
    """Minimum of each measured number over rounds, for works that cannot run in turn."""
    return [min(found) for found in zip(*(measure() for _ in range(rounds)), strict=True)]
