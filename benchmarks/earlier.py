"""An earlier version of the library, from the history of this repository, beside this one.

Each version runs a benchmark in a process of its own, which prints a number for each line that it
reads, so that the two take turns and a busy machine slows both down.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BEFORE = "2c8c4fd"  # placed all points together, and checked matrices at each step
ROOT = Path(__file__).parent.parent


class Version:
    """A process of ``script`` with the library in the folder ``source``."""

    def __init__(self, script: str, source: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, script, "serve"],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, line: str) -> float:
        """Return the answer to a line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def stop(self) -> None:
        """End the process."""
        self._process.communicate()


@contextmanager
def before_and_now(script: str) -> Iterator[tuple[Version, Version]]:
    """Start ``script`` with the earlier version and with this one."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", BEFORE, "src"], capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        versions = [Version(script, root / "src") for root in (Path(folder), ROOT)]
        try:
            yield versions[0], versions[1]
        finally:
            for version in versions:
                version.stop()
