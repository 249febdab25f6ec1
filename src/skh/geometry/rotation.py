r"""Rotations of three-dimensional space: Exp, Log, their Jacobians, and the mean.

All functions take stacks: vectors ``(..., 3)``, matrices ``(..., 3, 3)``.  A rotation vector v
stands for a rotation by :math:`\theta = |v|` about v; with K = [v]_x,

.. math::

    \mathrm{Exp}(v) &= I + \tfrac{\sin\theta}{\theta} K + \tfrac{1 - \cos\theta}{\theta^2} K^2, \\
    J_r(v) &= I - \tfrac{1 - \cos\theta}{\theta^2} K + \tfrac{\theta - \sin\theta}{\theta^3} K^2, \\
    J_r^{-1}(v) &= I + \tfrac12 K
                   + \tfrac{1}{\theta^2}\bigl(1 - \tfrac\theta2 \cot\tfrac\theta2\bigr) K^2.

The right Jacobian linearises small rotations of the body:
:math:`\mathrm{Exp}(v + \delta) \approx \mathrm{Exp}(v)\, \mathrm{Exp}(J_r(v) \delta)` and
:math:`\mathrm{Log}(\mathrm{Exp}(v)\, \mathrm{Exp}(\delta)) \approx v + J_r^{-1}(v) \delta`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._numba import rotations as compiled
from skh._numba.mean_rotations import mean_rotation, set_mean_matrix
from skh._typing import Array

ORTHOGONAL = 1e-6  # tolerated error of R'R = I


def hat(v: Array) -> Array:
    """Matrices K = [v]_x of the cross product: K u = v x u."""
    K = np.zeros((*v.shape, 3))
    K[..., 2, 1], K[..., 0, 2], K[..., 1, 0] = v[..., 0], v[..., 1], v[..., 2]
    K[..., 1, 2], K[..., 2, 0], K[..., 0, 1] = -v[..., 0], -v[..., 1], -v[..., 2]
    return K


def exp(v: ArrayLike) -> Array:
    """Rotation about ``v`` by the angle ``|v|``.

    >>> exp([0.0, 0.0, np.pi / 2]).round(12) @ [1.0, 0.0, 0.0]
    array([0., 1., 0.])
    """
    return _rows(compiled.exponentials, _vectors("v", v), 1)


def log(R: ArrayLike) -> Array:
    """Rotation vector of ``R``, of length at most pi (at pi either v or -v).

    >>> log(exp([0.1, -0.2, 3.0])).round(12)
    array([ 0.1, -0.2,  3. ])
    """
    return _rows(compiled.logarithms, rotations("R", R), 2)


def between(A: Array, R: Array) -> Array:
    """Log(A' R), the rotation from A to R in the frame of A; not validated."""
    if A.ndim > 2 and A.shape != R.shape:
        A, R = np.broadcast_arrays(A, R)
    origins = _one_or_all(A)
    return _rows(lambda R: compiled.between(origins, R), R, 2)


def turned(R: Array, v: ArrayLike) -> Array:
    """R Exp(v), R rotated by v in its own frame; R is not validated."""
    v = _vectors("v", v)
    if R.ndim > 2 and R.shape[:-1] != v.shape:
        return np.asarray(R @ exp(v))
    before = _one_or_all(R)
    return _rows(lambda v: compiled.turned(before, v), v, 1)


def right_jacobian(v: ArrayLike) -> Array:
    """J_r, the derivative of Exp(v) in the body's frame."""
    return _rows(compiled.right_jacobian, _vectors("v", v), 1)


def right_jacobian_inverse(v: ArrayLike) -> Array:
    """J_r^-1, the derivative of Log(R) by rotations of the body; for angles below 2 pi."""
    return _rows(compiled.right_jacobian_inverse, _vectors("v", v), 1)


def quaternion(R: ArrayLike) -> Array:
    """Unit quaternions (x, y, z, w) with w >= 0."""
    return _rows(compiled.quaternions, rotations("R", R), 2)


def from_quaternion(q: ArrayLike) -> Array:
    """Rotations of quaternions (x, y, z, w), which are normalised."""
    q = _vectors("q", q, 4)
    length = np.linalg.norm(q, axis=-1)
    if (length == 0).any():
        raise ValueError("q must have quaternions of positive length, got (0, 0, 0, 0)")
    unit = np.asarray(q / length[..., None])
    K = hat(unit[..., :3])
    return np.asarray(np.eye(3) + 2 * unit[..., 3, None, None] * K + 2 * K @ K)


def mean(R: ArrayLike, w: ArrayLike | None = None) -> Array:
    r"""Weighted mean of rotations: the M with :math:`\sum_i w_i \mathrm{Log}(M' R_i) = 0`.

    >>> log(mean(exp([[0.0, 0.0, 3.1], [0.0, 0.0, -3.1]]))).round(6)[2] in (3.141593, -3.141593)
    True
    """
    R = rotations("R", R)
    if R.ndim != 3 or len(R) == 0:
        raise ValueError(f"R must have shape (n, 3, 3) with n >= 1, got {R.shape}")
    w = np.full(len(R), 1 / len(R)) if w is None else _checks.probabilities("w", w)
    _checks.same_length("w", w, "R", len(R))
    rows = np.array(R, order="C")  # writable, for Numba
    guess = np.empty((3, 3))
    if not set_mean_matrix(guess, rows, w):
        guess = projected((w @ rows.reshape(len(w), 9)).reshape(3, 3))
    return np.asarray(mean_rotation(guess, rows, w))


def projected(A: Array) -> Array:
    """Rotation nearest to the matrix ``A``."""
    U, _, Vt = np.linalg.svd(A)
    U[..., :, 2] *= np.linalg.det(U @ Vt)[..., None]
    return np.asarray(U @ Vt)


def rotations(name: str, R: ArrayLike, row: str = "index") -> Array:
    """Validate rotations (..., 3, 3); ``row`` is the word for an index in messages."""
    R = _checks.real_array(name, R)
    if R.shape[-2:] != (3, 3):
        raise ValueError(f"{name} must have shape (..., 3, 3), got {R.shape}")
    error, mirrored = compiled.orthogonality_errors(_one_or_all(R))
    if error > ORTHOGONAL or mirrored:
        found = _first_error(R.reshape(-1, 3, 3), row if R.ndim > 2 else "")
        raise ValueError(f"{name} must hold rotations, R'R = I and det R = 1; {found}")
    return R


def _first_error(R: Array, row: str) -> str:
    """Describe the first matrix of a stack that is not a rotation."""
    errors = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2))
    volumes = np.linalg.det(R)
    i = int(((errors > ORTHOGONAL) | (volumes < 0)).argmax())
    where = f" at {row} {i}" if row else ""
    if volumes[i] < 0:
        return f"det R = {volumes[i]:.3g}{where}: mirrored"
    return f"R'R is off by {errors[i]:.3g}{where}"


def _vectors(name: str, v: ArrayLike, d: int = 3) -> Array:
    v = _checks.real_array(name, v)
    if v.ndim == 0 or v.shape[-1] != d:
        raise ValueError(f"{name} must have shape (..., {d}), got {v.shape}")
    return v


def _one_or_all(R: Array) -> Array:
    """Rotations (n, 3, 3), or (1, 3, 3) if all rows are broadcast from one."""
    if R.ndim == 3 and R.strides[0] == 0:
        R = R[:1]
    return _input(R, 2)


def _rows(kernel: Callable[[Array], Array], stack: Array, axes: int) -> Array:
    """Apply a kernel of rows to a stack of any shape; an entry has ``axes`` axes."""
    out = kernel(_input(stack, axes))
    return out.reshape(*stack.shape[: stack.ndim - axes], *out.shape[1:])


def _input(stack: Array, axes: int) -> Array:
    """Flatten a stack to contiguous rows."""
    return np.ascontiguousarray(stack).reshape(-1, *stack.shape[stack.ndim - axes :])
