r"""Parabolas as features of unit prior variance, and back; see `filtering.surrogates.parabola`.

With :math:`u = R^\top z`, R a root of S and s its trace, the features are :math:`(1 + s) / \sqrt2`,
:math:`\sqrt{1 + s}\, u_i`, and :math:`\sqrt{\kappa / 2}\, u_i u_j` for i <= j, the products with
i < j times :math:`\sqrt2`.  Without :math:`\kappa` there are no products.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._numba.compiling import compiled


@compiled
def trace_of_square(root):
    """Trace of ``root root'``."""
    total = 0.0
    for i in range(len(root)):
        for j in range(len(root)):
            total += root[i, j] * root[i, j]
    return total


@compiled
def quadratic_features(z, root, kappa):
    """Features (n, m) at the rows of ``z``."""
    (n, d), s = z.shape, 1.0 + trace_of_square(root)
    out = np.empty((n, 1 + d + (d * (d + 1) // 2 if kappa > 0.0 else 0)))
    for k in range(n):
        out[k, 0] = s / sqrt(2.0)
        u = out[k, 1 : d + 1]
        for i in range(d):
            u[i] = 0.0
            for j in range(d):
                u[i] += root[j, i] * z[k, j]
        if kappa > 0.0:
            column = d + 1
            for i in range(d):
                for j in range(i, d):
                    out[k, column] = sqrt(kappa / 2.0 if i == j else kappa) * u[i] * u[j]
                    column += 1
        for i in range(d):
            u[i] *= sqrt(s)
    return out


@compiled
def quadratic_coefficients(theta, root, kappa):
    """Return (c, b, -H) of the parabola with coefficients ``theta`` of the features."""
    d, s = len(root), 1.0 + trace_of_square(root)
    b, M, H = np.zeros(d), np.zeros((d, d)), np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            b[i] += sqrt(s) * root[i, j] * theta[1 + j]
    if kappa > 0.0:
        column = d + 1
        for i in range(d):
            for j in range(i, d):
                M[i, j] = sqrt(2.0 * kappa if i == j else kappa) * theta[column]
                M[j, i] = M[i, j]
                column += 1
    for i in range(d):
        for j in range(d):
            across = 0.0
            for k in range(d):
                across += M[i, k] * root[j, k]
            for k in range(d):
                H[k, j] += root[k, i] * across
    return theta[0] * s / sqrt(2.0), b, H


@compiled
def values_of_parabola(z, c, b, H):
    """``c + b'z - z'Hz / 2`` at the rows of ``z``."""
    (n, d), out = z.shape, np.empty(len(z))
    for k in range(n):
        out[k] = c
        for i in range(d):
            falling = 0.0
            for j in range(d):
                falling += H[i, j] * z[k, j]
            out[k] += z[k, i] * (b[i] - 0.5 * falling)
    return out


@compiled
def relative_to_noise(features, z, level, H0, size):
    """Features, and values less the prior mean -z'H0 z / 2, over the noise's ``size``."""
    y = values_of_parabola(z, 0.0, np.zeros(len(H0)), H0)
    A = np.empty(features.shape)
    for k in range(y.size):
        y[k] = (level[k] - y[k]) / size[k]
        for j in range(A.shape[1]):
            A[k, j] = features[k, j] / size[k]
    return A, y
