"""Load and archive all records in an output folder, of finished and unfinished runs.

A run leaves a folder per experiment with one file per task (see `store`).  The report packs them
into ``records.csv.gz`` and ``run.json``, which are enough to write the report again and to continue
an unfinished run elsewhere.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import isnan, nan
from pathlib import Path
from typing import Any

from skh.reproduction.engine.fingerprint import fingerprint_of
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.store import Store, StoreError, refuse_mixture, write_atomically
from skh.reproduction.engine.task import Experiment

COLUMNS = tuple(field.name for field in fields(Record))
TYPES = {
    field.name: {"str": str, "int": int, "float": float}[str(field.type)]
    for field in fields(Record)
}


@dataclass(frozen=True)
class Results:
    """The records of one experiment, and how they were made."""

    records: list[Record]
    fingerprint: dict[str, Any]
    machine: dict[str, str]
    tasks: int  # including those not finished
    finished: int
    seconds: float  # the total time of the finished tasks

    @property
    def complete(self) -> bool:
        """Whether all tasks are finished."""
        return self.finished == self.tasks


def load(out: Path, names: Iterable[str]) -> dict[str, Results]:
    """Load the results of each experiment that has any, from task files or else the archive."""
    found = {name: _of_tasks(Store(out / name)) for name in names if (out / name).is_dir()}
    archived = _archived(out) if (out / "run.json").is_file() else {}
    every = {**archived, **{name: r for name, r in found.items() if r is not None}}
    return {name: every[name] for name in names if name in every and every[name].records}


def unpack(out: Path, experiment: Experiment) -> None:
    """Write task files for the archived tasks of an experiment, so that a run can continue.

    The task of a record is known by its seed.  Records of other code raise a `StoreError`.
    """
    archived = _archived(out).get(experiment.name) if (out / "run.json").is_file() else None
    if archived is None:
        return
    refuse_mixture(out / "records.csv.gz", archived.fingerprint, fingerprint_of(experiment))
    rows = defaultdict(list)
    for record in archived.records:
        rows[record.seed].append(record)
    store = Store(out / experiment.name)
    with store.alone():
        store.open(archived.fingerprint, tasks=archived.tasks, machine=archived.machine)
        done, each = store.keys(), archived.seconds / archived.finished
        for task in experiment.tasks():
            if task.seed in rows and task.key not in done:
                store.write(task, rows[task.seed], each)


def _of_tasks(store: Store) -> Results | None:
    manifest = store.manifest()
    if not manifest:
        return None
    about = {key: manifest[key] for key in ("fingerprint", "machine", "tasks")}
    done = len(store.keys())
    return Results(records=store.read(), finished=done, seconds=store.seconds(), **about)


def archive(out: Path, results: Mapping[str, Results]) -> None:
    """Write ``records.csv.gz`` and ``run.json``, with the same bytes for the same records."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results.values():
        writer.writerows([_cell(getattr(r, c)) for c in COLUMNS] for r in result.records)
    about = {
        name: {key: value for key, value in vars(result).items() if key != "records"}
        for name, result in results.items()
    }
    packed = gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0)
    write_atomically(out / "records.csv.gz", packed)
    write_atomically(out / "run.json", json.dumps(about, indent=1))


def _cell(value: str | int | float) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else repr(value)
    return str(value)


def _archived(out: Path) -> dict[str, Results]:
    path = out / "records.csv.gz"
    try:
        about = json.loads((out / "run.json").read_text(encoding="utf-8"))
        rows = list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))
        records = [Record(**{k: _value(k, v) for k, v in row.items()}) for row in rows]
    except (OSError, ValueError, EOFError, TypeError, KeyError) as error:
        raise StoreError(f"{path} or run.json beside it is damaged ({error})") from error
    return {
        name: Results([r for r in records if r.experiment == name], **known)
        for name, known in about.items()
    }


def _value(column: str, text: str) -> Any:
    return nan if text == "" else TYPES[column](text)
