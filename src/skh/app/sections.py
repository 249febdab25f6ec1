"""Sections of TOML files: keys with a check each, and errors that name file, line and key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skh.app.input_error import InputError, did_you_mean, listed
from skh.app.toml_places import line_of, syntax_error

Section = Mapping[str, Any]
Check = Callable[[Any], Any]  # returns the value, or raises ValueError("must be ...")
Sections = Mapping[str, Mapping[str, Check]]


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Read a TOML file; return its content and its text, to find lines in."""
    if not path.exists():
        raise InputError("there is no such file", path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("this is not text in UTF-8", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise syntax_error(path, text, error) from None
    return content, text


def checked_sections(
    content: Mapping[str, Any],
    overrides: Mapping[str, Section],
    sections: Sections,
    required: Mapping[str, str],
    place: Place,
) -> dict[str, dict[str, Any]]:
    """Check all sections; ``overrides`` are what the command line gave, ``required`` keys."""
    for name in content:
        if name not in sections:
            known = f"the sections are {listed(sections)}{did_you_mean(name, sections)}"
            raise place.error(name, None, f"there is no section [{name}]; {known}")
    given = {
        name: _section(name, content.get(name, {}), keys, place) for name, keys in sections.items()
    }
    for name, section in overrides.items():
        given[name] |= _section(name, section, sections[name], Place(None, ""))
    for name, key in required.items():
        if key not in given[name]:
            raise place.error(name, None, f"[{name}] needs the key {key!r}")
    return given


@dataclass(frozen=True)
class Place:
    """A scenario file, for messages; without a path if options come from the command line."""

    path: Path | None
    text: str

    def error(self, section: str, key: str | None, message: str) -> InputError:
        """Return an error about a key of the file."""
        return InputError(message, self.path, line_of(self.text, section, key))


def _section(name: str, section: Any, checks: Mapping[str, Check], place: Place) -> dict[str, Any]:
    """Check the keys of a section and their values."""
    if not isinstance(section, Mapping):
        raise place.error("", name, f"{name} must be a section [{name}], got {section!r}")
    checked = {}
    for key, value in section.items():
        if key not in checks:
            known = f"its keys are {listed(checks)}{did_you_mean(key, checks)}"
            raise place.error(name, key, f"[{name}] has no key {key!r}; {known}")
        try:
            checked[key] = checks[key](value)
        except ValueError as error:
            words = f"[{name}] {key}" if place.path else f"--{key.replace('_', '-')}"
            raise place.error(name, key, f"{words} {error}, got {value!r}") from None
    return checked
