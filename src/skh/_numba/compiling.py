"""Decorators for compiled kernels, and the conventions that all kernels follow.

Points are *coordinate-major*, ``X`` of shape ``(d, M)``: each inner loop runs over the points with
one coordinate of one centre in a register, and is vectorised by LLVM (an inner loop over a run-time
``d`` would not be, nor one that calls libm's ``exp``).  Points are processed in blocks, so that the
squared distances of a block stay in the L1 cache between summing and exponentiating them.

Loops run over ``range(array.size)`` of slices taken outside: LLVM vectorises a loop only if it can
see that the index is non-negative and needs no wrap-around.

A ``prange`` is a plain loop here and a parallel one in the versions that `_runtime.threads`
compiles.  Blocks, and therefore results, do not depend on the number of threads.

A kernel of small arrays sets arrays of its caller, since numba takes a microsecond to return one.

Kernels do not check their arguments: callers do.  Kernels of a single model are beside that model.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic

from skh._numba.compiler.disk_cache import cached_on_disk
from skh._numba.compiler.pipeline import KernelCompiler

Generator = TypeVar("Generator", bound=Callable[..., Any])

# With NUMBA_DISABLE_JIT=1: for debugging, hundreds of times slower.
RUN_BY_PYTHON = bool(config.DISABLE_JIT)  # type: ignore[attr-defined] # set at import

# No kernel is passed as a function pointer; the C wrapper for that takes 10 % of the compile time.
njit = partial(
    numba.njit,
    nogil=True,
    error_model="numpy",
    no_cfunc_wrapper=True,
    pipeline_class=KernelCompiler,
)


def kernel(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles with these options and keeps the code on disk."""
    if RUN_BY_PYTHON:  # integers wrap around and floats overflow silently, as compiled
        return np.errstate(all="ignore")
    compile_ = njit(**options)
    return lambda function: cached_on_disk(compile_(function))


# Fused multiply-adds change the last bit only.  No other fast-math flag: the rounding trick in
# `exponential.exp` needs every operation as it is written.
compiled = kernel(fastmath={"contract"})

# No fast-math, for values that two kernels must compute to the same bits.  Without an explicit
# setting a kernel would inherit the flags of its first caller.
strict = kernel(fastmath=False)

# Sums may be reordered, hence vectorised: where no other kernel must give the same bits.
summing = kernel(fastmath={"contract", "reassoc"})

# Inlined with the caller's flags: saves compiling short kernels, or those with one caller, alone.
inlined = kernel(inline="always", fastmath={"contract"})


def intrinsic_or(by_python: Callable[..., Any]) -> Callable[[Generator], Generator]:
    """Decorate a generator of machine code, in place of which Python runs ``by_python``."""
    return lambda generator: by_python if RUN_BY_PYTHON else intrinsic(generator)  # type: ignore[return-value]


@intrinsic_or(lambda: None)
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
