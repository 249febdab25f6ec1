"""Replace a file as a whole or not at all.

The new content goes into a temporary file of the same folder and reaches the disk before it gets
the name of the old one.  A process killed at any moment, a full disk or a power cut leaves the old
file or the new one.  What a killed process leaves behind, the next one removes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

if sys.platform != "win32":
    import fcntl

NEW_SECONDS = 60.0  # age of an empty file that may be about to be locked


def as_path(name: str, value: Any) -> Path:
    """Validate the path of a file; links are followed."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise TypeError(f"{name} must be the path of a file, got {value!r}")
    path = Path(os.path.realpath(os.fspath(value)))
    if path.is_dir():
        raise ValueError(f"{name} must be the path of a file, got the folder {value}")
    if not path.parent.is_dir():
        raise ValueError(f"{name} must be in a folder that exists, got {value}")
    return path


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let ``write`` fill a new file, and give it the name ``path``."""
    _remove_left_over(path)
    with _temporary(path) as (file, name):
        write(file)
        file.flush()
        os.fsync(file.fileno())
        name.replace(path)
    _sync_folder(path.parent)


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Open a locked temporary file beside ``path``; it is removed unless it was renamed."""
    name = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    with name.open("xb") as file:
        _lock(file, wait=True)
        try:
            yield file, name
        finally:
            with suppress(FileNotFoundError):  # it was renamed
                name.unlink()


def _lock(file: IO[bytes], *, wait: bool) -> bool:
    """Lock a file until it is closed, also by a kill; False where that is impossible."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_left_over(path: Path) -> None:
    """Remove temporary files of killed processes: those that nobody has locked."""
    for name in path.parent.glob(f".{_escaped(path.name)}.*.tmp"):
        with suppress(OSError), name.open("rb") as file:
            about = os.fstat(file.fileno())
            new = about.st_size == 0 and time.time() - about.st_mtime < NEW_SECONDS
            if not new and _lock(file, wait=False):
                name.unlink()


def _escaped(name: str) -> str:
    """Escape the special characters of a pattern of file names."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _sync_folder(folder: Path) -> None:
    """Let a new name reach the disk, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
