"""Where data sets of real robots are looked for: $SKH_DATA, or ../shared/data of the repository."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of data sets, which need not exist."""
    beside = Path(__file__).resolve().parents[5] / "shared" / "data"
    return Path(os.environ.get("SKH_DATA") or beside)


def data_file(*parts: str) -> Path:
    """Return a file or folder of the data sets; a FileNotFoundError says where it was expected.

    >>> data_file("no such data", "log.gz")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: no such data/log.gz is not in ...: set SKH_DATA to the folder of data sets
    """
    path = data_folder().joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(
            f"{'/'.join(parts)} is not in {data_folder()}: set SKH_DATA to the folder of data sets"
        )
    return path
