"""Grey images: PGM files as text (P2) and binary (P5), and PNG through Pillow."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from skh._runtime.optional import require
from skh._typing import Array
from skh.robotics.logs.text_lines import content

PNG_MAGIC = b"\x89PNG"
PGM_GAP = rb"(?:\s|#[^\n]*\n)+"
PGM_HEADER = re.compile(PGM_GAP.join([rb"(P[25])", rb"(\d+)", rb"(\d+)", rb"(\d+)"]) + rb"\s")


def read_image(path: str | Path) -> tuple[Array, float]:
    """Values (rows, columns) of an image from its top, and the value of white."""
    raw = content(path)
    if raw.startswith(PNG_MAGIC):
        return _png(path)
    header = PGM_HEADER.match(raw)
    if header is None:
        raise ValueError(f"{path} must be a PGM image (P2 or P5) or a PNG, got {raw[:2]!r}")
    width, height, white = (int(header[i]) for i in (2, 3, 4))
    if min(width, height) < 1 or not 0 < white < 65536:
        raise ValueError(
            f"{path} must have a width, a height and a white of 1 to 65535, got "
            f"{width} x {height} and {white}"
        )
    body = raw[header.end() :]
    values = _binary(body, white) if header[1] == b"P5" else _text(path, body)
    if len(values) < width * height:
        raise ValueError(
            f"{path} is cut short: it must have {width} x {height} pixels, got {len(values)}"
        )
    image = values[: width * height].reshape(height, width).astype(np.float64)
    if image.max() > white:
        raise ValueError(f"{path} must have pixels of at most {white}, got {image.max():g}")
    return image, float(white)


def _binary(body: bytes, white: int) -> Array:
    size = 1 if white < 256 else 2
    body = body[: len(body) - len(body) % size]
    return np.frombuffer(body, dtype=np.uint8 if size == 1 else np.dtype(">u2"))


def _text(path: str | Path, body: bytes) -> Array:
    words = re.sub(rb"#[^\n]*", b"", body).split()
    wrong = next((word for word in words if not word.isdigit()), None)
    if wrong is not None:
        raise ValueError(f"{path} must have pixels that are whole numbers, got {wrong!r}")
    return np.array(words, dtype=np.float64)


def _png(path: str | Path) -> tuple[Array, float]:
    pillow = require("PIL.Image", "app", "PNG images of maps")
    try:
        with pillow.open(path) as image:
            return np.asarray(image.convert("L"), dtype=np.float64), 255.0
    except (OSError, SyntaxError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
