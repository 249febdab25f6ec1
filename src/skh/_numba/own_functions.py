"""`np.empty`, `np.zeros`, `max` and `min` in kernels.

numba compiles two to five functions of its own for each of these, and for each combination of
types.  Here they are a few instructions of the kernel.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import guard, resolve_func_from_module
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.untyped_passes import InlineInlinables
from numba.cpython.builtins import do_minmax
from numba.extending import intrinsic
from numba.np.arrayobj import _empty_nd_impl, _parse_shape


def _allocation(shape: Any, dtype: Any, finish: Callable[..., None]) -> tuple[Any, Any]:
    """Type of a new array, and what writes its code."""
    floats = dtype is None or getattr(dtype, "typing_key", None) is float
    kind = types.Array(types.float64 if floats else parse_dtype(dtype), parse_shape(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sizes = _parse_shape(context, builder, shape, arguments[0])
        array = _empty_nd_impl(context, builder, kind, sizes)
        finish(builder, array)
        return array._getvalue()

    return kind(shape, types.Omitted(None) if dtype is None else dtype), generate


def _leave(builder: Any, array: Any) -> None:
    """Leave what is in memory."""


def _clear(builder: Any, array: Any) -> None:
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)


@intrinsic
def empty(typing_context: Any, shape: Any, dtype: Any = None) -> Any:
    """A new array."""
    return _allocation(shape, dtype, _leave)


@intrinsic
def zeros(typing_context: Any, shape: Any, dtype: Any = None) -> Any:
    """A new array of zeros."""
    return _allocation(shape, dtype, _clear)


def _extreme(typing_context: Any, kinds: Any, better: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = cgutils.unpack_tuple(builder, arguments[0])
        return do_minmax(context, builder, kinds, values, better)

    return typing_context.unify_types(*kinds)(types.StarArgTuple(kinds)), generate


@intrinsic
def largest(typing_context: Any, *values: Any) -> Any:
    """The largest number."""
    return _extreme(typing_context, values, operator.gt)


@intrinsic
def least(typing_context: Any, *values: Any) -> Any:
    """The least number."""
    return _extreme(typing_context, values, operator.lt)


OWN = {np.empty: empty, np.zeros: zeros, max: largest, min: least}


@register_pass(mutates_CFG=True, analysis_only=False)
class OwnFunctions(InlineInlinables):
    """Calls these instead of numba's, in inlined kernels, too."""

    _name = "skh_own_functions"

    def run_pass(self, state: Any) -> bool:
        """Replace the names of functions."""
        super().run_pass(state)
        for block in state.func_ir.blocks.values():
            for assign in block.find_insts(ir.Assign):
                function = _function(state.func_ir, assign.value)
                if function in OWN:
                    assign.value = ir.Global(function.__name__, OWN[function], assign.loc)
        return True


def _function(code: Any, value: Any) -> Any:
    """The function that a value names, if it does."""
    if isinstance(value, ir.Expr) and value.op == "getattr":
        return guard(resolve_func_from_module, code, value)
    named = isinstance(value, ir.Global | ir.FreeVar) and callable(value.value)
    return value.value if named else None
