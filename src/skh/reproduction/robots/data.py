"""Where the logs of real robots are: they are not part of the project."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "SKH_DATA"
BESIDE = Path(__file__).resolve().parents[5] / "shared" / "data"  # beside the repository


def data_folder() -> Path:
    """The folder that ``SKH_DATA`` names, or ``shared/data`` beside the repository."""
    return Path(os.environ.get(VARIABLE) or BESIDE)


def data_path(name: str) -> Path:
    """A file or folder of that folder; raise FileNotFoundError if it is missing."""
    if text := missing_data([name]):
        raise FileNotFoundError(text)
    return data_folder() / name


def missing_data(names: Iterable[str]) -> str:
    """Say what was not found and how to name the folder; empty if nothing is missing."""
    missing = [name for name in names if not (data_folder() / name).exists()]
    if not missing:
        return ""
    return (
        f"data not found: {', '.join(missing)} in {data_folder()}; "
        f"set {VARIABLE} to the folder that holds them"
    )
