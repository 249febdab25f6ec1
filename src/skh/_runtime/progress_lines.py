"""Progress in a log: a plain line now and then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

PAUSE = 10.0  # seconds between two lines of a log, at least
LONG_PAUSE = 60.0  # seconds after which a line is due even if less than a percent was done
Write = Callable[[str], None]
Clock = Callable[[], float]


def lines(write: Write, name: str, clock: Clock = monotonic) -> Callable[[float, str], None]:
    """Return a function ``show(part, count)`` that writes a line now and then.

    It writes the first call and the one with ``part`` 1; in between at most every `PAUSE`, after
    another percent or a `LONG_PAUSE`.  The time left is estimated from the parts since the first.
    """
    start, first = clock(), None
    last_time, last_part = start, 0.0

    def show(part: float, count: str) -> None:
        nonlocal first, last_time, last_part
        now = clock()
        pause, more = now - last_time, part - last_part
        due = pause >= LONG_PAUSE or (pause >= PAUSE and more >= 0.01)
        if first is None or part >= 1.0 or due:
            first = part if first is None else first
            write(f"{name}: {count}{_times(now - start, part, first)}")
            last_time, last_part = now, part

    return show


@contextmanager
def count_lines(
    write: Write, name: str, clock: Clock = monotonic
) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function ``report(done, total)`` that writes a line now and then.

    Without a total, the last line is written at the end, with the number of steps and the time.

    >>> with count_lines(print, "filtering", clock=lambda: 0.0) as report:
    ...     for t in range(3):
    ...         report(t + 1, 3)
    filtering: 1/3
    filtering: 3/3, 0:00:00
    """
    start, show = clock(), lines(write, name, clock)
    last, unfinished = start, 0

    def report(done: int, total: int | None) -> None:
        nonlocal last, unfinished
        if total is not None:
            show(done / total, f"{done}/{total}")
            return
        unfinished, now = done, clock()
        if done == 1 or now - last >= PAUSE:
            write(f"{name}: {done}" + (f", {_clock(now - start)}" if done > 1 else ""))
            last = now

    yield report
    if unfinished > 1:
        write(f"{name}: {unfinished}, {_clock(clock() - start)}")


def _times(seconds: float, part: float, first: float) -> str:
    """The time elapsed and left, as far as they are known."""
    if part >= 1.0:
        return f", {_clock(seconds)}"
    if part <= first:
        return ""
    return f", {_clock(seconds)}, {_clock(seconds * (1 - part) / (part - first))} left"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
