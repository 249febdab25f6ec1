"""Where in a TOML file a key is; the parser of the standard library does not say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from skh.app.input_error import InputError

HEADING = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]")
KEY = re.compile(r"""\s*["']?([A-Za-z0-9_.-]+)["']?\s*=""")
PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


def line_of(text: str, section: str, key: str | None) -> int | None:
    r"""Return the line of a key, of its section's heading without it, None if neither is found.

    >>> line_of("# mine\n[filter]\nn = 50", "filter", "n")
    3
    """
    heading, current = None, ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := HEADING.match(line):
            current = found[1]
            if current == section or (key and current == f"{section}.{key}".lstrip(".")):
                heading = heading or number
        elif key and current == section and (found := KEY.match(line)) and found[1] == key:
            return number
    return heading


def syntax_error(path: Path, text: str, error: tomllib.TOMLDecodeError) -> InputError:
    """Return the error of a file that is not TOML, with its line."""
    found = PLACE.search(str(error))
    last = max(len(text.rstrip().splitlines()), 1)
    line = int(found[1]) if found and found[1] else last if found else None
    return InputError(f"this is not TOML: {PLACE.sub('', str(error))}", path, line)
