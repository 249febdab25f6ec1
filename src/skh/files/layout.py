"""The order of an array's elements in memory.

Sums and products of matrices add in an order that depends on it, and so do their last bits.  An
array that is read from a file has the layout that it had before, repeated rows included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray


def steps_of(array: NDArray[Any]) -> list[int] | None:
    """Return the strides in elements; None for the usual order, and where they are fractions."""
    if array.flags.c_contiguous or not array.size:
        return None
    if any(stride % array.itemsize for stride in array.strides):  # a field of records
        return None
    return [stride // array.itemsize for stride in array.strides]


def without_repeats(array: NDArray[Any]) -> NDArray[Any]:
    """Return one of the repeated rows (columns, ...) of a broadcast array."""
    if steps_of(array) is None:
        return np.ascontiguousarray(array).reshape(array.shape)
    once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)
    return np.ascontiguousarray(array[once])


def laid_out(
    array: NDArray[Any], shape: Sequence[int], steps: Sequence[int] | None
) -> NDArray[Any]:
    """Return ``array``, broadcast to ``shape``, with strides of so many elements."""
    if steps is None:
        return array.reshape(shape)
    reach = [step * (n - 1) for step, n in zip(steps, shape, strict=True)]
    first = -sum(r for r in reach if r < 0)
    memory = np.zeros(first + sum(r for r in reach if r > 0) + 1, array.dtype)
    strides = [step * array.itemsize for step in steps]
    once = [n if step else 1 for n, step in zip(shape, steps, strict=True)]
    as_strided(memory[first:], once, strides)[...] = array
    return as_strided(memory[first:], shape, strides, writeable=0 not in steps)
