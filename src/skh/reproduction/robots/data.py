"""Which data of a study are missing: logs of real robots are not part of the project."""

from __future__ import annotations

from collections.abc import Iterable

from skh.robotics.logs.data_sets import data_folder


def missing_data(names: Iterable[str]) -> str:
    """Say what was not found and how to name the folder; empty if nothing is missing."""
    missing = [name for name in names if not (data_folder() / name).exists()]
    if not missing:
        return ""
    return (
        f"data not found: {', '.join(missing)} in {data_folder()}; "
        "set SKH_DATA to the folder that holds them"
    )
