"""Weighted sums of rows of 16-bit integers, kept in registers.

LLVM vectorises the inner loop, along a row, and so reads and writes the sum once for each row or
few.  For rows of some hundred numbers that takes a third of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import alloca_once_value, for_range

from skh._numba.compiling import compiled, full_vectors, intrinsic_or

STRIP = 128  # columns that are summed up at once: eight registers of 512 bits
NUMBERS = ir.VectorType(ir.FloatType(), STRIP)
SAME_NUMBER = ir.VectorType(ir.IntType(32), STRIP)(None)  # of a vector, again and again
NO_NUMBERS = ir.Constant(NUMBERS, ir.Undefined)


def _set_strip(out: Any, start: Any, rows: Any, a: Any, which: Any, lo: int) -> Any:
    strip = slice(lo, lo + STRIP)
    out[strip] = start[strip] + a[which] @ rows[: which.size, strip].astype(a.dtype)
    return out[strip].min()


@intrinsic_or(_set_strip)
def set_strip(  # pragma: no cover - runs in the compiler
    typing_context: Any, out: Any, start: Any, rows: Any, a: Any, which: Any, lo: Any
) -> Any:
    """`set_sum` in columns lo to lo + STRIP; return their minimum."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, start, rows, a, which = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args, args[:5], strict=False)
        )

        def strip_at(array: Any, i: Any) -> Any:
            kind = ir.VectorType(array.data.type.pointee, STRIP)
            return builder.bitcast(builder.gep(array.data, [i]), kind.as_pointer())

        width = builder.extract_value(rows.shape, 1)
        total = alloca_once_value(builder, builder.load(strip_at(start, args[5]), align=4))
        with for_range(builder, which.nitems) as loop:
            index = builder.load(builder.gep(which.data, [loop.index]))
            weight = builder.load(builder.gep(a.data, [index]))
            with builder.if_then(builder.fcmp_unordered("!=", weight, weight.type(0.0))):
                place = builder.add(builder.mul(loop.index, width), args[5])
                row = builder.uitofp(builder.load(strip_at(rows, place), align=2), NUMBERS)
                one = builder.insert_element(NO_NUMBERS, weight, ir.IntType(32)(0))
                weights = builder.shuffle_vector(one, NO_NUMBERS, SAME_NUMBER)
                product = builder.fmul(weights, row, flags=["contract"])
                builder.store(builder.fadd(builder.load(total), product, flags=["contract"]), total)
        result = builder.load(total)
        builder.store(result, strip_at(out, args[5]), align=4)
        least = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.fmin.v{STRIP}f32", (), ir.FunctionType(ir.FloatType(), [NUMBERS])
        )
        return builder.call(least, [result], fastmath=["nnan", "nsz"])

    return types.float32(out, start, rows, a, which, lo), generate


@compiled
def set_sum(out, start, rows, a, which):  # pragma: no cover - intrinsic
    """``out = start + sum_i a[which[i]] rows[i]``, in a multiple of STRIP columns; its minimum."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    least = np.float32(np.inf)
    for lo in range(0, out.size, STRIP):
        least = min(least, set_strip(out, start, rows, a, which, lo))  # type: ignore[call-arg]
    return least
