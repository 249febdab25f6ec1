"""Fields of values, without a detour.

numba stores a value in memory to read one of its fields, for each access to an array and each turn
of a loop: two thirds of the instructions that it writes.  LLVM removes all that again.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from llvmlite.ir import Constant, InsertValue, IRBuilder
from numba.core.cgutils import intp_t, make_anonymous_struct, pack_array
from numba.core.lowering import Lower

# Fields of numba's arrays.
MEMINFO, PARENT, NITEMS, ITEMSIZE, DATA, SHAPE, STRIDES = range(7)

ZERO, ONE = intp_t(0), intp_t(1)


class FieldBuilder(IRBuilder):  # type: ignore[misc] # llvmlite has no types
    """Writes instructions, but none for a field that was just set."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """A field of a structure, or what was put there."""
        path = [idx] if isinstance(idx, int) else list(idx)
        while isinstance(agg, InsertValue) and len(agg.indices) == len(path) == 1:
            if agg.indices == path:
                return agg.value
            agg = agg.aggregate
        return super().extract_value(agg, idx, name)


class FieldLower(Lower):
    """Writes the code of a kernel with it."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        self.builder = FieldBuilder(self.entry_block)


def array_of(
    builder: Any, meminfo: Any, parent: Any, itemsize: Any, data: Any, shape: Any, strides: Any
) -> Any:
    """An array with these fields."""
    packed = (pack_array(builder, sizes, intp_t) for sizes in (shape, strides))
    nitems = reduce(builder.mul, shape) if shape else ONE
    return make_anonymous_struct(builder, (meminfo, parent, nitems, itemsize, data, *packed))


def is_constant(value: Any, number: int) -> bool:
    """Whether a value is this number."""
    return isinstance(value, Constant) and value.constant == number
