"""Lines of text files, plain or compressed by gzip, and numbers in them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path

import numpy as np

from skh._typing import Array

GZIP_MAGIC = b"\x1f\x8b"


def content(path: str | Path) -> bytes:
    """All bytes of a file, decompressed if it was compressed by gzip."""
    raw = Path(path).read_bytes()
    if not raw.startswith(GZIP_MAGIC):
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{path} is damaged: it cannot be decompressed ({error})") from error


def text_of(path: str | Path) -> str:
    """Text of a file; a ValueError says if it is not text."""
    raw = content(path)
    if b"\0" in raw[:4096]:
        raise ValueError(f"{path} must be a text file, got binary data")
    return raw.decode("utf-8-sig", errors="replace")


def words_of_lines(path: str | Path, comment: str = "#") -> Iterator[tuple[int, list[str]]]:
    """Number and words of each line that is neither empty nor a comment."""
    for i, line in enumerate(text_of(path).splitlines(), 1):
        words = line.partition(comment)[0].split()
        if words:
            yield i, words


def numbers(words: list[str], where: str, expected: str) -> list[float]:
    """Finite numbers written in words; a ValueError names the place and what was expected."""
    try:
        row = [float(word) for word in words]
    except ValueError:
        row = [np.nan]
    if not all(isfinite(value) for value in row):
        bad = next((w for w in words if not _is_number(w)), "")
        raise ValueError(f"{where} must be {expected}, got {bad!r}")
    return row


def _is_number(word: str) -> bool:
    try:
        return isfinite(float(word))
    except ValueError:
        return False


def table(
    path: str | Path, columns: str, check: Callable[[list[float]], str] | None = None
) -> Array:
    """Numbers (rows, columns) of a text file whose lines have ``columns``, named with blanks.

    ``check`` says what is wrong with a row, "" if nothing is.
    """
    count = len(columns.split())
    rows = []
    for i, words in words_of_lines(path):
        where, expected = f"{path}, line {i}", f"{count} numbers ({columns})"
        if len(words) != count:
            raise ValueError(f"{where} must be {expected}, got {len(words)} words")
        rows.append(numbers(words, where, expected))
        if check is not None and (wrong := check(rows[-1])):
            raise ValueError(f"{where}: {wrong}")
    if not rows:
        raise ValueError(f"{path} must have lines of {count} numbers ({columns}), got none")
    return np.array(rows)
