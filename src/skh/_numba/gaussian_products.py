"""Products of the components of a Gaussian mixture and a Gaussian-shaped function."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.reweighting import set_reweighted


@compiled
def product_root(R, L, H):
    """Set ``R`` to L M^-T with M M' = I + L'HL, lower triangular; return log det M.

    Pivots of M are at least one: only rounding makes them smaller.
    """
    d, log_det = len(L), 0.0
    HL, M = np.empty((d, d)), np.empty((d, d))
    for i in range(d):
        for j in range(d):
            HL[i, j] = 0.0
            for a in range(d):
                HL[i, j] += H[i, a] * L[a, j]
    for j in range(d):
        for i in range(j, d):
            entry = 1.0 if i == j else 0.0
            for a in range(d):
                entry += L[a, i] * HL[a, j]
            for c in range(j):
                entry -= M[i, c] * M[j, c]
            M[i, j] = entry / M[j, j] if i > j else sqrt(max(entry, 1.0))
        log_det += log(M[j, j])
    for i in range(d):
        for j in range(d):
            entry = L[i, j]
            for c in range(j):
                entry -= R[i, c] * M[j, c]
            R[i, j] = entry / M[j, j]
    return log_det


@compiled
def multiplied(weights, means, roots, c, b, H, m):
    """Multiply components by ``exp(c + b'(x - m) - (x - m)'H(x - m) / 2)``.

    ``roots`` are those of the covariances (1 or K, d, d).  Return means, covariances, normalised
    weights and the logarithm of the integral; the formulas are in `gaussians.bump`.
    """
    (K, d), own = means.shape, len(roots)
    R, S, log_det = np.empty(roots.shape), np.empty(roots.shape), np.empty(own)
    for k in range(own):
        log_det[k] = product_root(R[k], roots[k], H)
        for i in range(d):
            for j in range(i + 1):
                entry = 0.0
                for a in range(d):
                    entry += R[k, i, a] * R[k, j, a]
                S[k, i, j] = S[k, j, i] = entry
    moved, log_Z = np.empty((K, d)), np.empty(K)
    off, slope, h = np.empty(d), np.empty(d), np.empty(d)
    for k in range(K):
        root = R[k % own]
        log_Z[k] = c - log_det[k % own]
        for i in range(d):
            off[i] = means[k, i] - m[i]
        for i in range(d):
            falling = 0.0
            for j in range(d):
                falling += H[i, j] * off[j]
            slope[i] = b[i] - falling
            log_Z[k] += 0.5 * off[i] * (b[i] + slope[i])
        for a in range(d):
            h[a] = 0.0
            for i in range(d):
                h[a] += root[i, a] * slope[i]
            log_Z[k] += 0.5 * h[a] * h[a]
        for i in range(d):
            moved[k, i] = means[k, i]
            for a in range(d):
                moved[k, i] += root[i, a] * h[a]
    w = np.empty(weights.size)
    log_norm = set_reweighted(w, weights, log_Z)
    return moved, S, w, log_norm
