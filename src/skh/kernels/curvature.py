r"""Inverse of the curvatures of many points, for joint refinement: near and far parts apart.

The matrix K of inner products of the derivatives of N points' features, regularised by a share of
its diagonal, takes N^3 operations to factorise.  Wide scales have few degrees of freedom, which
some points represent for all (Nyström), and narrow ones join close points only.  So

.. math:: K \approx K_{\cdot l} K_{ll}^{-1} K_{l \cdot} + D

with landmarks l and the remainder D in blocks of neighbours: the partially independent conditional
approximation of Quiñonero-Candela and Rasmussen (2005), inverted by Woodbury's formula.
"""

from __future__ import annotations

import numpy as np

from skh._numba.lbfgs import CURVATURE_DAMPING, curvatures
from skh._numba.nested_scales import GROUP
from skh._typing import Array
from skh.gaussians.linear_algebra import identity, inverse_triangle

MAX_LANDMARKS = 64  # at most: points that represent all others in wide scales
MAX_NEIGHBOURS = 32  # at most: points of a block
JITTER = 1e-6  # of the landmarks' curvatures, relative to their diagonal


def inverse_curvatures(X: Array, groups: Array) -> tuple[Array, Array]:
    """Return the blocks (G, m, m) and roots (l, N) of ``K^-1 = blocks - roots' roots``.

    The columns of ``X`` (d, N) are ordered along a curve and taken m by m; the last block may have
    fewer.
    """
    N, alone = X.shape[1], float(2.0 * groups[:, 0] @ groups[:, 1:] @ 10.0 ** np.arange(GROUP))
    landmarks = slice(None, None, -(-N // MAX_LANDMARKS))
    chosen = np.ascontiguousarray(X[:, landmarks])
    far = curvatures(chosen, X, np.zeros(chosen.shape[1], np.intp), N, groups)
    L = np.linalg.cholesky(far[:, landmarks] + JITTER * alone * identity(len(far)))
    far = inverse_triangle(L) @ far
    near, own = _blocks(X, groups, alone), _in_blocks(far)
    near = np.asarray(np.linalg.inv(near - own @ own.transpose(0, 2, 1)))
    corrected = (near @ own).reshape(-1, len(far))[:N]
    M = identity(len(far)) + far @ corrected
    return near, inverse_triangle(np.linalg.cholesky(M)) @ corrected.T


def _in_blocks(far: Array) -> Array:
    """Rows (l, N) as (G, m, l), filled up with zeros."""
    G, m = _shape(far.shape[1])
    padded = np.zeros((G * m, len(far)))
    padded[: far.shape[1]] = far.T
    return padded.reshape(G, m, -1)


def _blocks(X: Array, groups: Array, alone: float) -> Array:
    """Curvatures within blocks (G, m, m), regularised; an identity where the last has no points."""
    N = X.shape[1]
    G, m = _shape(N)
    padded = np.pad(X, ((0, 0), (0, G * m - N)))
    near: Array = curvatures(padded, padded, np.arange(G * m) // m * m, m, groups)
    near = near.reshape(G, m, m)
    last = N - (G - 1) * m
    near[-1, last:], near[-1, :, last:] = 0.0, 0.0
    near[:, range(m), range(m)] = (1.0 + CURVATURE_DAMPING) * alone
    return near


def _shape(N: int) -> tuple[int, int]:
    """Number of blocks of N points, and points in each."""
    G = -(-N // MAX_NEIGHBOURS)
    m = -(-N // G)
    return -(-N // m), m
