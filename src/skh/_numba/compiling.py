"""Decorators of all compiled kernels, and what the kernels have in common.

Layout.  Points are *coordinate-major*, ``X`` of shape ``(d, M)``: each inner loop runs over the
points with one coordinate of one centre in a register, which LLVM turns into vector instructions
(it does so neither for an inner loop over a run-time ``d`` nor for libm's ``exp``).  Work goes in
blocks of points, so that the squared distances of a block stay in the L1 cache between the loop
that adds them up and the loop that exponentiates them.

Loops run over ``range(array.size)`` of slices made outside: an index that LLVM can see to be
non-negative needs no wrap-around, and only then is a loop vectorised.

A ``prange`` is a plain loop here, and one over threads in the twins that `_runtime.threads` makes.
Blocks do not depend on the number of threads, and neither does anything computed from them.

Kernels do not check their arguments: that is done at the public edge, before they are called.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

# What all have in common.  Nobody hands a kernel over as a function pointer, and the wrapper that
# is made for that case takes a tenth of all time to compile.
njit = partial(numba.njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)

# Fused multiply-adds change the last bit only; no other liberty is taken with the arithmetic,
# because the rounding trick in `exp` needs every operation as it is written.
compiled = njit(cache=True, fastmath={"contract"})

# No liberty at all: where a value may be computed along two ways that must agree to the bit.  What
# is not said here, a kernel would inherit from whichever other one calls it first.
strict = njit(cache=True, fastmath=False)

# Sums in any order, in vectors: where nothing else is compared with them to the bit.
summing = njit(cache=True, fastmath={"contract", "reassoc"})

# A part of each caller, with the caller's liberties: for what is short, or has just one of them.
# On its own it would be compiled once more, in vain.
inlined = njit(cache=True, inline="always", fastmath={"contract"})


@intrinsic
def full_vectors(typing_context: Any) -> Any:  # pragma: no cover - runs in the compiler
    """Let the calling function use the widest vectors of the processor, whoever calls it.

    LLVM halves AVX-512 vectors by default, which costs a loop of pure arithmetic a third of its
    speed.  llvmlite knows no attributes with a value, hence the plain set; and a function that were
    inlined into its caller would lose the attribute.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate
