"""The mean map by Chebyshev interpolation on a line, at all points at once.

A table is a vector of coefficients, its box (2,) the centre and half-width of an interval; see
`kernels.interpolation`.  Outside the box bumps are summed up.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, full_vectors, summing
from skh._numba.exponential import exp
from skh._numba.vectors import add_scaled, fill


@compiled
def set_box(box, A, X, margin):
    """Set the centre and half-width of an interval around points ``X`` (1, n) on a line.

    Its ``margin`` is in lengths of the narrowest bump, of which the half-width in such lengths is
    returned.
    """
    rate, low, high = 0.0, X[0, 0], X[0, 0]
    for m in range(A.shape[1]):
        rate = max(rate, A[0, m])
    for i in range(X.shape[1]):
        low, high = min(low, X[0, i]), max(high, X[0, i])
    box[0], box[1] = 0.5 * (high + low), 0.5 * (high - low) + margin / rate
    return box[1] * rate


@summing
def value_on_line(x, A, b, heights):  # pragma: no cover - intrinsic
    """Sum of bumps at a point of a line."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    value = 0.0
    for k in range(heights.size):
        e = A[0, k] * x - b[0, k]
        value += heights[k] * exp(-0.5 * e * e)
    return value


@compiled
def set_table(table, box, A, b, heights, cosines, transform):
    """Set the coefficients of the bumps' sum in the interval ``box``.

    The ``transform`` (m, m) takes values at the Chebyshev nodes, which are at ``cosines``.
    """
    m = table.size
    fill(table, 0.0)
    for i in range(m):
        value = value_on_line(box[0] + box[1] * cosines[i], A, b, heights)
        add_scaled(table, transform[i], value)


@summing
def slope_on_line(x, A, b, heights):  # pragma: no cover - intrinsic
    """The derivative of `value_on_line`."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    slope = 0.0
    for k in range(heights.size):
        e = A[0, k] * x - b[0, k]
        slope -= heights[k] * A[0, k] * e * exp(-0.5 * e * e)
    return slope


@compiled
def set_values_on_line(out, X, A, b, heights, table, box):  # pragma: no cover - intrinsic
    """Set sums of bumps at points ``X`` (1, n), by Clenshaw's recurrence."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    n = X.shape[1]
    t, first, second = np.empty(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        t[i] = (X[0, i] - box[0]) / box[1]
    for k in range(table.size - 1, 0, -1):
        c = table[k]
        for i in range(n):
            second[i] = c + 2.0 * t[i] * first[i] - second[i]
        first, second = second, first
    for i in range(n):
        out[i] = table[0] + t[i] * first[i] - second[i]
    for i in range(n):
        if not abs(t[i]) <= 1.0:
            out[i] = value_on_line(X[0, i], A, b, heights)


@compiled
def set_values_and_slopes(
    value, slope, X, A, b, heights, table, box
):  # pragma: no cover - intrinsic
    """`set_values_on_line` and their derivatives; ``value`` and ``slope`` are zero."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    n = value.size
    t, first, rise = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(X.shape[1]):
        t[i] = (X[0, i] - box[0]) / box[1]
    for k in range(table.size - 1, 0, -1):
        c = table[k]
        for i in range(n):
            next_slope = 2.0 * (first[i] + t[i] * rise[i]) - slope[i]
            next_value = c + 2.0 * t[i] * first[i] - value[i]
            slope[i], rise[i] = rise[i], next_slope
            value[i], first[i] = first[i], next_value
    for i in range(n):
        slope[i] = (first[i] + t[i] * rise[i] - slope[i]) / box[1]
        value[i] = table[0] + t[i] * first[i] - value[i]
    for i in range(X.shape[1]):
        if not abs(t[i]) <= 1.0:
            value[i] = value_on_line(X[0, i], A, b, heights)
            slope[i] = slope_on_line(X[0, i], A, b, heights)
