"""Check what a JSON file says about a run before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

# The objects in a description, and what the report needs of each.
OBJECTS = {"fingerprint": ("configuration", "versions"), "machine": ("processor", "cores")}


def description(found: object, numbers: Iterable[str]) -> dict[str, Any]:
    """Return a parsed description of a run; raise a `ValueError` that says what is wrong with it.

    It holds the `OBJECTS`, and ``numbers``, which are not negative.
    """
    known = json_object("it", found)
    for name, needed in OBJECTS.items():
        missing = set(needed) - set(json_object(name, known.get(name)))
        if missing:
            raise ValueError(f"{name} lacks {', '.join(sorted(missing))}")
    json_object("versions", known["fingerprint"]["versions"])
    for name in numbers:
        value = known.get(name)
        if isinstance(value, bool) or not (isinstance(value, int | float) and value >= 0):
            raise ValueError(f"{name} is {_short(value)}, not a number of at least 0")
    return known


def json_object(name: str, found: object) -> dict[str, Any]:
    """Return a parsed value if it is an object of JSON; else raise a `ValueError`."""
    if not isinstance(found, dict):
        raise ValueError(f"{name} is {_short(found)}, not an object")
    return found


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 30 else f"{text[:30]}..."
