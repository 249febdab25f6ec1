"""Progress of long computations: a bar, lines in a log, the caller's function, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from skh import _checks
from skh._runtime.progress_lines import count_lines

if TYPE_CHECKING:
    from rich.console import Console

Report = Callable[[int, int | None], None]  # steps done, and in total if that is known


@contextmanager
def progress_bar(progress: bool | Report, description: str) -> Iterator[Report]:
    """Yield a function ``report(done, total)`` that shows the progress if ``progress`` is True.

    On a terminal and in notebooks with widgets it draws a bar; elsewhere, in a log or in a notebook
    without ipywidgets, it prints a line now and then.
    """
    if callable(progress):
        yield progress
        return
    if not _checks.boolean("progress", progress):
        yield lambda done, total: None
        return
    from rich.console import Console  # slow to import, seldom needed

    console = Console()
    if not draws_bars(console):
        with count_lines(lambda line: print(line, flush=True), description) as report:
            yield report
        return
    with _bar(console, description) as report:
        yield report


def draws_bars(console: Console) -> bool:
    """Whether a console can draw over what it drew: a terminal, or a notebook with widgets."""
    if console.is_jupyter:
        return find_spec("ipywidgets") is not None
    return console.is_terminal


@contextmanager
def _bar(console: Console, description: str) -> Iterator[Report]:
    """Yield a function that moves a bar."""
    from rich import progress as bars

    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.MofNCompleteColumn())
    with bars.Progress(*columns, bars.TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
