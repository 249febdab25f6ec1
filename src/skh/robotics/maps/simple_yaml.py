"""The part of yaml that map files use: keys with a number, a word, or a list of numbers."""

from __future__ import annotations

import re
from typing import Any

KEY_LINE = re.compile(r"([A-Za-z_]\w*)\s*:(?:\s+(.*))?$")


def read_yaml(text: str, where: str) -> dict[str, Any]:
    r"""Parse lines ``key: value``; a list is in brackets or one ``- value`` per line.

    >>> read_yaml("resolution: 0.05  # metres\norigin: [-1, 0.0, 0]", "map.yaml")
    {'resolution': 0.05, 'origin': [-1, 0.0, 0]}
    """
    found: dict[str, Any] = {}
    key = None
    for i, raw in enumerate(text.splitlines(), 1):
        line = _without_comment(raw).strip()
        if not line or line in ("---", "...") or line.startswith("%"):
            continue
        match = KEY_LINE.match(line)
        if match:
            key = match[1]
            if key in found:
                raise ValueError(f"{where}, line {i}: {key} is given twice")
            found[key] = _value(match[2] or "")
        elif line.startswith("- ") and key is not None and isinstance(found[key] or [], list):
            found[key] = [*(found[key] or []), _value(line[2:])]
        elif key is not None and raw[:1].isspace() and isinstance(found[key], str):
            found[key] = _value(f"{found[key]} {line}")  # a list that goes on
        else:
            raise ValueError(f"{where}, line {i} must be 'key: value', got {line!r}")
    return found


def _without_comment(line: str) -> str:
    match = re.match(r"""((?:[^#'"]|'[^']*'|"[^"]*"|(?<=\S)\#)*)""", line)
    return match[1] if match else line


def _value(text: str) -> Any:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_value(part) for part in text[1:-1].split(",") if part.strip()]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None
