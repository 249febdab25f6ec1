"""Gaussians of several scales at a distance, by one exponential for all scales of a group.

In a group each scale has a tenth of the variance of the one before, so that its exponential is the
tenth power of the other's; see `kernels.scale_groups`.  A power has ten times the rounding error,
which a weight proportional to the variance takes back.  All arrays are in the same precision.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.exponential import exp_of
from skh._numba.vectors import fill

GROUP = 4  # scales; missing ones have weight zero
TEN, HUNDRED, THOUSAND = np.float32(10), np.float32(100), np.float32(1000)
LEAST = np.float32(1e-3)  # its tenth power is far below rounding, and still a normal number


@compiled
def tenth_power(x):
    """``x^10``, at least 1e-30: subnormal numbers are slow."""
    x = x if x > LEAST else LEAST
    square = x * x
    fourth = square * square
    return fourth * fourth * square


@compiled
def sums_of_scales(x, h):
    """Sums of ``h_k x^(10^k)``, times 10^k in the second and 100^k in the third."""
    y = tenth_power(x)
    z = tenth_power(y)
    a, b, c, d = h[0] * x, h[1] * y, h[2] * z, h[3] * tenth_power(z)
    first = a + TEN * b + HUNDRED * c + THOUSAND * d
    return a + b + c + d, first, a + HUNDRED * (b + HUNDRED * (c + HUNDRED * d))


@compiled
def add_values(row, q, rate, h):  # pragma: no cover - intrinsic
    """Add the values of a group's scales at squared distances ``q``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for j in range(row.size):
        row[j] += sums_of_scales(exp_of(-rate * q[j]), h)[0]


@compiled
def add_curvatures(row, q, rate, h, d):  # pragma: no cover - intrinsic
    """Add the negative second derivatives of a group's scales, averaged over d coordinates."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    height, share = 2.0 * rate, 2.0 * rate / d
    for j in range(row.size):
        _, first, second = sums_of_scales(exp_of(-rate * q[j]), h)
        row[j] += height * (first - share * q[j] * second)


@compiled
def weights_of(group):
    """The weights of a group's scales."""
    return group[1], group[2], group[3], group[4]


@compiled
def set_values(row, q, groups):
    """Set ``row`` to the kernel at squared distances ``q``."""
    fill(row, row.dtype.type(0))
    for group in groups:
        add_values(row, q, group[0], weights_of(group))
