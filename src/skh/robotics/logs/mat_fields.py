"""Fields of MATLAB files, checked by name and shape."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from skh._typing import Array


class MatFields:
    """The fields of a MATLAB file (version 5 to 7); errors name the file and the field."""

    def __init__(self, path: str | Path, names: Iterable[str], what: str) -> None:
        self.path = path
        self.fields = _loaded(path)
        missing = [name for name in names if name not in self.fields]
        if missing:
            there = ", ".join(sorted(n for n in self.fields if not n.startswith("__"))) or "none"
            raise ValueError(
                f"{path} must be {what} with the field {missing[0]!r}, which is missing "
                f"(fields: {there})"
            )

    def array(self, name: str, *shape: int | str) -> Array:
        """A finite array of this shape, in which a letter stands for any length."""
        array = self._numbers(name)
        fits = array.ndim == len(shape) and all(
            isinstance(s, str) or s == n for s, n in zip(shape, array.shape, strict=True)
        )
        if not fits:
            expected = " x ".join(str(s) for s in shape)
            raise self.error(name, f"have size {expected}, got {_size(array)}")
        bad = ~np.isfinite(array)
        if bad.any():
            where = tuple(int(i) + 1 for i in np.argwhere(bad)[0])
            raise self.error(name, f"be finite, got {array[bad][0]} at {where}")
        return array

    def vector(self, name: str, length: int | str) -> Array:
        """A row or column of numbers."""
        array = self._numbers(name)
        if array.ndim == 2 and 1 in array.shape:
            self.fields[name] = array.reshape(-1)
        elif array.ndim > 1:
            raise self.error(name, f"be a row or a column, got size {_size(array)}")
        return self.array(name, length)

    def number(self, name: str) -> float:
        """A single number."""
        array = self._numbers(name)
        if array.size != 1:
            raise self.error(name, f"be one number, got size {_size(array)}")
        return float(self.vector(name, 1)[0])

    def positive(self, name: str) -> float:
        """A single positive number."""
        value = self.number(name)
        if not value > 0:
            raise self.error(name, f"be positive, got {value}")
        return value

    def variances(self, name: str, length: int) -> Array:
        """Variances, one per coordinate; one number is that of all."""
        array = np.asarray(self._numbers(name)).reshape(-1)
        self.fields[name] = np.broadcast_to(array, length) if array.size == 1 else array
        values = self.vector(name, length)
        if (values < 0).any():
            raise self.error(name, f"not be negative, got {values.min()}")
        return values

    def times(self, name: str) -> Array:
        """Times that increase."""
        times = self.vector(name, "T")
        if (np.diff(times) <= 0).any():
            i = int((np.diff(times) <= 0).argmax()) + 1
            raise self.error(name, f"increase, got {times[i]} after {times[i - 1]} at {i + 1}")
        return times

    def has(self, name: str) -> bool:
        """Whether there is such a field."""
        return name in self.fields

    def error(self, name: str, expected: str) -> ValueError:
        """An error about a field."""
        return ValueError(f"{self.path}: field {name!r} must {expected}")

    def _numbers(self, name: str) -> Array:
        value = self.fields[name]
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise self.error(name, f"be an array of numbers, got {array.dtype}")
        return array.astype(np.float64)


def _size(array: Array) -> str:
    return " x ".join(str(n) for n in array.shape)


def _loaded(path: str | Path) -> dict[str, Any]:
    """All variables of a file; every kind of damage is a ValueError that names it."""
    from scipy.io import loadmat  # takes a while to import

    with Path(path).open("rb") as file:  # an OSError of its own if it cannot be read
        start = file.read(128)
    if start.startswith(b"MATLAB 7.3"):
        raise ValueError(f"{path} must be a MATLAB file of version 7 or older (save -v7), got 7.3")
    if len(start) < 128 or start[126:128] not in (b"IM", b"MI"):
        raise ValueError(f"{path} must be a MATLAB file of version 5 to 7, got something else")
    try:
        return dict(loadmat(path))
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
