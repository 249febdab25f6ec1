"""Fields of values, without a detour.

numba stores a value in memory to read one of its fields, for each access to an array and each turn
of a loop: two thirds of the instructions that it writes.  LLVM removes all that again.
"""

from __future__ import annotations

from typing import Any

from llvmlite.ir import Constant, InsertValue
from numba.core.cgutils import intp_t

# Fields of numba's arrays.
MEMINFO, PARENT, NITEMS, ITEMSIZE, DATA, SHAPE, STRIDES = range(7)

ZERO, ONE = intp_t(0), intp_t(1)


def field(builder: Any, value: Any, at: int) -> Any:
    """A field of a structure, or what was put there."""
    while isinstance(value, InsertValue):
        if value.indices[0] == at and len(value.indices) == 1:
            return value.value
        value = value.aggregate
    return builder.extract_value(value, at)


def fields(builder: Any, value: Any, count: int) -> list[Any]:
    """The first fields of a structure."""
    return [field(builder, value, at) for at in range(count)]


def is_constant(value: Any, number: int) -> bool:
    """Whether a value is this number."""
    return isinstance(value, Constant) and value.constant == number
