r"""Curvatures of many points, for joint refinement, and their inverse: near and far parts apart.

The matrix K of inner products of the derivatives of N points' features, regularised by a share of
its diagonal, takes N^3 operations to factorise.  Wide scales have few degrees of freedom, which
some points represent for all (Nyström), and narrow ones join close points only.  So

.. math:: K \approx K_{\cdot l} K_{ll}^{-1} K_{l \cdot} + D

with landmarks l and the remainder D in blocks of neighbours: the partially independent conditional
approximation of Quiñonero-Candela and Rasmussen (2005), inverted by Woodbury's formula.
"""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined
from skh._numba.factor import factorize
from skh._numba.kernel_rows import squared_distances, transposed
from skh._numba.nested_scales import add_curvatures, weights_of
from skh._numba.plane_table import set_products
from skh._numba.vectors import add_scaled, dot, fill, set_scaled

CURVATURE_DAMPING = 0.5  # relative to those of single points; with less, points overshoot
MAX_LANDMARKS = 64  # at most: points that represent all others in wide scales
BLOCK_OF_NEIGHBOURS = 32  # points of a block
JITTER = 1e-6  # of the landmarks' curvatures, relative to their diagonal
ROWS = 4  # of matrices: a multiple of it


@inlined
def set_curvatures(row, q, X, first, last, c, groups):
    """Set ``row`` to the curvatures of point ``c`` and some others, averaged over coordinates.

    That is ``-k''(c - x_j)``, the inner product of the derivatives of two points' features.
    """
    squared_distances(q, X, first, last, c)
    fill(row, 0.0)
    for group in groups:
        add_curvatures(row, q, group[0], weights_of(group), c.size)


@compiled
def curvature_factor(X, groups):
    """Cholesky factor of the curvatures of all pairs, regularised by a share of the diagonal."""
    d, N = X.shape
    C, c, q, none = np.empty((N, N)), np.empty(d), np.empty(N), np.intp(0)  # see `protected_steps`
    for i in range(N):
        for k in range(d):
            c[k] = X[k, i]
        set_curvatures(C[i, : i + 1], q[: i + 1], X, none, i + 1, c, groups)
        C[i, i] *= 1.0 + CURVATURE_DAMPING
    factorize(C)
    return C


@compiled
def divide_rows(L, B):  # pragma: no cover - intrinsic
    """``B <- L^-1 B``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(len(B)):
        row, last = B[i], i - 1
        for j in range(0, i, 4):
            k, m, n = min(j + 1, last), min(j + 2, last), min(j + 3, last)
            a, b = L[i, j], L[i, k] if j < last else 0.0
            c, d = L[i, m] if j + 1 < last else 0.0, L[i, n] if j + 2 < last else 0.0
            for x in range(row.size):
                row[x] -= (a * B[j, x] + b * B[k, x]) + (c * B[m, x] + d * B[n, x])
        set_scaled(row, row, 1.0 / L[i, i])


@compiled
def invert(C):  # pragma: no cover - intrinsic
    """Replace a positive definite matrix by its inverse: all rows are swept by each in turn."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    n = len(C)
    row, column = np.empty(n), np.empty(n)
    for k in range(n):
        pivot = 1.0 / C[k, k]
        for j in range(n):
            row[j], column[j] = pivot * C[k, j], C[j, k]
            C[j, k], C[k, j] = 0.0, 0.0
        row[k], column[k] = pivot, -1.0
        for i in range(n):
            for j in range(n):
                C[i, j] -= column[i] * row[j]


@inlined
def set_near(near, q, X, start, alone, groups):
    """Curvatures within a block, regularised; the identity's where the last has no points."""
    (d, N), m = X.shape, len(near)
    c, end = np.empty(d), min(start + m, N)
    for i in range(m):
        fill(near[i], 0.0)
        if start + i < N:
            for k in range(d):
                c[k] = X[k, start + i]
            set_curvatures(near[i, : end - start], q[: end - start], X, start, end, c, groups)
        near[i, i] = (1.0 + CURVATURE_DAMPING) * alone


@compiled
def inverse_curvatures(X, groups):
    """Return the blocks (G, m, m) and roots (l, N) of ``K^-1 = blocks - roots' roots``.

    The columns of ``X`` (d, N) are ordered along a curve and taken m by m.
    """
    (d, N), m, none = X.shape, BLOCK_OF_NEIGHBOURS, np.intp(0)
    G, step = (N + m - 1) // m, (N + MAX_LANDMARKS - 1) // MAX_LANDMARKS
    landmarks = (N + step - 1) // step
    rows = (landmarks + ROWS - 1) // ROWS * ROWS
    far, corrected, L = np.zeros((rows, G * m)), np.empty((rows, G * m)), np.empty((rows, rows))
    near, c, q = np.empty((G, m, m)), np.empty(d), np.empty(N)
    for i in range(landmarks):
        for k in range(d):
            c[k] = X[k, i * step]
        set_curvatures(far[i, :N], q, X, none, N, c, groups)
    alone = far[0, 0]
    for i in range(rows):
        for j in range(rows):
            L[i, j] = far[i, j * step] if j < landmarks else 0.0
        L[i, i] = (1.0 + JITTER) * alone
    factorize(L)
    divide_rows(L, far)
    own, product, covered = np.empty((rows, m)), np.empty((rows, m)), np.empty((m, m))
    for g in range(G):
        for i in range(rows):
            for j in range(m):
                own[i, j] = far[i, g * m + j]
        set_near(near[g], q, X, g * m, alone, groups)
        others = transposed(own)
        set_products(covered, others, others)
        for i in range(m):
            add_scaled(near[g, i], covered[i], -1.0)
        invert(near[g])
        set_products(product, own, near[g])
        for i in range(rows):
            for j in range(m):
                corrected[i, g * m + j] = product[i, j]
    set_products(L, far, corrected)
    for i in range(rows):
        L[i, i] += 1.0
    factorize(L)
    divide_rows(L, corrected)
    return near, corrected


@inlined
def solve_near_and_far(part, near, far):
    """Replace ``part`` by its product with the inverse of `inverse_curvatures`."""
    N, m = part.size, near.shape[1]
    whole, product = np.zeros(far.shape[1]), np.empty(far.shape[1])
    for i in range(N):
        whole[i] = part[i]
    for i in range(N):
        block = i // m
        product[i] = dot(near[block, i - block * m], whole[block * m : (block + 1) * m])
    for j in range(len(far)):
        add_scaled(product, far[j], -dot(far[j], whole))
    for i in range(N):
        part[i] = product[i]
