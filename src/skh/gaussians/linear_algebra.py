"""Gaussian algebra, batched over leading axes: densities, conditioning, checks.

Results do not depend on the units of coordinates: what is singular, asymmetric or negative is
decided relative to the standard deviations of the coordinates concerned.
"""

from __future__ import annotations

from functools import lru_cache
from math import isnan, log, pi

import numpy as np
from numpy.linalg._umath_linalg import eigh_lo

from skh._numba.cholesky import (
    SINGULAR_VARIANCE,
    all_exceed,
    factor,
    inverse_roots,
    invert_lower,
    semidefinite_factors,
)
from skh._numba.spreads import deviations_or_tiny, regular_root, symmetric_part
from skh._typing import Array
from skh.gaussians.units import (
    correlations,
    deviations,
    divide,
    divide_lower,
    units,
)

ASYMMETRY_TOLERANCE = 1e-8  # tolerated asymmetry of a correlation
NEGATIVE_TOLERANCE = 1e-8  # tolerated negative eigenvalue of a correlation matrix
CANCELLED = 1e-14  # a sum this small, relative to its terms, is rounding
NO_VARIANCE = 1e-10  # variances below zero by less, relative to the largest entry, are zero
HIDDEN_IDENTITY = 1e-14  # share of the variances added to I + A where rounding hides I
SINGULAR_EIGENVALUE = 1e-12  # of a correlation matrix, relative to the largest


def log_density(residual: Array, covariance: Array, name: str = "covariance") -> Array:
    """``log N(residual | 0, covariance)`` for residuals (..., m) and covariances (..., m, m).

    >>> log_density(np.zeros(1), np.eye(1)).round(4)
    np.float64(-0.9189)
    """
    L = positive_root(name, covariance)
    u = divide_lower(L, residual)
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
    if not _regular(L, S).all():
        raise ValueError(f"{name} must be positive definite, got {_lowest(S)}")
    return L


def _regular(L: Array, S: Array) -> Array:
    """Whether S = L L' is positive definite beyond rounding, for each matrix of a stack."""
    pivots = np.linalg.diagonal(L) ** 2
    return np.asarray((pivots > SINGULAR_VARIANCE * np.linalg.diagonal(S)).all(axis=-1))


def transpose(A: Array) -> Array:
    """Transpose each matrix of a stack."""
    return A.swapaxes(-1, -2)


def apply(A: Array, x: Array) -> Array:
    """``A x`` for stacks of matrices (..., k, d) and vectors (..., d)."""
    return np.asarray((A @ x[..., None])[..., 0])


def eigh(S: Array) -> tuple[Array, Array]:
    """`numpy.linalg.eigh`, without preparations that take longer than a small matrix."""
    values, axes = eigh_lo(S)
    if isnan(values.item(0) if values.ndim == 1 else values.sum()):  # let NumPy say what is wrong
        values, axes = np.linalg.eigh(S)
    return values, axes


def symmetric(S: Array) -> Array:
    """Symmetric part of each matrix, to remove rounding errors from a covariance."""
    if S.ndim == 2 and S.flags.carray:
        return np.asarray(symmetric_part(S))
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
    gain = transpose(divide(S, C @ P))
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
    _, C = correlations(_without_negatives(S))
    if (np.abs(C - transpose(C)) > ASYMMETRY_TOLERANCE).any():
        asymmetry = np.abs(S - transpose(S)).max()
        raise ValueError(f"{name} must be symmetric, got an asymmetry of {asymmetry:.3g}")
    try:
        np.linalg.cholesky(C + NEGATIVE_TOLERANCE * np.eye(S.shape[-1]))
    except np.linalg.LinAlgError:
        raise ValueError(f"{name} must be positive semi-definite, got {_lowest(S)}") from None


def _without_negatives(S: Array) -> Array:
    """Set variances that are slightly negative, and all that is left of their rows, to zero.

    Such a coordinate has no spread and so no unit of its own: the largest entry decides.
    """
    negative = np.linalg.diagonal(S) <= 0.0
    if not negative.any():
        return S
    rounding = np.abs(S) <= NO_VARIANCE * np.abs(S).max(axis=(-1, -2), keepdims=True)
    return np.where(rounding & (negative[..., :, None] | negative[..., None, :]), 0.0, S)


def _lowest(S: Array) -> str:
    """Describe the lowest eigenvalue of a matrix or a stack for an error message."""
    scale = units(deviations(S))
    mixed = bool((scale < 1.0).any())  # units so different that S shows only some of its values
    values = np.linalg.eigvalsh(correlations(S)[1] if mixed else S).min(axis=-1)
    kind = " of the correlations" if mixed else ""
    where = f" of matrix {values.argmin()}" if S.ndim == 3 else ""
    return f"an eigenvalue {values.min():.6g}{kind}{where}"


