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
from numpy.typing import NDArray

from skh._numba.chebyshev_on_line import set_box, set_table
from skh._numba.plane_table import CELL, add_coefficients, set_cells, set_reach
from skh._typing import Array

ROUNDING = 1e-13  # bound on the error, relative to the kernel; the error is some 100 times smaller
NODES_PER_BUMP = 4, 8  # at most, on a line and a plane; else summing up the bumps is faster
NODES_IN_PLANE = 1 << 14  # that never take long
BOX_MARGIN = 0.5  # around the points that the box is for, in lengths of the narrowest bump
MAX_NODES = 1024  # along an axis


def interpolated(
    A: Array, b: Array, heights: Array, X: Array, scales: int = 1
) -> tuple[Array, Array] | None:
    """Return coefficients (m, n), or (m,) on a line, and a box around ``X`` (d, N).

    The box (2, 2), or (2,) on a line, is its centre and half-widths.

    The bumps are ``heights exp(-|A x - b|^2 / 2)`` with A and b (d, bumps), those of each of so
    many scales together: wide ones have few coefficients.  None if they are too narrow for it to
    pay.
    """
    if len(X) == 1:
        return on_line(A, b, heights, X)
    rates, box = np.empty((scales, 2)), np.empty((2, 2))
    set_reach(rates, box, A, X, BOX_MARGIN)
    sizes = [(nodes(s, 4), nodes(t, 8)) for s, t in np.ceil(rates * box[1]).tolist()]
    m, n = (max(along) for along in zip(*sizes, strict=True))
    if m * n > max(NODES_IN_PLANE, NODES_PER_BUMP[1] * heights.size):
        return None
    table, K = np.zeros((m, n)), heights.size // scales
    for s, along in enumerate(sizes):
        add_coefficients(table, A, b, heights, s * K, K, box, *map(_transform, along))
    return table, box


def in_cells(table: Array, box: Array, A: Array) -> NDArray[np.float32]:
    """Return the polynomials of cells as wide as the narrowest bump, in single precision."""
    counts = np.ceil(2.0 * A.max(axis=1) * box[1]).astype(int).tolist()
    cells = np.empty((*counts, CELL, CELL), np.float32)
    set_cells(cells, table, *map(_to_cells, table.shape, counts))
    return cells


@lru_cache(maxsize=32)
def _to_cells(m: int, cells: int) -> Array:
    """Map coefficients on [-1, 1] to the powers' on each of its cells, one after the other."""
    x = np.cos(_angles(CELL))
    places = np.add.outer(2.0 * np.arange(cells) + 1.0, x) / cells - 1.0
    values = np.cos(np.multiply.outer(np.arccos(places), np.arange(m)))  # (cells, CELL, m)
    powers = np.linalg.inv(np.vander(x, increasing=True))
    return np.ascontiguousarray((powers @ values).reshape(-1, m))


def on_line(A: Array, b: Array, heights: Array, X: Array) -> tuple[Array, Array] | None:
    """`interpolated` in one dimension."""
    box = np.empty(2)
    m = nodes(ceil(min(set_box(box, A, X, BOX_MARGIN), MAX_NODES)), 8)
    if m > NODES_PER_BUMP[0] * heights.size:
        return None
    table = np.empty(m)
    set_table(table, box, A, b, heights, *_nodes_and_transform(m))
    return table, box


@lru_cache(maxsize=256)
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


@lru_cache(maxsize=32)
def _nodes_and_transform(m: int) -> tuple[Array, Array]:
    """Chebyshev nodes in [-1, 1], and the transposed `_transform`."""
    return np.cos(_angles(m)), np.ascontiguousarray(_transform(m).T)


@lru_cache(maxsize=32)
def _transform(m: int) -> Array:
    """Matrix that maps values at the nodes to Chebyshev coefficients."""
    transform = 2.0 / m * np.cos(np.multiply.outer(np.arange(m), _angles(m)))
    transform[0] *= 0.5
    return np.asarray(transform)


def _angles(m: int) -> Array:
    return pi * (np.arange(m) + 0.5) / m
