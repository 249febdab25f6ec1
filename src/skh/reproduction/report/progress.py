"""Show the progress of a run: bars on a terminal, a plain line now and then in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from skh._runtime import progress_lines
from skh.reproduction.engine.task import Experiment

Advance = Callable[[float, int], None]  # by the cost of tasks, and by their number


@contextmanager
def task_progress(console: Console) -> Iterator[Callable[[Experiment], Advance]]:
    """Yield a function that starts to show the progress of an experiment."""
    if not console.is_terminal:
        yield lambda experiment: _counted(experiment, lines(console, experiment.name))
        return
    with _bars(console) as bars:
        yield lambda experiment: _counted(experiment, _bar(bars, experiment.name))


def _counted(experiment: Experiment, show: Callable[[float, str], None]) -> Advance:
    """Advance by the cost of tasks, and show their number."""
    tasks, finished, done = experiment.tasks(), 0, 0.0
    total = sum(task.cost for task in tasks)

    def advance(cost: float, number: int) -> None:
        nonlocal finished, done
        finished, done = finished + number, done + cost
        part = 1.0 if finished == len(tasks) else done / total
        show(part, f"{finished}/{len(tasks)} tasks")

    return advance


def _bars(console: Console) -> Progress:
    name, count = TextColumn("{task.description:>13}"), TextColumn("{task.fields[count]}")
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(compact=True))
    # A task may take minutes, so the speed is estimated over an hour, not over half a minute.
    return Progress(
        *(name, BarColumn(20), count, *times), console=console, speed_estimate_period=3600
    )


def _bar(bars: Progress, name: str) -> Callable[[float, str], None]:
    bar = bars.add_task(name, total=1.0, count="")
    return lambda part, count: bars.update(bar, completed=part, count=count)


def lines(
    console: Console, name: str, clock: Callable[[], float] = monotonic
) -> Callable[[float, str], None]:
    """Return a function ``show(part, count)`` that prints a line now and then."""
    return progress_lines.lines(partial(_print, console), name, clock)


@contextmanager
def activity(console: Console) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is being done: beside a spinner, or as a line of a log."""
    if not console.is_terminal:
        yield lambda text: _print(console, text)
        return
    with console.status("") as status:
        yield lambda text: status.update(Text(text))


def _print(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
