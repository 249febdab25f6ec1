"""What all compiled kernels share: decorators, the exponential, loops over blocks of points.

Layout.  Points are *coordinate-major*, ``X`` of shape ``(d, M)``: each inner loop runs over the
points with one coordinate of one centre in a register, which LLVM turns into vector instructions
(it does so neither for an inner loop over a run-time ``d`` nor for libm's ``exp``).  Work goes in
blocks of ``BLOCK`` points, so that the squared distances of a block stay in the L1 cache between
the loop that adds them up and the loop that exponentiates them.

Loops run over ``range(array.size)`` of slices made outside: an index that LLVM can see to be
non-negative needs no wrap-around, and only then is a loop vectorised.

A ``prange`` is a plain loop here, and one over threads in the twins that `threads` makes.  Blocks
do not depend on the number of threads, and neither does anything that is computed from them.

Nothing here checks its arguments: that is done at the public edge, before these are called.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import prange, types
from numba.extending import intrinsic

BLOCK = 1024
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
def _bits_of_float(typing_context: Any, x: Any) -> Any:  # pragma: no cover - runs in the compiler
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _float_of_bits(typing_context: Any, i: Any) -> Any:  # pragma: no cover - runs in the compiler
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def _full_vectors(typing_context: Any) -> Any:  # pragma: no cover - runs in the compiler
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


@inlined
def exp(x: float) -> float:  # pragma: no cover - uses intrinsics, which exist only compiled
    """The exponential of x <= 0 to 2 units in the last place, in operations that vectorise.

    x = k log 2 + r with |r| <= log(2)/2.  Adding 1.5 * 2^52 rounds x / log 2 to the integer k and
    leaves k in the low bits, from where a shift moves it into the exponent of 2^k.  exp(r) is its
    minimax polynomial of degree 10 (relative error 2.2e-16).  Below -600 the result stays 1e-261:
    subnormal numbers would be slower by a factor of ten.
    """
    x = x if x > -600.0 else -600.0
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    p = 2.7626357241447222855e-7
    p = p * r + 2.764018079620985113e-6
    p = p * r + 2.4801504346997687255e-5
    p = p * r + 1.9841170270440068401e-4
    p = p * r + 1.3888888932488598181e-3
    p = p * r + 8.3333333856677824706e-3
    p = p * r + 4.1666666666573142611e-2
    p = p * r + 1.6666666666554404471e-1
    p = p * r + 5.0000000000000056169e-1
    p = p * r + 1.0000000000000067423
    p = p * r + 1.0
    bits = (_bits_of_float(shifted) + 1023) << 52  # type: ignore[call-arg] # an intrinsic
    return p * _float_of_bits(bits)


# --- the loops over one block of points ---------------------------------------------------------


@compiled
def count_blocks(M):
    """Number of blocks of M points."""
    return (M + BLOCK - 1) // BLOCK


@compiled
def fill(out, a):
    """``out = a`` in every place; ``out[:] = a`` would take half a second to compile."""
    for i in range(out.size):
        out[i] = a


@compiled
def set_square(q, x, c):
    """``q = (x - c)^2``: the first coordinate's share of the squared distances to a centre."""
    for i in range(q.size):
        e = x[i] - c
        q[i] = e * e


@compiled
def add_square(q, x, c):
    """``q += (x - c)^2``: one coordinate's share of the squared distances to a centre."""
    for i in range(q.size):
        e = x[i] - c
        q[i] += e * e


@compiled
def add_exp(out, q, height, rate):  # pragma: no cover - intrinsic
    """``out += height * exp(-rate * q)``."""
    _full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(out.size):
        out[i] += height * exp(-rate * q[i])


@compiled
def set_exp(out, q, height, rate):  # pragma: no cover - intrinsic
    """``out = height * exp(-rate * q)``: `add_exp` without reading what was there."""
    _full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(out.size):
        out[i] = height * exp(-rate * q[i])


@compiled
def add_scaled(out, x, a):
    """``out += a * x``."""
    for i in range(out.size):
        out[i] += a * x[i]


@strict
def blend(out, x, keep, step):
    """``out <- keep * out + step * x``: how an iterate takes in a kernel row."""
    for i in range(out.size):
        out[i] = keep * out[i] + step * x[i]


@strict
def add_four(out, r, s, t, u, a, b, c, d):
    """`blend` of four rows with ``keep = 1``, to the same bits, in one pass over ``out``."""
    for i in range(out.size):
        out[i] = (((out[i] + a * r[i]) + b * s[i]) + c * t[i]) + d * u[i]


@strict
def blend_to_gap(gap, out, x, mu, keep, step):
    """`blend`, and ``gap = out - mu`` on the way."""
    for i in range(out.size):
        out[i] = keep * out[i] + step * x[i]
        gap[i] = out[i] - mu[i]


@compiled
def lowest(q):
    """``min(q)``, destroying ``q``: folds the upper half onto the lower, since that vectorises."""
    m = q.size
    while m > 1:
        half = (m + 1) // 2
        low, high = q[:half], q[half:m]
        for i in range(high.size):
            low[i] = high[i] if high[i] < low[i] else low[i]
        m = half
    return q[0]


