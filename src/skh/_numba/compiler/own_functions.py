"""`np.empty`, `np.zeros`, `max` and `min` in kernels.

numba compiles two to five functions of its own for each of these, and for each combination of
types.  Here they are a few instructions of the kernel.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np
from llvmlite.ir import Constant
from numba.core import ir, types
from numba.core.cgutils import intp_t, memset, unpack_tuple, voidptr_t
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import guard, resolve_func_from_module
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.untyped_passes import InlineInlinables
from numba.cpython.builtins import do_minmax
from numba.extending import intrinsic

from skh._numba.compiler.fields import ZERO, array_of

NO_PARENT = Constant(voidptr_t, None)  # no object of Python holds the memory
TOO_LARGE = ("negative dimensions not allowed, nor an array of so many",)


def _allocation(shape: Any, dtype: Any, is_zero: bool) -> tuple[Any, Any] | None:
    """Type of a new array, and what writes its code; None where numba has none either."""
    floats = dtype is None or getattr(dtype, "typing_key", None) is float
    item, ndim = types.float64 if floats else parse_dtype(dtype), parse_shape(shape)
    if item is None or ndim is None:
        return None
    kind = types.Array(item, ndim, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        several = isinstance(shape, types.BaseTuple)
        given = unpack_tuple(builder, arguments[0]) if several else arguments[:1]
        kinds = shape if several else (shape,)
        sizes = [context.cast(builder, s, k, types.intp) for s, k in zip(given, kinds, strict=True)]
        return _allocated(context, builder, kind.dtype, sizes, is_zero)

    return kind(shape, types.Omitted(None) if dtype is None else dtype), generate


def _allocated(context: Any, builder: Any, dtype: Any, sizes: list[Any], is_zero: bool) -> Any:
    """A new array of these sizes."""
    item = context.get_data_type(dtype)
    strides = [intp_t(context.get_abi_sizeof(item))]
    failed = builder.icmp_signed("<", reduce(builder.or_, sizes, ZERO), ZERO)
    for size in reversed(sizes):
        product = builder.smul_with_overflow(strides[0], size)
        strides.insert(0, builder.extract_value(product, 0))
        failed = builder.or_(failed, builder.extract_value(product, 1))
    with builder.if_then(failed, likely=False):
        context.call_conv.return_user_exc(builder, ValueError, TOO_LARGE)
    align = context.get_preferred_array_alignment(dtype)
    meminfo = context.nrt.meminfo_alloc_aligned(builder, strides[0], align)
    data = context.nrt.meminfo_data(builder, meminfo)
    if is_zero:
        memset(builder, data, strides[0], 0)
    typed = builder.bitcast(data, item.as_pointer())
    return array_of(builder, meminfo, NO_PARENT, strides[-1], typed, sizes, strides[1:])


@intrinsic
def empty(typing_context: Any, shape: Any, dtype: Any = None) -> Any:
    """A new array."""
    return _allocation(shape, dtype, is_zero=False)


@intrinsic
def zeros(typing_context: Any, shape: Any, dtype: Any = None) -> Any:
    """A new array of zeros."""
    return _allocation(shape, dtype, is_zero=True)


def _extreme(typing_context: Any, given: Any, better: Any) -> tuple[Any, Any]:
    """Of several numbers, or of those in a tuple."""
    together = isinstance(given[0], types.BaseTuple)
    kinds = tuple(given[0]) if together else given

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = unpack_tuple(builder, arguments[0])
        values = unpack_tuple(builder, values[0]) if together else values
        return do_minmax(context, builder, kinds, values, better)

    return typing_context.unify_types(*kinds)(types.StarArgTuple(given)), generate


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
