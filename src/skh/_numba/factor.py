"""Cholesky factors of well-conditioned matrices of some dozen rows, and their inverses."""

from __future__ import annotations

from math import sqrt

from skh._numba.compiling import full_vectors, summing
from skh._numba.simplex_qp import leading_dot


@summing
def subtract_dots(A, i, first):  # pragma: no cover - intrinsic
    """Subtract products of row ``i`` with four rows, up to column ``first``, from its next entries.

    Rows are not taken out of ``A``: counting references would take longer than the sums.
    """
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for k in range(first):
        x = A[i, k]
        p += A[first, k] * x
        q += A[first + 1, k] * x
        r += A[first + 2, k] * x
        s += A[first + 3, k] * x
    A[i, first] -= p
    A[i, first + 1] -= q
    A[i, first + 2] -= r
    A[i, first + 3] -= s


@summing
def factorize(A):
    """Replace the lower triangle of ``A`` by its factor; False unless it is positive definite.

    Four columns at once, row by row: no row waits for the one before it.
    """
    n = len(A)
    for first in range(0, n, 4):
        last = min(first + 4, n)
        for i in range(first, n):
            if last - first == 4:
                subtract_dots(A, i, first)
            else:
                for c in range(first, last):
                    A[i, c] -= leading_dot(A[c], A[i], first)
            for c in range(first, min(last, i + 1)):
                entry = A[i, c]
                for k in range(first, c):
                    entry -= A[i, k] * A[c, k]
                if c < i:
                    A[i, c] = entry / A[c, c]
                elif entry > 0.0:
                    A[i, c] = sqrt(entry)
                else:
                    return False
    return True


@summing
def solve_rows(L, B):  # pragma: no cover - intrinsic
    """Multiply each row of ``B`` by the inverse of L L'; no row waits for another."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    n = B.shape[1]
    for i in range(n):
        inverse = 1.0 / L[i, i]
        for k in range(len(B)):
            total = 0.0
            for j in range(i):
                total += L[i, j] * B[k, j]
            B[k, i] = (B[k, i] - total) * inverse
    for i in range(n - 1, -1, -1):
        inverse = 1.0 / L[i, i]
        for k in range(len(B)):
            x = B[k, i] = B[k, i] * inverse
            for j in range(i):
                B[k, j] -= L[i, j] * x
