"""Progress of long work: a bar, the caller's own function, or silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from skh import _checks

Report = Callable[[int, int], None]


@contextmanager
def progress_bar(progress: bool | Report, description: str) -> Iterator[Report]:
    """A function ``report(done, total)`` for the block inside; a bar if ``progress`` is True."""
    if callable(progress):
        yield progress
        return
    if not _checks.boolean("progress", progress):
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
