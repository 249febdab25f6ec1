"""Finished tasks on disk: one small file each, written at once or not at all.

A folder per experiment holds ``manifest.json`` (the fingerprint of everything in it) and
``tasks/<key>.json``.  A file appears under its name only when all of it is on the disk, so that a
process that is killed, a full disk or a power cut cost the running tasks and nothing else.  Each
file carries a checksum: one that was cut or edited later is reported, never skipped.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from hashlib import sha256
from math import isnan, nan
from pathlib import Path
from typing import Any

from skh.experiments.record import Record
from skh.experiments.task import Task

if sys.platform != "win32":
    import fcntl


class StoreError(Exception):
    """Something on disk is not as it should be; the message says what to do."""


class Store:
    """The finished tasks of one experiment in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tasks = folder / "tasks"
        self._manifest = folder / "manifest.json"

    def open(self, fingerprint: dict[str, Any], **about: Any) -> None:
        """Make the folder ready for writing, or refuse if it holds records of another kind.

        ``about`` is kept beside the fingerprint, for the report.
        """
        try:
            self._tasks.mkdir(parents=True, exist_ok=True)
            for left_over in self._tasks.glob("*.tmp"):  # of a process that was killed
                left_over.unlink()
            if not self._manifest.exists():
                self._refuse_orphans()
                known = {"fingerprint": fingerprint, **about}
                write_atomically(self._manifest, json.dumps(known, indent=1))
        except OSError as error:
            raise StoreError(f"cannot write to {self.folder}: {error}") from error
        refuse_mixture(self.folder, self.manifest().get("fingerprint", {}), fingerprint)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from writing here; the lock ends with the process that holds it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("w")
        except OSError as error:
            raise StoreError(f"cannot write to {self.folder}: {error}") from error
        with lock:
            if sys.platform != "win32":  # which has no such locks
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    raise StoreError(f"another process is running in {self.folder}") from error
            yield

    def _refuse_orphans(self) -> None:
        if any(self._tasks.glob("*.json")):
            raise StoreError(
                f"{self._tasks} holds records, but {self._manifest} is missing: it is not known "
                "what they belong to; choose another output folder"
            )

    def manifest(self) -> dict[str, Any]:
        """The fingerprint of the records and what else is known; empty if there are none."""
        if not self._manifest.exists():
            return {}
        try:
            found: dict[str, Any] = json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{self._manifest} is damaged ({error}): it is not known what the records beside "
                "it belong to; choose another output folder"
            ) from error
        return found

    def keys(self) -> set[str]:
        """The finished tasks."""
        return {path.stem for path in self._tasks.glob("*.json")}

    def write(self, task: Task, records: Sequence[Record], seconds: float) -> None:
        """Keep the records of a finished task."""
        rows = [_to_json(record) for record in records]
        content = {"key": task.key, "seconds": seconds, "records": rows}
        text = json.dumps(content, allow_nan=False)
        try:
            write_atomically(self._tasks / f"{task.key}.json", _seal(text))
        except OSError as error:
            raise StoreError(
                f"cannot write the records of {task.key} to {self._tasks}: {error}; "
                "what was finished before is kept, and the same command goes on from there"
            ) from error

    def read(self) -> list[Record]:
        """All records, in the order of the tasks' names."""
        return [_from_json(row) for file in self._contents() for row in file["records"]]

    def seconds(self) -> float:
        """The time that all finished tasks took."""
        return sum(float(file["seconds"]) for file in self._contents())

    def _contents(self) -> list[dict[str, Any]]:
        return [_open_sealed(path) for path in sorted(self._tasks.glob("*.json"))]


def refuse_mixture(where: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise a `StoreError` where what is at ``where`` has another fingerprint."""
    changed = [name for name in new if old.get(name) != new[name]]
    if changed:
        raise StoreError(
            f"{where} holds records of another {' and '.join(changed)}; they are kept and not "
            "mixed with new ones: choose another output folder, or move this one away"
        )


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write a file so that at any moment it is either as before or complete."""
    data = data.encode() if isinstance(data, str) else data
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a new name survive a power cut, where the system knows folders as files."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _seal(text: str) -> str:
    return f"{sha256(text.encode()).hexdigest()}\n{text}\n"


def _open_sealed(path: Path) -> dict[str, Any]:
    try:
        checksum, _, text = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read ({error})") from error
    if sha256(text.rstrip("\n").encode()).hexdigest() != checksum:
        raise StoreError(
            f"{path} is damaged (cut or edited); nothing was changed. Delete this file, and the "
            "same command computes this task again and keeps all others"
        )
    content: dict[str, Any] = json.loads(text)
    return content


def _to_json(record: Record) -> dict[str, Any]:
    values = asdict(record).items()
    return {k: None if isinstance(v, float) and isnan(v) else v for k, v in values}


def _from_json(row: dict[str, Any]) -> Record:
    known = {field.name for field in fields(Record)}
    values: dict[str, Any] = {k: nan if v is None else v for k, v in row.items() if k in known}
    return Record(**values)
