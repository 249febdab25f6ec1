"""Errors in what a user gave: one line, with the file and the place in it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class InputError(Exception):
    """Something is wrong with a scenario, a table or a model; the message is one line.

    >>> print(InputError("'two' is not a number", Path("returns.csv"), 7))
    returns.csv:7: 'two' is not a number
    """

    def __init__(self, message: str, path: Path | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}:{line}: " if line else f"{path}: "
        super().__init__(place + one_line(message))


def one_line(text: object) -> str:
    """Return a text with its line breaks and repeated spaces as single spaces."""
    return " ".join(str(text).split())


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return what a misspelt word may have meant, in brackets, and nothing if that is unknown.

    >>> did_you_mean("colums", ["columns", "times"])
    " (did you mean 'columns'?)"
    """
    close = difflib.get_close_matches(word, list(words), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def listed(words: Iterable[str]) -> str:
    """Return words as a list in a sentence."""
    return ", ".join(words) or "nothing"
