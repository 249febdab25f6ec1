"""Gaussian algebra, batched over leading axes: densities, conditioning, checks."""

from __future__ import annotations

from math import log, pi

import numpy as np

from skh._numba.cholesky import factor
from skh._typing import Array

ASYMMETRY_TOLERANCE = 1e-8  # tolerated asymmetry of a covariance, relative to its largest entry
RELATIVE_ROUNDING = 1e-12  # a spread this small, relative to the values, is rounding
SINGULAR_VARIANCE = 1e-13  # conditional variance, relative to the variance, that is rounding
NEGATIVE_TOLERANCE = 1e-10  # tolerated negative eigenvalue, relative to the largest entry


def log_density(residual: Array, covariance: Array, name: str = "covariance") -> Array:
    """``log N(residual | 0, covariance)`` for residuals (..., m) and covariances (..., m, m).

    A singular covariance has none; the error calls it by its ``name``.

    >>> log_density(np.zeros(1), np.eye(1)).round(4)
    np.float64(-0.9189)
    """
    L = positive_root(name, covariance)
    u = np.linalg.solve(L, residual[..., None])[..., 0]
    log_det = np.log(np.linalg.diagonal(L)).sum(-1)
    with np.errstate(over="ignore"):  # the density of what is absurdly far away is zero
        square = (u**2).sum(-1)
    result: Array = -0.5 * square - log_det - 0.5 * residual.shape[-1] * log(2 * pi)
    return result


def positive_root(name: str, S: Array) -> Array:
    """The Cholesky factors of matrices that are positive definite by more than rounding."""
    try:
        L = np.asarray(np.linalg.cholesky(S), dtype=np.float64)
    except np.linalg.LinAlgError:
        L = np.zeros_like(S)
    if (np.linalg.diagonal(L) ** 2 <= SINGULAR_VARIANCE * np.linalg.diagonal(S)).any():
        raise ValueError(f"{name} must be positive definite, got {_lowest(S)}")
    return L


def transpose(A: Array) -> Array:
    """The transpose of each matrix of a stack."""
    return A.swapaxes(-1, -2)


def apply(A: Array, x: Array) -> Array:
    """``A x`` for stacks of matrices (..., k, d) and vectors (..., d)."""
    return np.asarray((A @ x[..., None])[..., 0])


def symmetric(S: Array) -> Array:
    """The symmetric part of each matrix: takes the rounding out of a computed covariance."""
    return (S + transpose(S)) / 2


def condition(
    m: Array, P: Array, residual: Array, C: Array, R: Array, name: str = "a measurement"
) -> tuple[Array, Array, Array]:
    """Condition N(m, P) on a measurement with matrix C and noise R: one step of a Kalman filter.

    ``residual`` is the measurement minus its prediction, which an error calls by its ``name``.
    Returns the means, the covariances in Joseph's form (positive semi-definite whatever the
    rounding), and the log-likelihood.
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
    """Refuse what is not symmetric positive semi-definite, up to rounding; zero is allowed."""
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
    """The lowest eigenvalue of one matrix or of a stack, in words."""
    values = np.linalg.eigvalsh(S).min(axis=-1)
    where = f" of matrix {values.argmin()}" if S.ndim == 3 else ""
    return f"an eigenvalue {values.min():.6g}{where}"


def factorize(S: Array) -> tuple[Array, Array]:
    """Each matrix S, cleared of eigenvalues that rounding made negative, and L with L L' = S."""
    try:
        return S, np.asarray(np.linalg.cholesky(S))
    except np.linalg.LinAlgError:  # singular
        values, vectors = np.linalg.eigh(S)
    L = np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])
    return symmetric(L @ transpose(L)), L


def check_and_factorize(name: str, S: Array) -> tuple[Array, Array]:
    """`check_covariance`, then `factorize`; a stack that is positive definite needs one pass."""
    if S.ndim == 3:
        S, L = np.ascontiguousarray(S), np.empty(S.shape)
        if factor(L, S, ASYMMETRY_TOLERANCE):
            return S, L
    check_covariance(name, S)
    return factorize(S)


def standard_deviations(variances: Array, values: Array) -> Array:
    """Standard deviations of the columns of ``values``; something small where there is none.

    What is no more than rounding is no spread.  What takes its place is so small that points moved
    on that scale differ by no more than rounding either.

    >>> deviations(np.array([4.0, 1e-32, 0.0]), np.array([[1.0, 3.0, 0.0]]))
    array([2.e+00, 3.e-06, 1.e+00])
    """
    sd, size = np.sqrt(np.maximum(variances, 0.0)), np.abs(values).max(axis=0)
    nothing = np.where(size > 0.0, 1e-6 * size, 1.0)
    return np.where(sd > RELATIVE_ROUNDING * size, sd, nothing)


def inverse_root(B: Array) -> Array:
    """Lower triangular W with W'W = B^-1, for B = I + something positive semi-definite.

    Where that something is so large that rounding hides the I, the factorisation can fail; then B
    is raised by as much as it is uncertain, which no result can notice.
    """
    try:
        L = np.linalg.cholesky(B)
    except np.linalg.LinAlgError:
        scale = np.abs(B).max(axis=(-1, -2), keepdims=True)
        L = np.linalg.cholesky(B + 1e-14 * scale * np.eye(B.shape[-1]))
    return np.asarray(np.linalg.inv(L))


def whitener(B: Array) -> tuple[Array, Array]:
    """`inverse_root` and its determinant."""
    W = inverse_root(B)
    return W, np.linalg.diagonal(W).prod(-1)


def block_matrix(S: Array, cross: Array, V: Array) -> Array:
    """The symmetric matrices [[S, cross], [cross', V]]; leading axes are broadcast."""
    batch = np.broadcast_shapes(S.shape[:-2], cross.shape[:-2], V.shape[:-2])
    d, k = cross.shape[-2:]
    block_matrix = np.empty((*batch, d + k, d + k))
    block_matrix[..., :d, :d], block_matrix[..., d:, d:] = S, V
    block_matrix[..., :d, d:], block_matrix[..., d:, :d] = cross, transpose(cross)
    return block_matrix


def right_divide(B: Array, S: Array) -> Array:
    """``B S^-1`` for positive semi-definite S; directions without any variance are left out."""
    try:
        np.linalg.cholesky(S)  # succeeds by rounding on some that `solve` finds singular
        return transpose(np.asarray(np.linalg.solve(S, transpose(B))))
    except np.linalg.LinAlgError:
        return np.asarray(B @ np.linalg.pinv(S, rcond=1e-12, hermitian=True))
