"""Operations on vectors, one pass each."""

from __future__ import annotations

from skh._numba.compiling import compiled, summing


@summing
def dot(a, b):
    """``sum(a * b)``."""
    result = 0.0
    for i in range(a.size):
        result += a[i] * b[i]
    return result


@summing
def triple_dot(a, b, c):
    """``sum(a * b * c)``."""
    result = 0.0
    for i in range(a.size):
        result += a[i] * b[i] * c[i]
    return result


@compiled
def multiply(out, x):
    """``out *= x``."""
    for i in range(out.size):
        out[i] *= x[i]


@compiled
def subtract_product(out, x, y):
    """``out -= x y``."""
    for i in range(out.size):
        out[i] -= x[i] * y[i]


@compiled
def set_shifted(out, x, c):
    """``out = x + c``."""
    for i in range(out.size):
        out[i] = x[i] + c


@compiled
def set_scaled(out, x, a):
    """``out = a x``."""
    for i in range(out.size):
        out[i] = a * x[i]


@compiled
def set_sum(out, x, y, a):
    """``out = x + a y``."""
    for i in range(out.size):
        out[i] = x[i] + a * y[i]


@compiled
def fill(out, a):
    """``out[:] = a``, which itself would take half a second to compile."""
    for i in range(out.size):
        out[i] = a


@compiled
def copy_rows(out, x):
    """``out[:, :] = x``, as `fill`."""
    for i in range(len(x)):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]


@compiled
def add_scaled(out, x, a):
    """``out += a * x``."""
    for i in range(out.size):
        out[i] += a * x[i]


@summing
def total(a):
    """``sum(a)``, inf on overflow."""
    result = 0.0
    for i in range(a.size):
        result += a[i]
    return result


@summing
def mean_square(a):
    """``mean(a ** 2)``."""
    return dot(a, a) / a.size


@summing
def variance(a):
    """``var(a)``."""
    mean, result = total(a) / a.size, 0.0
    for i in range(a.size):
        result += (a[i] - mean) ** 2
    return result / a.size
