"""Gaussian algebra, batched over leading axes: densities, conditioning, checks."""

from __future__ import annotations

from math import log, pi

import numpy as np

from skh._numba.cholesky import factor
from skh._typing import Array

ASYMMETRY_TOLERANCE = 1e-8  # tolerated asymmetry of a covariance, relative to its largest entry
RELATIVE_ROUNDING = 1e-12  # a spread this small, relative to the values, is rounding
SINGULAR_VARIANCE = 1e-13  # conditional variance, relative to the variance, that counts as zero
MIN_DEVIATION = 1e-140  # its square times a jitter must not underflow
NEGATIVE_TOLERANCE = 1e-10  # tolerated negative eigenvalue, relative to the largest entry


def log_density(residual: Array, covariance: Array, name: str = "covariance") -> Array:
    """``log N(residual | 0, covariance)`` for residuals (..., m) and covariances (..., m, m).

    >>> log_density(np.zeros(1), np.eye(1)).round(4)
    np.float64(-0.9189)
    """
    L = positive_root(name, covariance)
    u = np.linalg.solve(L, residual[..., None])[..., 0]
    log_det = np.log(np.linalg.diagonal(L)).sum(-1)
    with np.errstate(over="ignore"):  # far outliers have density zero
        square = (u**2).sum(-1)
    result: Array = -0.5 * square - log_det - 0.5 * residual.shape[-1] * log(2 * pi)
    return result


def positive_root(name: str, S: Array) -> Array:
    """Return Cholesky factors; raise a ValueError unless S is positive definite beyond rounding."""
    try:
        L = np.asarray(np.linalg.cholesky(S), dtype=np.float64)
    except np.linalg.LinAlgError:
        L = np.zeros_like(S)
    if (np.linalg.diagonal(L) ** 2 <= SINGULAR_VARIANCE * np.linalg.diagonal(S)).any():
        raise ValueError(f"{name} must be positive definite, got {_lowest(S)}")
    return L


def transpose(A: Array) -> Array:
    """Transpose each matrix of a stack."""
    return A.swapaxes(-1, -2)


def apply(A: Array, x: Array) -> Array:
    """``A x`` for stacks of matrices (..., k, d) and vectors (..., d)."""
    return np.asarray((A @ x[..., None])[..., 0])


def symmetric(S: Array) -> Array:
    """Symmetric part of each matrix, to remove rounding errors from a covariance."""
    return (S + transpose(S)) / 2


def condition(
    m: Array, P: Array, residual: Array, C: Array, R: Array, name: str = "a measurement"
) -> tuple[Array, Array, Array]:
    """Condition N(m, P) on a measurement with matrix C and noise covariance R: a Kalman update.

    ``residual`` is the measurement minus its prediction; ``name`` is used in error messages.
    Returns means, covariances (Joseph's form, semi-definite despite rounding), log-likelihoods.
    """
    S = symmetric(C @ P @ transpose(C) + R)
    log_likelihood = log_density(residual, S, f"the covariance of {name}, C P C' + R,")
    gain = transpose(np.asarray(np.linalg.solve(S, C @ P)))
    keep = np.eye(m.shape[-1]) - gain @ C
    P = keep @ P @ transpose(keep) + gain @ R @ transpose(gain)
    return m + apply(gain, residual), symmetric(P), log_likelihood


def mixture_moments(w: Array, m: Array, P: Array) -> tuple[Array, Array]:
    """Mean and covariance of the mixture of N(m_k, P_k) with weights w_k."""
    mean = w @ m
    centred = m - mean
    return mean, np.einsum("k,kij->ij", w, P) + (w * centred.T) @ centred


