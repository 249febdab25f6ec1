"""Load and archive all records in an output folder, of finished and unfinished runs.

A run leaves a folder per experiment with one file per task (see `store`).  The report packs them
into ``records.csv.gz`` and ``run.json``, which are enough to write the report again and to continue
an unfinished run elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skh.reproduction.engine.archive import read_archive, write_archive
from skh.reproduction.engine.fingerprint import fingerprint_of
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.store import Store, refuse_mixture
from skh.reproduction.engine.task import Experiment


@dataclass(frozen=True)
class Results:
    """The records of one experiment, and how they were made."""

    records: list[Record]
    fingerprint: dict[str, Any]
    machine: dict[str, str]
    tasks: int  # including those not finished
    finished: int
    seconds: float  # the total time of the finished tasks
    lost: int = 0  # tasks whose records are missing from an archive that was cut short

    @property
    def complete(self) -> bool:
        """Whether all tasks are finished."""
        return self.finished == self.tasks


def load(out: Path, names: Iterable[str]) -> dict[str, Results]:
    """Load the results of each experiment that has any, from task files or else the archive."""
    found = {name: _of_tasks(Store(out / name)) for name in names if (out / name).is_dir()}
    every = {**_archived(out), **{name: r for name, r in found.items() if r is not None}}
    return {name: every[name] for name in names if name in every and every[name].records}


def unpack(out: Path, experiment: Experiment) -> int:
    """Write task files for the archived tasks of an experiment, so that a run can continue.

    The task of a record is known by its seed.  Records of other code raise a `StoreError`.  Return
    the number of tasks that the archive has lost, and that are not among the task files either.
    """
    archived = _archived(out).get(experiment.name)
    if archived is None:
        return 0
    if archived.records:
        _unpack(out, experiment, archived)
    missing = len(experiment.tasks()) - len(Store(out / experiment.name).keys())
    return min(archived.lost, missing)


def _unpack(out: Path, experiment: Experiment, archived: Results) -> None:
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
    known = {
        name: {key: value for key, value in vars(result).items() if key not in ("records", "lost")}
        for name, result in results.items()
    }
    write_archive(out, {name: (r.records, known[name]) for name, r in results.items()})


def _archived(out: Path) -> dict[str, Results]:
    return {name: Results(records, **known) for name, (records, known) in read_archive(out).items()}
