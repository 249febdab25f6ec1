"""Optional packages, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def require(package: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package; without it, an error names the extra to install.

    >>> require("a_missing_package", "io", "result.to_dataframe()")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: result.to_dataframe() needs a_missing_package: pip install "skh[io]"
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        name = package.partition(".")[0]
        if error.name != name:  # the package is there, and broken
            raise
        message = f'{purpose} needs {name}: pip install "skh[{extra}]"'
        raise ModuleNotFoundError(message, name=name) from error
