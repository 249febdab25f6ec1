"""Linear algebra that does not depend on the units of coordinates.

Elimination with pivoting compares entries of different rows, which is only sensible in similar
units.  Rows and columns are therefore scaled first, by powers of two, which is exact; and only
where they differ by more than 2^16, so that all other results stay the same to the bit.
"""

from __future__ import annotations

import numpy as np

from skh._numba.units import set_units
from skh._typing import Array


def units(sizes: Array) -> Array:
    """Unit of each coordinate, given the ``sizes`` (..., d) of typical values; 1 for size zero.

    >>> (units(np.array([3.0, 2e-3, 0.0, 2e-9])) * 2.0**16).astype(int)
    array([65536, 65536, 65536,     1])
    """
    unit = np.empty(sizes.shape)
    set_units(unit.reshape(-1, sizes.shape[-1]), np.array(sizes).reshape(-1, sizes.shape[-1]))
    return unit


def deviations(S: Array) -> Array:
    """Standard deviations of covariances (..., d, d), with 1 in place of zero."""
    variances = np.linalg.diagonal(S)
    return np.sqrt(np.where(variances > 0.0, variances, 1.0))


def correlations(S: Array) -> tuple[Array, Array]:
    """Return `deviations` and the covariances in these units."""
    sd = deviations(S)
    return sd, S / sd[..., :, None] / sd[..., None, :]


def divide(S: Array, B: Array) -> Array:
    """``S^-1 B`` for positive definite S (..., d, d) and B (..., d, k)."""
    unit = units(deviations(S))[..., None]
    S = S / unit / unit.swapaxes(-1, -2)
    return np.asarray(np.linalg.solve(S, B / unit) / unit)


def divide_lower(L: Array, b: Array) -> Array:
    """``L^-1 b`` for matrices L (..., d, d), such as Cholesky factors, and vectors b (..., d)."""
    unit = units(np.abs(L).max(axis=-1))
    if L.ndim == 2 and b.ndim == 2:  # one factorisation for all
        return np.asarray(np.linalg.solve(L / unit[:, None], (b / unit).T).T)
    return np.asarray(np.linalg.solve(L / unit[..., None], (b / unit)[..., None])[..., 0])


def invert(A: Array) -> Array:
    """Inverses of matrices (..., d, d); scaled by rows, then by columns."""
    rows = units(np.abs(A).max(axis=-1))[..., :, None]
    columns = units(np.abs(A / rows).max(axis=-2))[..., None, :]
    inverse = np.linalg.inv(A / rows / columns)
    return np.asarray(inverse / rows.swapaxes(-1, -2) / columns.swapaxes(-1, -2))


def invertible(A: Array) -> bool:
    """Whether a matrix is square and regular beyond rounding, in any units."""
    if A.shape[0] != A.shape[1]:
        return False
    for axis in (1, 0):
        size = np.abs(A).max(axis=axis, keepdims=True)
        A = A / np.where(size > 0.0, size, 1.0)
    return bool(np.linalg.matrix_rank(A) == len(A))
