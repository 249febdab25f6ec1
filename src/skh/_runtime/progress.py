"""Progress of long computations: a bar, the caller's function, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from skh import _checks

Report = Callable[[int, int | None], None]  # steps done, and in total if that is known


@contextmanager
def progress_bar(progress: bool | Report, description: str) -> Iterator[Report]:
    """Yield a function ``report(done, total)``; it draws a bar if ``progress`` is True."""
    if callable(progress):
        yield progress
        return
    if not _checks.boolean("progress", progress):
        yield lambda done, total: None
        return
    from rich import progress as bars  # slow to import, seldom needed

    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.MofNCompleteColumn())
    with bars.Progress(*columns, bars.TimeRemainingColumn()) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