@compiled
def set_six_squares(q, x0, x1, x2, x3, x4, x5, c):  # pragma: no cover - intrinsic
    """`set_square`, then `add_square` five times, in one pass over the six coordinates of poses."""
    _full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        e0, e1, e2 = x0[i] - c[0], x1[i] - c[1], x2[i] - c[2]
        e3, e4, e5 = x3[i] - c[3], x4[i] - c[4], x5[i] - c[5]
        q[i] = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5


@compiled
def squared_distances(q, X, lo, hi, c):
    """``q = |X[:, lo:hi] - c|^2``."""
    if X.shape[0] == 6:
        x0, x1, x2 = X[0, lo:hi], X[1, lo:hi], X[2, lo:hi]
        x3, x4, x5 = X[3, lo:hi], X[4, lo:hi], X[5, lo:hi]
        set_six_squares(q, x0, x1, x2, x3, x4, x5, (c[0], c[1], c[2], c[3], c[4], c[5]))
        return
    set_square(q, X[0, lo:hi], c[0])
    for j in range(1, X.shape[0]):
        add_square(q, X[j, lo:hi], c[j])


@compiled
def transposed(x):
    """Rows of points as coordinate-major points."""
    n, d = x.shape
    X = np.empty((d, n))
    for b in prange(count_blocks(n)):
        for j in range(d):
            for i in range(b * BLOCK, min((b + 1) * BLOCK, n)):
                X[j, i] = x[i, j]
    return X


# --- rows of kernel values -----------------------------------------------------------------------


@inlined
def kernel_block(row, q, X, lo, hi, c, scales):
    """``row`` = the kernel between ``X[:, lo:hi]`` and ``c``; ``q`` is scratch.

    ``scales`` (2, S) has the rates and the weights of its Gaussians, weight exp(-rate |x - c|^2).
    """
    squared_distances(q, X, lo, hi, c)
    set_exp(row, q, scales[1, 0], scales[0, 0])
    for s in range(1, scales.shape[1]):
        add_exp(row, q, scales[1, s], scales[0, s])


@compiled
def kernel_row(row, X, c, scales):
    """``row[m]`` = the kernel between ``X[:, m]`` and ``c``."""
    scratch = np.empty(BLOCK)
    for lo in range(0, row.size, BLOCK):
        hi = min(lo + BLOCK, row.size)
        kernel_block(row[lo:hi], scratch[: hi - lo], X, lo, hi, c, scales)


# --- the vertex search of Algorithm 1, line 3 ----------------------------------------------------


@inlined
def lowest_gap(g, mu, q):
    """``min(g - mu)`` of a block; ``q`` is scratch."""
    for i in range(q.size):
        q[i] = g[i] - mu[i]
    return lowest(q)


@compiled
def first_lowest(a):
    """The first index at which ``a`` is least."""
    least = 0
    for i in range(1, a.size):
        if a[i] < a[least]:
            least = i
    return least


@compiled
def first_gap(g, mu, lows):
    """The first index at which ``g - mu`` is the least of the blocks' minima ``lows``."""
    b = first_lowest(lows)
    i = b * BLOCK
    while g[i] - mu[i] != lows[b]:
        i += 1
    return i


@compiled
def step_blocks(lows, first, last, g, mu, X, c, scales, step):
    """``g <- (1 - step) g + step * kernel(c, .)`` in some blocks, and the least of ``g - mu``."""
    scratch = np.empty((2, BLOCK))
    for b in range(first, last):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, g.size)
        q, row = scratch[0, : hi - lo], scratch[1, : hi - lo]
        kernel_block(row, q, X, lo, hi, c, scales)
        blend_to_gap(q, g[lo:hi], row, mu[lo:hi], 1.0 - step, step)
        lows[b] = lowest(q)


@inlined
def combine(out, rows, lo, hi, active, w):
    """``out += sum of w[i] rows[i, lo:hi]`` over the active i."""
    fours = active.size // 4 * 4
    for k in range(0, fours, 4):
        i, j, m, n = active[k], active[k + 1], active[k + 2], active[k + 3]
        r, s, t, u = rows[i, lo:hi], rows[j, lo:hi], rows[m, lo:hi], rows[n, lo:hi]
        add_four(out, r, s, t, u, w[i], w[j], w[m], w[n])
    for i in active[fours:]:
        blend(out, rows[i, lo:hi], 1.0, w[i])


@compiled
def combine_and_search(g, mu, rows, active, w):
    """``g <- sum of w[i] rows[i]`` over the active i, then the argmin of ``g - mu``."""
    lows = np.empty(count_blocks(g.size))
    for b in range(lows.size):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, g.size)
        block = g[lo:hi]
        fill(block, 0.0)
        combine(block, rows, lo, hi, active, w)
        lows[b] = lowest_gap(block, mu[lo:hi], np.empty(hi - lo))
    return first_gap(g, mu, lows)
