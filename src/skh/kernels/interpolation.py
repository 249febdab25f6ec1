r"""Chebyshev interpolation of a mean map in one or two dimensions.

A mean map is a sum of Gaussian bumps, hence an entire function: on a box of half-width r its
Chebyshev coefficients fall off faster than exponentially beyond r / l, for the narrowest bump's
length l.  With :math:`s = r / l` the error of degree m is at most about
:math:`\exp(s^2 \sinh^2(u) / 2 - m u)` for all u > 0 (Trefethen, 2013, theorem 8.2), so all digits
are kept.  Bumps with common axes are products over the axes: a matrix product sums them up.
"""

from __future__ import annotations

from functools import lru_cache
from math import asinh, log, pi, sinh

import numpy as np

from skh._typing import Array

ROUNDING = 1e-13  # bound on the error, relative to the kernel; the error is some 100 times smaller
NODES_PER_BUMP = 4  # at most; with more, summing up the bumps would be faster
BOX_MARGIN = 0.5  # around the points that the box is for, in lengths of the narrowest bump
MAX_NODES = 1024  # along an axis


def interpolated(A: Array, b: Array, heights: Array, X: Array) -> tuple[Array, Array] | None:
    """Return coefficients (m, n) and a box (2, 2) around ``X`` (d, N), its centre and half-widths.

    The bumps are ``heights exp(-|A x - b|^2 / 2)`` with A and b (d, m).  None if the bumps are too
    narrow for it to pay.
    """
    d, rate = len(X), A.max(axis=1)
    low, high = X.min(axis=1) - BOX_MARGIN / rate, X.max(axis=1) + BOX_MARGIN / rate
    box, m = np.array([np.zeros(2), np.ones(2)]), [1, 1]
    for k in range(2 - d, 2):  # a line is the second axis
        box[:, k] = 0.5 * (high + low)[k - 2 + d], 0.5 * (high - low)[k - 2 + d]
        m[k] = nodes(float(box[1, k] * rate[k - 2 + d]), 4 * (k + 1))
    if m[0] * m[1] > NODES_PER_BUMP * heights.size:
        return None
    first = _at_nodes(A[0], b[0], box[:, 0], m[0]) if d == 2 else np.ones((1, heights.size))
    values = (first * heights) @ _at_nodes(A[-1], b[-1], box[:, 1], m[1]).T
    return np.asarray(_transform(m[0]) @ values @ _transform(m[1]).T), box


def nodes(s: float, step: int) -> int:
    """Number of nodes, in steps, for bumps ``s`` times narrower than half the box.

    >>> nodes(0.5, 8), nodes(4.0, 4), nodes(1e9, 8)
    (16, 44, 1025)
    """
    m = step
    while m <= MAX_NODES:
        u = 0.5 * asinh(2.0 * m / (s * s))  # where the bound is lowest
        if 0.5 * (s * sinh(u)) ** 2 - m * u < log(ROUNDING):
            return m
        m += step
    return MAX_NODES + 1


def _at_nodes(a: Array, b: Array, box: Array, m: int) -> Array:
    """Factors ``exp(-(a x - b)^2 / 2)`` of the bumps at the nodes of one axis, (m, bumps)."""
    e = np.multiply.outer(box[0] + box[1] * np.cos(_angles(m)), a)
    e -= b
    e *= e
    e *= -0.5
    return np.asarray(np.exp(e, out=e))


@lru_cache(maxsize=32)
def _transform(m: int) -> Array:
    """Matrix that maps values at the nodes to Chebyshev coefficients."""
    transform = 2.0 / m * np.cos(np.multiply.outer(np.arange(m), _angles(m)))
    transform[0] *= 0.5
    return np.asarray(transform)


def _angles(m: int) -> Array:
    return pi * (np.arange(m) + 0.5) / m