def factorize(S: Array) -> tuple[Array, Array]:
    """Return S, with negative eigenvalues (rounding) set to zero, and L with L L' = S.

    For singular S the columns of L that belong to coordinates without variance of their own are
    zero, so that L z lies in the range of S up to rounding.
    """
    stack = np.array(S, order="C").reshape(-1, *S.shape[-2:])  # a writable copy
    L = np.empty(stack.shape)
    if factor(L, stack, np.inf):  # all regular, the usual case
        return S, L.reshape(S.shape)
    L, _, rank = semidefinite_factors(stack)
    L, regular = L.reshape(S.shape), (rank == S.shape[-1]).reshape(S.shape[:-2])
    if regular.all():
        return S, L
    return np.where(regular[..., None, None], S, symmetric(L @ transpose(L))), L


def exceeds(S: Array, share: float, T: Array) -> bool:
    """Whether a covariance, or each of a stack, is more than ``share`` T in every direction."""
    return bool(all_exceed(read_only(S).reshape(-1, *T.shape), share, read_only(T)))


def check_and_factorize(name: str, S: Array) -> tuple[Array, Array]:
    """`check_covariance`, then `factorize`; one pass suffices for a positive definite stack."""
    if S.ndim == 2:  # often the same matrix at each step of a filter
        return _checked_factor(name, S.shape, S.tobytes())
    S, L = np.ascontiguousarray(S), np.empty(S.shape)
    if factor(L, S, ASYMMETRY_TOLERANCE):
        return S, L
    check_covariance(name, S)
    return factorize(S)


@lru_cache(maxsize=64)
def _checked_factor(name: str, shape: tuple[int, ...], content: bytes) -> tuple[Array, Array]:
    """`check_and_factorize` for one matrix, given by its bytes; the arrays are shared."""
    S = np.frombuffer(content).reshape(shape)
    check_covariance(name, S)
    return factorize(S)


@lru_cache(maxsize=64)
def identity(d: int) -> Array:
    """The identity matrix, one read-only array for all callers."""
    one = np.eye(d)
    one.setflags(write=False)
    return one


def standard_deviations(variances: Array, values: Array) -> Array:
    """Standard deviations of the columns of ``values``, with a small number in place of zero.

    >>> standard_deviations(np.array([4.0, 1e-32, 0.0]), np.array([[1.0, 3.0, 0.0]]))
    array([2.e+00, 3.e-06, 1.e+00])
    """
    return np.asarray(deviations_or_tiny(variances.copy(), read_only(values)))


def regularized_root(P: Array, values: Array, jitter: float) -> tuple[Array, Array]:
    """Return lower triangular L with L L' = P + ``jitter`` times the variances, and L^-1.

    P is the covariance of the columns of ``values``; for zeros see `standard_deviations`.
    """
    L, T = regular_root(np.array(P), read_only(values), jitter)
    return np.asarray(L), np.asarray(T)


def read_only(values: Array) -> Array:
    """Return a read-only view; Numba would compile again for a writable array."""
    flags = values.flags
    if flags.c_contiguous and not flags.writeable:
        return values
    view = np.ascontiguousarray(values).view()
    view.setflags(write=False)
    return view


def inverse_root(B: Array) -> Array:
    """Lower triangular W with W'W = B^-1, for B = I + A with positive semi-definite A."""
    stack = np.ascontiguousarray(B).reshape(-1, *B.shape[-2:])
    W = np.empty(stack.shape)
    if inverse_roots(W, stack):
        return W.reshape(B.shape)
    # A is so large that rounding hides I
    L = np.linalg.cholesky(B * (1.0 + HIDDEN_IDENTITY * np.eye(B.shape[-1])))
    return inverse_triangle(np.asarray(L))


def inverse_triangle(L: Array) -> Array:
    """Inverses of lower triangular matrices (..., d, d)."""
    W = np.empty(L.shape)
    stack = (-1, *L.shape[-2:])
    invert_lower(W.reshape(stack), np.ascontiguousarray(L).reshape(stack))
    return W


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
    """``B S^-1`` for positive semi-definite S; directions without variance are ignored.

    For singular S it is B times the pseudo-inverse in units of the standard deviations.
    """
    S, L = factorize(S)
    regular = _regular(L, S)[..., None, None]
    if regular.all():
        return transpose(divide(S, transpose(B)))
    exact = transpose(divide(np.where(regular, S, np.eye(S.shape[-1])), transpose(B)))
    sd, C = correlations(S)
    inverse = np.linalg.pinv(C, rcond=SINGULAR_EIGENVALUE, hermitian=True)
    B = B / sd[..., None, :]
    return np.where(regular, exact, B @ inverse / sd[..., None, :])


def congruent(A: Array, P: Array, Q: Array) -> Array:
    """Covariance A P A' + Q of A z + noise; variances that are rounding of their terms are zero.

    >>> congruent(np.array([[0.1, 0.2, -0.3]]), np.ones((3, 3)), np.zeros((1, 1)))
    array([[0.]])
    """
    S = symmetric(A @ P @ transpose(A) + Q)
    sd = np.sqrt(np.maximum(np.linalg.diagonal(P), 0.0))
    return without_rounding(S, apply(np.abs(A), sd) ** 2)


def without_rounding(S: Array, sizes: Array) -> Array:
    """Set rows and columns to zero whose variance is rounding of terms of the given ``sizes``."""
    nothing = np.linalg.diagonal(S) <= CANCELLED * sizes
    if not nothing.any():
        return S
    return np.where(nothing[..., :, None] | nothing[..., None, :], 0.0, S)
