"""Write the report on all records in a folder: archive, claims, tables, figures, HTML page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skh.reproduction.catalogue import EXPERIMENTS, STUDIES
from skh.reproduction.claim import Judged, judge
from skh.reproduction.engine.fingerprint import configuration
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.results import Results, archive, load
from skh.reproduction.engine.store import StoreError, make_folder, write_atomically
from skh.reproduction.report.claims import as_json, as_markdown
from skh.reproduction.report.drawing import draw
from skh.reproduction.report.page import page_of
from skh.reproduction.report.tables import median_rows


def write_report(
    out: Path, say: Callable[[str], None] = lambda text: None
) -> tuple[dict[str, Results], list[Judged]]:
    """Judge the claims on all records in ``out`` and write the report there.

    ``say`` is called with what is being done.
    """
    say(f"reading the records in {out}")
    results = load(out, EXPERIMENTS)
    if not results:
        raise StoreError(f"{out} holds no records of {', '.join(EXPERIMENTS)}")
    say("judging the claims")
    judged = [
        j for name, r in results.items() for j in judge(name, EXPERIMENTS[name].claims, r.records)
    ]
    try:
        _write(out, results, judged, say)
    except OSError as error:
        raise StoreError(f"cannot write the report to {out}: {error}") from error
    return results, judged


def _write(
    out: Path,
    results: Mapping[str, Results],
    judged: Sequence[Judged],
    say: Callable[[str], None],
) -> None:
    records = {name: result.records for name, result in results.items()}
    archive(out, results)
    write_atomically(out / "claims.json", as_json(judged))
    write_atomically(out / "claims.md", as_markdown(judged))
    _write_tables(out / "tables", records)
    figures = out / "figures"
    make_folder(figures)
    pictures = {name: draw(name, of_name, figures, say=say) for name, of_name in records.items()}
    say("writing report.html")
    rows = {name: median_rows(of_name) for name, of_name in records.items()}
    page = page_of(results, judged, pictures, figures, rows, notes(results))
    write_atomically(out / "report.html", page)


def _write_tables(folder: Path, records: Mapping[str, Sequence[Record]]) -> None:
    """Write the tables of the experiments that have any."""
    made = {name: EXPERIMENTS[name].tables for name in records}
    for name, tables in made.items():
        if tables:
            make_folder(folder)
            write_atomically(folder / f"{name}.md", tables(records[name]))


def notes(results: Mapping[str, Results]) -> list[str]:
    """What to know before reading the numbers: reduced sizes, unfinished and missing parts."""
    found = []
    reduced = [name for name, r in results.items() if _is_reduced(name, r)]
    if reduced:
        found.append(f"Not at the paper's sizes (see the configuration): {', '.join(reduced)}.")
    for name, r in results.items():
        if not r.complete:
            found.append(f"Unfinished: {name}, {r.finished} of {r.tasks} tasks.")
        if r.lost:
            found.append(f"records.csv.gz was cut short: {r.lost} tasks of {name} are lost.")
    missing = [entry.name for entry in STUDIES if entry.name not in results]
    if missing:
        found.append(f"Not run: {', '.join(missing)}.")
    return found


def _is_reduced(name: str, result: Results) -> bool:
    full = configuration(EXPERIMENTS[name].experiment(quick=False))
    return bool(result.fingerprint.get("configuration") != full)
