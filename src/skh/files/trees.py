"""Trees of tuples, dicts, numbers and arrays as JSON and named arrays.

JSON has no tuples, named tuples, arrays, NaN or numbers to the last bit, so these are objects with
one telling key: ``{"tuple": [...]}``, ``{"named": "Pose", "parts": {...}}``, ``{"array": name}``,
``{"float": "0x1.8p+1"}``.  The class of a named tuple is not imported: a new one has its fields, or
`with_classes_of` takes those of a template, such as the records of a model.

>>> tree, arrays = encoded({"x": (np.eye(2), None, float("nan"))})
>>> tree
{'dict': [['x', {'tuple': [{'array': 'x/0'}, None, {'float': 'nan'}]}]]}
>>> decoded(tree, arrays)["x"][0]
array([[1., 0.],
       [0., 1.]])
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh.files.layout import laid_out, steps_of, without_repeats

PLAIN = (bool, int, str, type(None))  # as JSON has them
PooledArrays = dict[str, list[NDArray[Any]]]


def encoded(value: Any, name: str = "") -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return a tree as JSON values, and its arrays."""
    encoder = Encoder()
    return encoder.encode(value, name), encoder.arrays()


@dataclass
class Encoder:
    """Encodes trees; an array that appears twice is stored once.

    Arrays below ``pool`` (a name such as "history", of many small ones) are stored together, one
    after the other, in a member for each type.
    """

    pool: str = "history"
    _named: dict[str, NDArray[Any]] = field(default_factory=dict)
    _pools: PooledArrays = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _seen: dict[Any, tuple[dict[str, Any], NDArray[Any]]] = field(default_factory=dict)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        pools = {name: np.concatenate(parts) for name, parts in self._pools.items()}
        return {**self._named, **pools}

    def encode(self, value: Any, name: str = "") -> Any:
        """Return ``value`` as JSON values; ``name`` is where it is, for names of arrays."""
        if type(value) in PLAIN:
            return value
        if type(value) is float:
            return {"float": value.hex()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            pairs = zip(value._fields, value, strict=True)
            named = {key: self.encode(part, _joined(name, key)) for key, part in pairs}
            return {"named": type(value).__name__, "parts": named}
        if isinstance(value, tuple | list):
            parts = [self.encode(part, _joined(name, i)) for i, part in enumerate(value)]
            return {"tuple" if isinstance(value, tuple) else "list": parts}
        if isinstance(value, Mapping):
            items = [[self.encode(k), self.encode(v, _joined(name, k))] for k, v in value.items()]
            return {"dict": items}
        if isinstance(value, np.generic):
            return {"scalar": self._stored(np.asarray(value), name)}
        if hasattr(value, "shape"):  # an array, of other libraries as well
            return self._stored(np.asarray(value), name)
        raise TypeError(
            f"{name or 'the value'} must be made of arrays, numbers, texts, tuples and dicts to be "
            f"saved, got {type(value).__name__}"
        )

    def _stored(self, array: NDArray[Any], name: str) -> dict[str, Any]:
        """Store an array; return where it is and how it lay in memory."""
        place = (*array.__array_interface__["data"], array.shape, array.strides, array.dtype.str)
        if place not in self._seen:
            self._seen[place] = self._new(array, name), array  # kept, so that the place is its own
        return self._seen[place][0]

    def _new(self, array: NDArray[Any], name: str) -> dict[str, Any]:
        once, steps = without_repeats(array), steps_of(array)
        if array.dtype.hasobject:
            raise TypeError(
                f"{name or 'the value'} must be an array of numbers, texts or dates to be saved, "
                f"got an array of {array.dtype}"
            )
        layout: dict[str, Any] = {} if steps is None else {"steps": steps, "shape": array.shape}
        if not array.flags.writeable:
            layout["read_only"] = True
        if not name.startswith(f"{self.pool}/"):
            name = self._unused(name or "value")
            self._named[name] = once
            return {"array": name, **layout}
        name = f"{self.pool}/{once.dtype.str.strip('<>|=')}"
        start = self._sizes.get(name, 0)
        self._pools.setdefault(name, []).append(once.ravel())
        self._sizes[name] = start + once.size
        return {"array": name, "at": start, "once": once.shape, "shape": array.shape, **layout}

    def _unused(self, name: str) -> str:
        """Return the name, with a number where it is taken."""
        taken, k = name, 1
        while taken in self._named:
            taken, k = f"{name}-{k}", k + 1
        return taken


def _joined(name: str, part: Any) -> str:
    """Return the name of a part of ``name``, in characters that file names may have."""
    text = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in str(part))
    return f"{name}/{text}" if name else text


def decoded(tree: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the tree that was encoded; named tuples are of new classes with the same fields.

    Raises AttributeError, IndexError, KeyError, TypeError or ValueError for a tree that `encoded`
    does not return.
    """
    if type(tree) in PLAIN:
        return tree
    if "float" in tree:
        return float.fromhex(tree["float"])
    if "scalar" in tree:
        return _read(tree["scalar"], arrays)[()]
    if "array" in tree:
        return _read(tree, arrays)
    if "dict" in tree:
        return {decoded(key, arrays): decoded(value, arrays) for key, value in tree["dict"]}
    if "named" in tree:
        kind = named_tuple(tree["named"], tuple(tree["parts"]))
        return kind(*(decoded(part, arrays) for part in tree["parts"].values()))
    if "tuple" in tree:
        return tuple(decoded(part, arrays) for part in tree["tuple"])
    return [decoded(part, arrays) for part in tree["list"]]


@cache
def named_tuple(name: str, parts: tuple[str, ...]) -> Any:
    """Return a class of named tuples."""
    return namedtuple(name, parts)


def with_classes_of(template: Any, tree: Any) -> Any:
    """Give the named tuples of a decoded tree the classes of those of another tree.

    Raises TypeError for a named tuple where the template has none with its fields.
    """
    if isinstance(tree, dict):
        keyed = template if isinstance(template, Mapping) else {}
        return {key: with_classes_of(keyed.get(key), value) for key, value in tree.items()}
    if not isinstance(tree, tuple):
        return tree
    names = getattr(tree, "_fields", None)
    if names is not None and names != getattr(template, "_fields", None):
        raise TypeError(f"expected a {type(template).__name__}, got a {type(tree).__name__}")
    of = template if isinstance(template, tuple) else ()
    parts = [with_classes_of(t, part) for t, part in zip_longest(of[: len(tree)], tree)]
    return tuple(parts) if names is None else type(template)(*parts)


def _read(place: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return an array from its place, laid out as it was."""
    array = arrays[place["array"]]
    if "at" in place:
        size = int(np.prod(place["once"], dtype=np.int64))
        array = array[place["at"] : place["at"] + size].reshape(place["once"]).copy()
    array = laid_out(array, place.get("shape", array.shape), place.get("steps"))
    if place.get("read_only"):
        array = array.view()
        array.setflags(write=False)
    return array
