"""Numbers for a page: arrays as base64 text, and single numbers with sensible digits."""

from __future__ import annotations

from base64 import b64encode
from math import floor, isfinite, isnan, log10

import numpy as np
from numpy.typing import ArrayLike

from skh._typing import Array

Packed = dict[str, str]  # {type code: base64}, as `unpack` in assets/data.js reads it


def packed(values: ArrayLike, code: str) -> Packed:
    """Pack an array, rows one after the other; ``code`` is "f8", "f4" or "i4", little-endian.

    >>> packed([1.0, 2.0], "f4")
    {'f4': 'AACAPwAAAEA='}
    """
    return {code: b64encode(np.ascontiguousarray(values, dtype=f"<{code}").tobytes()).decode()}


def scales(*deviations: Array) -> Array:
    """Power of two above the finite deviations (D, ...) of each coordinate; 1 if all are zero.

    Divided by it, deviations in any unit fit into single precision.
    """
    largest = np.zeros(len(deviations[0]))
    for array in deviations:
        sizes = np.abs(np.where(np.isfinite(array), array, 0.0)).reshape(len(array), -1)
        largest = np.maximum(largest, sizes.max(axis=1, initial=0.0))
    exponents = np.minimum(np.frexp(largest)[1], 1023)  # 2^1024 is not a number
    return np.where(largest > 0.0, np.ldexp(1.0, exponents), 1.0)


def number(x: float, digits: int = 4) -> str:
    """Format a number for readers; `number` in assets/format.js gives the same text.

    >>> [number(x) for x in (0.0, 12.3456, -1.5e-12, 2e12, np.nan, -np.inf)]
    ['0', '12.35', '-1.5e-12', '2e12', '–', '-∞']
    """
    if isnan(x):
        return "–"
    if not isfinite(x):
        return "∞" if x > 0 else "-∞"
    if x == 0.0:
        return "0"
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    power = int(exponent)
    if -4 <= power < max(6, min(digits, 15)):
        text = f"{x:.{max(digits - 1 - power, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{power}"


def resolved(x: float, scale: float) -> str:
    """Format a number with as many digits as a deviation of ``scale`` deserves.

    >>> resolved(5012345.678, 0.02), resolved(0.123456, 0.5)
    ('5012345.678', '0.123')
    """
    if not (scale > 0.0 and isfinite(x) and x != 0.0 and isfinite(scale)):
        return number(x, 5)
    return number(x, min(max(floor(log10(abs(x)) - log10(scale)) + 3, 3), 15))
