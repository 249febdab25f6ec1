"""Store finished tasks on disk, in one small file each.

The folder of an experiment holds ``manifest.json`` with the fingerprint of all its records, and
``tasks/<key>.json``.  Files are written atomically, so that a killed process, a full disk or a
power cut loses only the running tasks.  Each file has a checksum: damaged files are reported.
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

from skh.reproduction.engine.description import description
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task

if sys.platform != "win32":
    import fcntl

NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # Windows does not have it


class StoreError(Exception):
    """Files are damaged, belong to another run or cannot be written; the message says which."""


class Store:
    """The finished tasks of one experiment, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tasks = folder / "tasks"
        self._manifest = folder / "manifest.json"

    def open(self, fingerprint: dict[str, Any], **about: Any) -> None:
        """Prepare the folder for writing; raise a `StoreError` if its fingerprint is another.

        ``about`` is stored beside the fingerprint, for the report.
        """
        try:
            make_folder(self.folder)
            make_folder(self._tasks)
            for left_over in self._tasks.glob("*.tmp"):  # of a killed process
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
        """Lock the folder against other processes; the lock ends with this process."""
        try:
            make_folder(self.folder)
            _refuse_link(self.folder / "lock")
            lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | NO_LINKS, 0o666)
        except OSError as error:
            raise StoreError(f"cannot write to {self.folder}: {error}") from error
        with os.fdopen(lock):
            if sys.platform != "win32":  # Windows has no such locks
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    raise StoreError(f"another process is running in {self.folder}") from error
            yield

    def _refuse_orphans(self) -> None:
        if any(self._tasks.glob("*.json")):
            raise StoreError(
                f"{self._tasks} holds records, but {self._manifest} is missing, so that their "
                "origin is unknown; choose another output folder"
            )

    def manifest(self) -> dict[str, Any]:
        """The fingerprint of the records and what was stored with it; empty for an empty folder."""
        if not self._manifest.exists():
            return {}
        try:
            found = json.loads(self._manifest.read_text(encoding="utf-8"))
            return description(found, ("tasks",))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{self._manifest} is damaged ({error}), so that the origin of the records beside "
                "it is unknown; choose another output folder"
            ) from error

    def keys(self) -> set[str]:
        """The keys of the finished tasks."""
        return {path.stem for path in self._tasks.glob("*.json")}

    def write(self, task: Task, records: Sequence[Record], seconds: float) -> None:
        """Write the records of a finished task."""
        rows = [_to_json(record) for record in records]
        content = {"key": task.key, "seconds": seconds, "records": rows}
        text = json.dumps(content, allow_nan=False)
        try:
            write_atomically(self._tasks / f"{task.key}.json", _seal(text))
        except OSError as error:
            raise StoreError(
                f"cannot write the records of {task.key} to {self._tasks}: {error}; "
                "finished tasks are kept, and the same command continues from there"
            ) from error

    def read(self) -> list[Record]:
        """All records, in the order of the tasks' keys."""
        return [_from_json(row) for file in self._contents() for row in file["records"]]

    def seconds(self) -> float:
        """The total time of the finished tasks."""
        return sum(float(file["seconds"]) for file in self._contents())

    def _contents(self) -> list[dict[str, Any]]:
        return [_task_file(path) for path in sorted(self._tasks.glob("*.json"))]


def refuse_mixture(where: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise a `StoreError` if the records at ``where`` have another fingerprint."""
    changed = [name for name in new if old.get(name) != new[name]]
    if changed:
        raise StoreError(
            f"{where} holds records of another {' and '.join(changed)}; they are kept and not "
            "mixed with new ones: choose another output folder, or move this one away"
        )


def make_folder(folder: Path) -> None:
    """Make a folder for results; raise a `StoreError` if its name is a symbolic link."""
    _refuse_link(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise StoreError(f"{path} is a symbolic link, and nothing is written through it; remove it")


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write a file so that readers see either the old or the complete new content.

    A symbolic link of that name is replaced, and its target is left alone.
    """
    data = data.encode() if isinstance(data, str) else data
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)  # of a killed process; a link would be followed
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:  # also Ctrl-C
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Flush a folder to disk, so that new names survive a power cut (POSIX only)."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _seal(text: str) -> str:
    return f"{sha256(text.encode()).hexdigest()}\n{text}\n"


def _task_file(path: Path) -> dict[str, Any]:
    """The content of the file of a task, if it is whole and of the task that it is named after."""
    try:
        checksum, _, text = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read ({error})") from error
    if sha256(text.rstrip("\n").encode()).hexdigest() != checksum:
        raise _damaged(path, "truncated or edited")
    content: dict[str, Any] = json.loads(text)
    if content["key"] != path.stem:
        raise _damaged(path, f"it holds the records of the task {content['key']}")
    return content


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(
        f"{path} is damaged ({why}). Delete this file, and the same command "
        "computes this task again and keeps all others"
    )


def _to_json(record: Record) -> dict[str, Any]:
    values = asdict(record).items()
    return {k: None if isinstance(v, float) and isnan(v) else v for k, v in values}


def _from_json(row: dict[str, Any]) -> Record:
    known = {field.name for field in fields(Record)}
    values: dict[str, Any] = {k: nan if v is None else v for k, v in row.items() if k in known}
    return Record(**values)
