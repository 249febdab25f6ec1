"""Maps of CARMEN: binary files (CARMENMAPFILE), and text with a line ``global_map[0]: ..``.

Binary files have the probability that a cell is occupied, columns of x first, -1 where unknown.
Text files, such as that of Wean Hall, have columns of x first as well: one line of cells per x.
They say nowhere which probability they have: as more cells of a map are free than occupied, the
value that more known cells are near to, 0 or 1, is taken to be "free".
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Literal

import numpy as np

from skh._typing import Array
from skh.models.robot_sensors.grid_map import GridMap
from skh.robotics.logs.text_lines import content
from skh.robotics.maps.grid_of import grid_of

BINARY_LABEL, TEXT_LABEL = b"CARMENMAPFILE", b"global_map"
TEXT_HEADER = re.compile(r"global_map\[\d+\]:\s*(\S+)\s+(\S+)")
CENTIMETRE = 0.01
GRIDMAP_CHUNK, NAMED_CHUNK = 1, 128
OCCUPIED_ABOVE, FREE_BELOW = 0.65, 0.2  # probabilities, as of ROS; cells between are unknown
Values = Literal["auto", "free", "occupied"]


def read_carmen_map(path: str | Path, values: Values = "auto") -> GridMap:
    """Read a map, which may be compressed by gzip.

    ``values`` says what the numbers of a text file are the probability of: "free", "occupied", or
    "auto" for what most known cells say.
    """
    if values not in ("auto", "free", "occupied"):
        raise ValueError(f"values must be 'auto', 'free' or 'occupied', got {values!r}")
    raw = content(path)
    if BINARY_LABEL in raw[:4096]:
        p, resolution = _binary_cells(path, raw[raw.index(BINARY_LABEL) + len(BINARY_LABEL) :])
    elif TEXT_LABEL in raw[:4096]:
        p, resolution = _text_cells(path, raw.decode("utf-8", errors="replace"), values)
    else:
        raise ValueError(f"{path} must be a CARMEN map with 'global_map' or 'CARMENMAPFILE'")
    free = (p >= 0) & (p < FREE_BELOW)
    return grid_of(path, p > OCCUPIED_ABOVE, free, resolution, (0.0, 0.0))


def _text_cells(path: str | Path, text: str, values: Values) -> tuple[Array, float]:
    """Probabilities (rows, columns) of cells to be occupied, and the size of a cell."""
    header = TEXT_HEADER.search(text)
    if header is None or not (header[1].isdigit() and header[2].isdigit()):
        raise ValueError(f"{path} must have a line 'global_map[0]: columns rows' of whole numbers")
    shape = int(header[1]), int(header[2])
    try:
        cells = np.array(text[header.end() :].split(), dtype=np.float64)
    except ValueError:
        raise ValueError(_first_wrong(path, text, header.end())) from None
    if cells.size != shape[0] * shape[1] or cells.size == 0:
        raise ValueError(
            f"{path} must have {shape[0]} x {shape[1]} cells as its header says, got {cells.size}"
        )
    outside = ~((cells >= 0) & (cells <= 1)) & (cells != -1)
    if outside.any():
        i = int(outside.argmax())
        raise ValueError(
            f"{path}, line {i // shape[1] + 1}, number {i % shape[1] + 1} of the map must be in "
            f"[0, 1] or -1, got {cells[i]}"
        )
    return _occupied(cells, values).reshape(shape).T, _resolution(path, text)


def _first_wrong(path: str | Path, text: str, start: int) -> str:
    for i, line in enumerate(text.splitlines(), 1):
        if i > text[:start].count("\n") + 1:
            for word in line.split():
                try:
                    float(word)
                except ValueError:
                    return f"{path}, line {i} must have numbers, got {word!r}"
    return f"{path} must have numbers after its header"


def _resolution(path: str | Path, text: str) -> float:
    found = re.search(r"->resolution\s+(\S+)", text[:4096])
    try:
        centimetres = float(found[1]) if found else np.nan
    except ValueError:
        centimetres = np.nan
    if not 0 < centimetres < np.inf:
        raise ValueError(
            f"{path} must have a line 'robot_specifications->resolution' with centimetres, "
            f"got {found[1] if found else 'none'!r}"
        )
    return CENTIMETRE * centimetres


def _occupied(cells: Array, values: Values) -> Array:
    """Probabilities of being occupied; -1 stays."""
    known = cells >= 0
    if values == "auto":
        values = "free" if (cells > 0.5).sum() > (known & (cells < 0.5)).sum() else "occupied"
    return np.where(known, 1 - cells, -1.0) if values == "free" else cells


def _binary_cells(path: str | Path, raw: bytes) -> tuple[Array, float]:
    """Probabilities (rows, columns) of the chunk GRIDMAP, and the size of a cell."""
    place = raw.find(b"GRIDMAP   ")
    if place < 5 or raw[place - 5] & ~NAMED_CHUNK != GRIDMAP_CHUNK:
        raise ValueError(f"{path} must have a chunk GRIDMAP, got none")
    body = raw[place + 10 :]
    if raw[place - 5] & NAMED_CHUNK:
        body = body[body.find(b"\0") + 1 :]
    if len(body) < 16:
        raise ValueError(f"{path} is cut short: the chunk GRIDMAP ends in its header")
    columns, rows, resolution = struct.unpack("<iif", body[:12])
    start, kind = 12, "<f4"
    if not 1e-4 < resolution < 100:  # some versions of CARMEN write doubles
        resolution, start, kind = struct.unpack("<d", body[8:16])[0], 16, "<f8"
    if min(columns, rows) < 1 or not 1e-4 < resolution < 100:
        raise ValueError(
            f"{path} must have a size and a resolution in metres, got {columns} x {rows} cells "
            f"of {resolution:g}"
        )
    count = columns * rows
    if len(body) < start + count * int(kind[-1]):
        raise ValueError(f"{path} is cut short: it must have {columns} x {rows} cells")
    cells = np.frombuffer(body, dtype=kind, count=count, offset=start).astype(np.float64)
    if not ((cells <= 1) & (cells >= -1)).all():
        raise ValueError(f"{path} must have probabilities or -1 as cells, got something else")
    return cells.reshape(columns, rows).T, float(resolution)
