r"""Chebyshev interpolation of a mean map in one or two dimensions.

A mean map is a sum of Gaussian bumps, hence an entire function: on a box of half-width r its
Chebyshev coefficients fall off faster than exponentially beyond r / l, for the narrowest bump's
length l.  With :math:`s = r / l` the error of degree m is at most about
:math:`\exp(s^2 \sinh^2(u) / 2 - m u)` for all u > 0 (Trefethen, 2013, theorem 8.2), so all digits
are kept.  Bumps with common axes are products over the axes: a matrix product sums them up.
"""

from __future__ import annotations

from functools import lru_cache
from math import asinh, ceil, log, pi, sinh

import numpy as np

from skh._numba.chebyshev_on_line import reach, values_at_nodes
from skh._typing import Array

ROUNDING = 1e-13  # bound on the error, relative to the kernel; the error is some 100 times smaller
NODES_PER_BUMP = 4, 1  # at most, on a line and a plane; else summing up the bumps is faster
BOX_MARGIN = 0.5  # around the points that the box is for, in lengths of the narrowest bump
MAX_NODES = 1024  # along an axis


def interpolated(A: Array, b: Array, heights: Array, X: Array) -> tuple[Array, Array] | None:
    """Return coefficients (m, n) and a box (2, 2) around ``X`` (d, N), its centre and half-widths.

    On a line both are vectors.  The bumps are ``heights exp(-|A x - b|^2 / 2)`` with A and b
    (d, m).  None if the bumps are too narrow for it to pay.
    """
    if len(X) == 1:
        return on_line(A, b, heights, X)
    rate = A.max(axis=1)
    low, high = X.min(axis=1) - BOX_MARGIN / rate, X.max(axis=1) + BOX_MARGIN / rate
    box = 0.5 * np.array([high + low, high - low])
    m, n = (nodes(s, step) for s, step in zip((box[1] * rate).tolist(), (4, 8), strict=True))
    if m * n > NODES_PER_BUMP[1] * heights.size:
        return None
    first = _at_nodes(A[0], b[0], box[:, 0], m)
    values = (first * heights) @ _at_nodes(A[1], b[1], box[:, 1], n).T
    return np.asarray(_transform(m) @ values @ _transform(n).T), box


def on_line(A: Array, b: Array, heights: Array, X: Array) -> tuple[Array, Array] | None:
    """`interpolated` in one dimension."""
    rate, low, high = reach(A, X)
    half = 0.5 * (high - low) + BOX_MARGIN / rate
    m = _nodes_on_line(ceil(min(half * rate, MAX_NODES)))
    if m > NODES_PER_BUMP[0] * heights.size:
        return None
    centre = 0.5 * (high + low)
    values = values_at_nodes(A, b, heights, centre, half, m)
    return _transform(m) @ values, np.array([centre, half])


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


@lru_cache(maxsize=256)
def _nodes_on_line(s: int) -> int:
    return nodes(s, 8)


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
