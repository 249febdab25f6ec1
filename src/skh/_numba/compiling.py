"""Decorators for compiled kernels, and the conventions that all kernels follow.

Points are *coordinate-major*, ``X`` of shape ``(d, M)``: each inner loop runs over the points with
one coordinate of one centre in a register, and is vectorised by LLVM (an inner loop over a run-time
``d`` would not be, nor one that calls libm's ``exp``).  Points are processed in blocks, so that the
squared distances of a block stay in the L1 cache between summing and exponentiating them.

Loops run over ``range(array.size)`` of slices taken outside: LLVM vectorises a loop only if it can
see that the index is non-negative and needs no wrap-around.

A ``prange`` is a plain loop here and a parallel one in the versions that `_runtime.threads`
compiles.  Blocks, and therefore results, do not depend on the number of threads.

Kernels do not check their arguments: callers do.  Kernels of a single model are beside that model.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

# No kernel is passed as a function pointer; the C wrapper for that takes 10 % of the compile time.
njit = partial(numba.njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)

# Fused multiply-adds change the last bit only.  No other fast-math flag: the rounding trick in
# `exponential.exp` needs every operation as it is written.
compiled = njit(cache=True, fastmath={"contract"})

# No fast-math, for values that two kernels must compute to the same bits.  Without an explicit
# setting a kernel would inherit the flags of its first caller.
strict = njit(cache=True, fastmath=False)

# Sums may be reordered, hence vectorised: where no other kernel must give the same bits.
summing = njit(cache=True, fastmath={"contract", "reassoc"})

# Inlined with the caller's flags: saves compiling short kernels, or those with one caller, alone.
inlined = njit(cache=True, inline="always", fastmath={"contract"})


@intrinsic
def full_vectors(typing_context: Any) -> Any:  # pragma: no cover - runs in the compiler
    """Make the calling function use the widest vectors of the processor.

    LLVM halves AVX-512 vectors by default, which costs a loop of pure arithmetic a third of its
    speed.  llvmlite does not support attributes with a value, hence `set.add`.  A function inlined
    into its caller would lose the attribute, hence ``noinline``.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate
