"""The archive of an output folder: ``records.csv.gz`` with all records, ``run.json`` about them.

An archive that was cut short, for instance by an interrupted copy, keeps its whole tasks, and the
others count as unfinished.  Any other damage is reported, and nothing is read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import isnan, nan
from pathlib import Path
from typing import Any

from skh.reproduction.engine.description import OBJECTS, description, json_object
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.store import StoreError, write_atomically

COLUMNS = tuple(field.name for field in fields(Record))
TYPES = {
    field.name: {"str": str, "int": int, "float": float}[str(field.type)]
    for field in fields(Record)
}
NUMBERS = ("tasks", "finished", "seconds")  # also "rows", except in archives of version 0.2
GZIP = 16 + zlib.MAX_WBITS  # zlib's number for the format of gzip
Part = tuple[list[Record], dict[str, Any]]  # the records of an experiment, and what is said of them


def write_archive(out: Path, parts: Mapping[str, Part]) -> None:
    """Write both files, with the same bytes for the same records."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for records, _ in parts.values():
        writer.writerows([_cell(getattr(r, c)) for c in COLUMNS] for r in records)
    packed = gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0)
    about = {name: {**known, "rows": len(records)} for name, (records, known) in parts.items()}
    write_atomically(out / "records.csv.gz", packed)
    write_atomically(out / "run.json", json.dumps(about, indent=1))


def _cell(value: str | int | float) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else repr(value)
    return str(value)


def read_archive(out: Path) -> dict[str, Part]:
    """The whole tasks of each experiment in the archive.

    ``finished`` is their number, and ``lost`` that of the tasks whose records are missing.
    """
    if not (out / "run.json").is_file():
        return {}
    about = _read_about(out / "run.json")
    records, cut = _read_records(out / "records.csv.gz")
    last = records[-1].experiment if cut and records else None
    return {
        name: _whole_tasks([r for r in records if r.experiment == name], known, name == last)
        for name, known in about.items()
    }


def _read_about(path: Path) -> dict[str, dict[str, Any]]:
    try:
        found = json_object("it", json.loads(path.read_text(encoding="utf-8")))
        return {name: description(known, NUMBERS) for name, known in found.items()}
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path} is damaged ({error}), so that the origin of the records beside it is unknown; "
            "restore this file, or choose another output folder"
        ) from error


def _read_records(path: Path) -> tuple[list[Record], bool]:
    """The records of a file, and whether its end is missing."""
    try:
        stream = zlib.decompressobj(GZIP)
        packed = stream.decompress(path.read_bytes())
        # The last line of a file that was cut short may be half a line, or half a character.
        whole = packed if stream.eof else packed[: packed.rfind(b"\n") + 1]
        rows = csv.DictReader(io.StringIO(whole.decode()))
        return [Record(**{k: _value(k, v) for k, v in row.items()}) for row in rows], not stream.eof
    except (OSError, ValueError, TypeError, KeyError, zlib.error) as error:
        raise StoreError(
            f"{path} is damaged ({error}); restore this file, or delete it and run.json beside it, "
            "and the command without --report-only computes its records again"
        ) from error


def _value(column: str, text: str) -> Any:
    return nan if text == "" else TYPES[column](text)


def _whole_tasks(records: Sequence[Record], known: dict[str, Any], cut: bool) -> Part:
    """Leave out the last task, which may lack records, if any records of its experiment are lost.

    The task of a record is known by its seed; some tasks have no records.
    """
    about = {name: known[name] for name in (*OBJECTS, *NUMBERS)} | {"lost": 0}
    seeds = list(dict.fromkeys(r.seed for r in records))
    rows = known.get("rows")
    lacking = len(seeds) < known["finished"] if rows is None else len(records) < rows
    if not (cut or lacking):
        return list(records), about
    kept, finished = set(seeds[:-1]), known["finished"]
    about |= {"finished": len(kept), "lost": finished - len(kept)}
    about["seconds"] *= len(kept) / max(finished, 1)
    return [r for r in records if r.seed in kept], about
