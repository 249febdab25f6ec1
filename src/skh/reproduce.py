"""``skh reproduce``: run what is missing, then make the report of all there is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from skh import figures, report_html
from skh.claims import CLAIMS, Judged, judge
from skh.experiments.catalogue import catalogue
from skh.experiments.engine import Engine, cluster, complete, local
from skh.experiments.fingerprint import fingerprint
from skh.experiments.results import Results, archive, load, unpack
from skh.experiments.store import StoreError, write_atomically
from skh.experiments.task import Experiment
from skh.tables import median_rows

NAMES = tuple(catalogue(quick=True))


@dataclass(frozen=True)
class Where:
    """The engine that the tasks run on: a number of local processes, or a cluster."""

    workers: int
    scheduler: str | None = None

    def engine(self) -> AbstractContextManager[Engine]:
        """The engine, started and ended by ``with``."""
        return cluster(self.scheduler) if self.scheduler else local(self.workers)


def run(experiments: Sequence[Experiment], out: Path, where: Where, console: Console) -> None:
    """Complete the experiments in ``out``, with a bar for each."""
    with where.engine() as engine, _bars(console) as bars:
        for experiment in experiments:
            unpack(out, experiment)
            complete(experiment, out / experiment.name, engine, _bar(bars, experiment))


def _bars(console: Console) -> Progress:
    name, count = TextColumn("{task.description:>13}"), TextColumn("{task.fields[count]}")
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(compact=True))
    # A task may take minutes: the speed is that of the last hour, not of the last half minute.
    return Progress(
        *(name, BarColumn(20), count, *times), console=console, speed_estimate_period=3600
    )


def _bar(bars: Progress, experiment: Experiment) -> Callable[[float, int], None]:
    """A bar that moves with the cost of tasks, so that the time left is right, and counts them."""
    tasks, finished = experiment.tasks(), 0
    bar = bars.add_task(experiment.name, total=sum(t.cost for t in tasks), count="")

    def advance(cost: float, number: int) -> None:
        nonlocal finished
        finished += number
        bars.update(bar, advance=cost, count=f"{finished}/{len(tasks)} tasks")

    return advance


def report(out: Path) -> tuple[dict[str, Results], list[Judged]]:
    """Claims, figures, tables and the HTML page of all records in ``out``."""
    results = load(out, NAMES)
    if not results:
        raise StoreError(f"{out} holds no records of {', '.join(NAMES)}")
    records = {name: result.records for name, result in results.items()}
    judged = judge(CLAIMS, records)
    try:
        _write(out, results, judged)
    except OSError as error:
        raise StoreError(f"cannot write the report to {out}: {error}") from error
    return results, judged


def _write(out: Path, results: Mapping[str, Results], judged: Sequence[Judged]) -> None:
    records = {name: result.records for name, result in results.items()}
    archive(out, results)
    write_atomically(out / "claims.json", json.dumps([_plain(j) for j in judged], indent=1))
    write_atomically(out / "claims.md", markdown(judged))
    pictures = figures.draw(records, out / "figures")
    rows = {name: median_rows(of_name) for name, of_name in records.items()}
    page = report_html.page(results, judged, pictures, out / "figures", rows, notes(results))
    write_atomically(out / "report.html", page)


def notes(results: Mapping[str, Results]) -> list[str]:
    """What a reader must know before the numbers: reduced sizes, missing parts."""
    full = {name: fingerprint(e)["configuration"] for name, e in catalogue(quick=False).items()}
    found = []
    reduced = [n for n, r in results.items() if r.fingerprint["configuration"] != full[n]]
    if reduced:
        found.append(f"Not at the paper's sizes (see the configuration): {', '.join(reduced)}.")
    for name, r in results.items():
        if not r.complete:
            found.append(f"Unfinished: {name}, {r.finished} of {r.tasks} tasks.")
    missing = [name for name in NAMES if name not in results]
    if missing:
        found.append(f"Not run: {', '.join(missing)}.")
    return found


def _plain(j: Judged) -> dict[str, object]:
    return {
        "experiment": j.experiment,
        "claim": j.claim.name,
        "words": j.claim.words,
        "measured": j.verdict.measured,
        "outcome": j.outcome,
        "statistics": dict(j.verdict.statistics),
    }


def markdown(judged: Sequence[Judged]) -> str:
    """The claims as a table for a README."""
    lines = ["| claim | the paper's words | measured | verdict |", "|---|---|---|---|"]
    for j in judged:
        words = f"“{j.claim.words}”" if j.claim.quoted else j.claim.words
        cells = (j.claim.name, words, j.verdict.measured, f"**{j.outcome}**")
        lines.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
    return "\n".join(lines) + "\n"


def claims_table(judged: Sequence[Judged]) -> Table:
    """The claims for a terminal."""
    table = Table(title="The paper's claims", show_lines=True)
    for heading, share in (("claim", 3), ("the paper's words", 3), ("measured", 5)):
        table.add_column(heading, ratio=share)
    table.add_column("verdict", no_wrap=True)
    colour = {True: "green", False: "red", None: "yellow"}
    for j in judged:
        verdict = f"[{colour[j.verdict.holds]}]{j.outcome}[/]"
        # Brackets in the text are intervals, not markup.
        words, measured = (t.replace("[", "\\[") for t in (j.claim.words, j.verdict.measured))
        table.add_row(j.claim.name, words, measured, verdict)
    return table