def check_covariance(name: str, S: Array) -> None:
    """Raise a ValueError unless S is symmetric positive semi-definite up to rounding."""
    scale = np.abs(S).max(axis=(-1, -2), keepdims=True)
    asymmetry = np.abs(S - transpose(S))
    if (asymmetry > ASYMMETRY_TOLERANCE * scale).any():
        raise ValueError(f"{name} must be symmetric, got an asymmetry of {asymmetry.max():.3g}")
    scale[scale == 0.0] = 1.0
    try:
        np.linalg.cholesky(S / scale + NEGATIVE_TOLERANCE * np.eye(S.shape[-1]))
    except np.linalg.LinAlgError:
        raise ValueError(f"{name} must be positive semi-definite, got {_lowest(S)}") from None


def _lowest(S: Array) -> str:
    """Describe the lowest eigenvalue of a matrix or a stack for an error message."""
    values = np.linalg.eigvalsh(S).min(axis=-1)
    where = f" of matrix {values.argmin()}" if S.ndim == 3 else ""
    return f"an eigenvalue {values.min():.6g}{where}"


def factorize(S: Array) -> tuple[Array, Array]:
    """Return S, with negative eigenvalues (rounding) set to zero, and L with L L' = S."""
    try:
        return S, np.asarray(np.linalg.cholesky(S))
    except np.linalg.LinAlgError:  # singular
        values, vectors = np.linalg.eigh(S)
    L = np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])
    return symmetric(L @ transpose(L)), L


def check_and_factorize(name: str, S: Array) -> tuple[Array, Array]:
    """`check_covariance`, then `factorize`; one pass suffices for a positive definite stack."""
    if S.ndim == 3:
        S, L = np.ascontiguousarray(S), np.empty(S.shape)
        if factor(L, S, ASYMMETRY_TOLERANCE):
            return S, L
    check_covariance(name, S)
    return factorize(S)


def standard_deviations(variances: Array, values: Array) -> Array:
    """Standard deviations of the columns of ``values``, with a small number in place of zero.

    >>> standard_deviations(np.array([4.0, 1e-32, 0.0]), np.array([[1.0, 3.0, 0.0]]))
    array([2.e+00, 3.e-06, 1.e+00])
    """
    sd, size = np.sqrt(np.maximum(variances, 0.0)), np.abs(values).max(axis=0)
    nothing = np.where(size > 0.0, 1e-6 * size, 1.0)  # replaces spreads within rounding
    return np.maximum(np.where(sd > RELATIVE_ROUNDING * size, sd, nothing), MIN_DEVIATION)


def inverse_root(B: Array) -> Array:
    """Lower triangular W with W'W = B^-1, for B = I + A with positive semi-definite A."""
    try:
        L = np.linalg.cholesky(B)
    except np.linalg.LinAlgError:  # A is so large that rounding hides I
        scale = np.abs(B).max(axis=(-1, -2), keepdims=True)
        L = np.linalg.cholesky(B + 1e-14 * scale * np.eye(B.shape[-1]))
    return np.asarray(np.linalg.inv(L))


def whitener(B: Array) -> tuple[Array, Array]:
    """Return `inverse_root` and its determinant."""
    W = inverse_root(B)
    return W, np.linalg.diagonal(W).prod(-1)


def block_matrix(S: Array, cross: Array, V: Array) -> Array:
    """Assemble the symmetric matrices [[S, cross], [cross', V]]; leading axes are broadcast."""
    batch = np.broadcast_shapes(S.shape[:-2], cross.shape[:-2], V.shape[:-2])
    d, k = cross.shape[-2:]
    block_matrix = np.empty((*batch, d + k, d + k))
    block_matrix[..., :d, :d], block_matrix[..., d:, d:] = S, V
    block_matrix[..., :d, d:], block_matrix[..., d:, :d] = cross, transpose(cross)
    return block_matrix


def right_divide(B: Array, S: Array) -> Array:
    """``B S^-1`` for positive semi-definite S; directions without variance are ignored."""
    try:
        np.linalg.cholesky(S)  # rounding may let a singular S pass; then `solve` raises
        return transpose(np.asarray(np.linalg.solve(S, transpose(B))))
    except np.linalg.LinAlgError:
        return np.asarray(B @ np.linalg.pinv(S, rcond=1e-12, hermitian=True))
