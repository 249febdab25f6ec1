"""A vectorisable exponential function in double and in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import overload

from skh._numba.compiling import RUN_BY_PYTHON, compiled, intrinsic_or


@intrinsic_or(lambda x: np.float64(x).view(np.int64))
def _bits_of_float(typing_context: Any, x: Any) -> Any:  # pragma: no cover - runs in the compiler
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic_or(lambda i: np.int64(i).view(np.float64))
def _float_of_bits(typing_context: Any, i: Any) -> Any:  # pragma: no cover - runs in the compiler
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@compiled
def exp(x: float) -> float:  # pragma: no cover - uses intrinsics, which exist only compiled
    """``exp(x)`` for x <= 0 to 2 units in the last place, in operations that vectorise.

    x = k log 2 + r with |r| <= log(2)/2.  Adding 1.5 * 2^52 rounds x / log 2 to the integer k and
    leaves k in the low bits, from where a shift moves it into the exponent of 2^k.  exp(r) is a
    minimax polynomial of degree 10 (relative error 2.2e-16).  Below -600 the result stays 1e-261:
    subnormal numbers would be ten times slower.
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
    return p * _float_of_bits(bits)  # type: ignore[call-arg,no-any-return]


# Typed constants of `exp32`: a Python float would promote everything to double precision.
EXP32_MIN = np.float32(-80.0)
LOG2_E = np.float32(1.4426950408889634)
ROUNDING_SHIFT = np.float32(12582912.0)  # 1.5 * 2^23
LOG2_HIGH, LOG2_LOW = np.float32(0.693359375), np.float32(-2.12194440054690583e-4)
P2, P3, P4 = np.float32(5.0000001201e-1), np.float32(1.6666665459e-1), np.float32(4.1665795894e-2)
P5, P6, P7 = np.float32(8.3334519073e-3), np.float32(1.3981999507e-3), np.float32(1.9875691500e-4)
Q1, Q2, Q3 = np.float32(6.931472058e-1), np.float32(2.402264656e-1), np.float32(5.550328996e-2)
Q4, Q5, Q6 = np.float32(9.618519535e-3), np.float32(1.339986044e-3), np.float32(1.533757679e-4)
EXP2_MIN = np.float32(-115.0)
ZERO, ONE = np.float32(0.0), np.float32(1.0)
BIAS, MANTISSA = np.int32(127), np.int32(23)


@intrinsic_or(lambda x: np.float32(x).view(np.int32))
def _bits_of_single(typing_context: Any, x: Any) -> Any:  # pragma: no cover - in the compiler
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), generate


@intrinsic_or(lambda i: np.int32(i).view(np.float32))
def _single_of_bits(typing_context: Any, i: Any) -> Any:  # pragma: no cover - in the compiler
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), generate


@compiled
def exp32(x):  # pragma: no cover - uses intrinsics, which exist only compiled
    """`exp` in single precision, to 1.5 units in the last place."""
    x = x if x > EXP32_MIN else EXP32_MIN
    shifted = x * LOG2_E + ROUNDING_SHIFT
    k = shifted - ROUNDING_SHIFT
    r = (x - k * LOG2_HIGH) - k * LOG2_LOW
    p = P7
    p = p * r + P6
    p = p * r + P5
    p = p * r + P4
    p = p * r + P3
    p = p * r + P2
    p = p * r * r + r + ONE
    bits = np.int32((_bits_of_single(shifted) + BIAS) << MANTISSA)  # type: ignore[call-arg]
    return p * _single_of_bits(bits)  # type: ignore[call-arg]


@compiled
def exp2_32(x):  # pragma: no cover - uses intrinsics, which exist only compiled
    """``2^x`` for x <= 0 in single precision, to 1.2 units in the last place; at least 2^-115.

    x = k + r with |r| <= 1/2, and a polynomial of degree 6 in r (relative error 2e-9).
    """
    x = x if x > EXP2_MIN else EXP2_MIN
    shifted = x + ROUNDING_SHIFT
    r = x - (shifted - ROUNDING_SHIFT)
    p = Q6
    p = p * r + Q5
    p = p * r + Q4
    p = p * r + Q3
    p = p * r + Q2
    p = p * r + Q1
    p = p * r + ONE
    bits = np.int32((_bits_of_single(shifted) + BIAS) << MANTISSA)  # type: ignore[call-arg]
    return p * _single_of_bits(bits)  # type: ignore[call-arg]


def exp_of(x):
    """`exp` or `exp32`, in the precision of ``x``."""
    return exp32(x) if isinstance(x, np.float32) else exp(x)


if not RUN_BY_PYTHON:

    @overload(exp_of)
    def _exp_of(x):  # pragma: no cover - runs in the compiler
        return (lambda x: exp32(x)) if x == types.float32 else (lambda x: exp(x))
