"""Rotations of SO(3) in large stacks; formulas as in `skh.geometry.rotation`."""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt, tan

import numpy as np

from skh._numba.compiling import compiled

SMALL = 0.1  # radians; below it series replace quotients of small numbers
ANGLE_ROUNDING = 1e-12  # radians; smaller steps of a mean end the iteration
MOST_STEPS = 1_000  # of a mean; usually two, more if weights are spread round the circle


@compiled
def polynomial(out, v, a, b):
    """``out = I + a K + b K^2`` with K = [v]_x, where K^2 = v v' - |v|^2 I."""
    x, y, z = v[0], v[1], v[2]
    out[0, 0] = 1.0 - b * (y * y + z * z)
    out[1, 1] = 1.0 - b * (x * x + z * z)
    out[2, 2] = 1.0 - b * (x * x + y * y)
    out[0, 1], out[1, 0] = b * x * y - a * z, b * x * y + a * z
    out[0, 2], out[2, 0] = b * x * z + a * y, b * x * z - a * y
    out[1, 2], out[2, 1] = b * y * z - a * x, b * y * z + a * x


@compiled
def dot3(a, b):
    """``a' b`` for vectors (3,)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def product(out, A, B):
    """``out = A B``, all (3, 3)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@compiled
def product_transposed(out, A, B):
    """``out = A' B``, all (3, 3)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[0, i] * B[0, j] + A[1, i] * B[1, j] + A[2, i] * B[2, j]


@compiled
def half_versine(angle):
    """``(1 - cos x) / x^2`` without cancellation."""
    s = sin(angle / 2) / (angle / 2) if angle > 1e-8 else 1.0
    return 0.5 * s * s


@compiled
def one_exp(out, v):
    """``out = Exp(v)``, (3, 3)."""
    angle = sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
    sine = sin(angle) / angle if angle > 1e-8 else 1.0
    polynomial(out, v, sine, half_versine(angle))


@compiled
def exponentials(v):
    """Exp(v), (n, 3, 3), of vectors (n, 3)."""
    out = np.empty((len(v), 3, 3))
    for i in range(len(v)):
        one_exp(out[i], v[i])
    return out


@compiled
def turned(R, v):
    """R Exp(v), (n, 3, 3), of vectors (n, 3) and n rotations or a single one."""
    out, turn, each = np.empty((len(v), 3, 3)), np.empty((3, 3)), min(len(R) - 1, 1)
    for i in range(len(v)):
        one_exp(turn, v[i])
        product(out[i], R[each * i], turn)
    return out


@compiled
def right_jacobian(v):
    """J_r (n, 3, 3) at vectors (n, 3)."""
    out = np.empty((len(v), 3, 3))
    for i in range(len(v)):
        square = v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2
        angle = sqrt(square)
        if angle < SMALL:
            cubic = 1 / 6 - square / 120 + square**2 / 5040 - square**3 / 362880
        else:
            cubic = (angle - sin(angle)) / angle**3
        polynomial(out[i], v[i], -half_versine(angle), cubic)
    return out


@compiled
def one_jacobian_inverse(out, v):
    """J_r^-1 (3, 3) at one vector."""
    square = v[0] ** 2 + v[1] ** 2 + v[2] ** 2
    if square < SMALL**2:
        b = 1 / 12 + square / 720 + square**2 / 30240 + square**3 / 1209600
    else:
        half = sqrt(square) / 2
        b = (1 - half / tan(half)) / square
    polynomial(out, v, 0.5, b)


@compiled
def right_jacobian_inverse(v):
    """J_r^-1 (n, 3, 3) at vectors (n, 3)."""
    out = np.empty((len(v), 3, 3))
    for i in range(len(v)):
        one_jacobian_inverse(out[i], v[i])
    return out


@compiled
def pose_covariances(out, x, S):
    """``out = D S D'``, (n, 6, 6), for D = blkdiag(I, J_r^-1) at x (n, 6); S is (n or 1, 6, 6)."""
    J, JC, each = np.empty((3, 3)), np.empty((3, 3)), min(len(S) - 1, 1)
    for i in range(len(x)):
        P, result = S[each * i], out[i]
        one_jacobian_inverse(J, x[i, 3:])
        product(result[3:, :3], J, P[3:, :3])
        product(JC, J, P[3:, 3:])
        for r in range(3):
            for c in range(3):
                result[r, c] = P[r, c]
                result[c, 3 + r] = result[3 + r, c]
            for c in range(r + 1):  # the lower triangle, mirrored: exactly symmetric
                entry = JC[r, 0] * J[c, 0] + JC[r, 1] * J[c, 1] + JC[r, 2] * J[c, 2]
                result[3 + r, 3 + c] = result[3 + c, 3 + r] = entry


@compiled
def quaternion(R):
    """The unit quaternion (x, y, z, w), w >= 0, by Shepperd's method: accurate at all angles."""
    a, b, c = R[0, 0], R[1, 1], R[2, 2]
    trace = a + b + c
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    if trace >= max(a, b, c):
        w = 1 + trace
    elif a >= max(b, c):
        x, y, z, w = 1 + 2 * a - trace, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], x
    elif b >= c:
        x, y, z, w = R[0, 1] + R[1, 0], 1 + 2 * b - trace, R[1, 2] + R[2, 1], y
    else:
        x, y, z, w = R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 + 2 * c - trace, z
    scale = 1 / sqrt(x * x + y * y + z * z + w * w)
    if w < 0:
        scale = -scale
    return scale * x, scale * y, scale * z, scale * w


@compiled
def quaternions(R):
    """Quaternions (n, 4) of rotations (n, 3, 3)."""
    out = np.empty((len(R), 4))
    for i in range(len(R)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = quaternion(R[i])
    return out


@compiled
def one_log(R):
    """Log(R) of one rotation."""
    x, y, z, w = quaternion(R)
    s = x * x + y * y + z * z
    if s < (SMALL / 2) ** 2:  # the series of arcsin
        half = 1 + s * (1 / 6 + s * (3 / 40 + s * (5 / 112 + s * (35 / 1152 + s * 63 / 2816))))
    else:
        half = atan2(sqrt(s), w) / sqrt(s)
    return 2 * half * x, 2 * half * y, 2 * half * z


@compiled
def logarithms(R):
    """Log(R), (n, 3), of rotations (n, 3, 3)."""
    out = np.empty((len(R), 3))
    for i in range(len(R)):
        out[i, 0], out[i, 1], out[i, 2] = one_log(R[i])
    return out


@compiled
def between(A, R):
    """Log(A' R), (n, 3), of n rotations R and n or one A."""
    out, turn, each = np.empty((len(R), 3)), np.empty((3, 3)), min(len(A) - 1, 1)
    for i in range(len(R)):
        product_transposed(turn, A[each * i], R[i])
        out[i, 0], out[i, 1], out[i, 2] = one_log(turn)
    return out


@compiled
def orthogonality_errors(R):
    """``max |R R' - I|`` over a stack, and whether any R is a reflection."""
    error, mirrored = 0.0, False
    for i in range(len(R)):
        a, b, c = R[i]
        for k in range(3):
            error = max(error, abs(dot3(R[i, k], R[i, k]) - 1.0))
        error = max(error, abs(dot3(a, b)), abs(dot3(a, c)), abs(dot3(b, c)))
        volume = a[0] * (b[1] * c[2] - b[2] * c[1])
        volume += a[1] * (b[2] * c[0] - b[0] * c[2])
        volume += a[2] * (b[0] * c[1] - b[1] * c[0])
        mirrored |= volume < 0
    return error, mirrored


@compiled
def wrapped(angle):
    """The angle in (-pi, pi], however many turns it is; NaN stays NaN."""
    x = np.fmod(angle, 2.0 * pi)  # exact, in (-2 pi, 2 pi), and so are the sums below
    if x > pi:
        x -= 2.0 * pi
    elif x <= -pi:
        x += 2.0 * pi
    return x + 0.0  # not -0.0


@compiled
def wrap_angles(angles):
    """Replace each angle by `wrapped`; return the index of an infinite one, or -1."""
    for i in range(angles.size):
        if abs(angles[i]) == np.inf:
            return i
        angles[i] = wrapped(angles[i])
    return -1


@compiled
def mean_angle(angles, w):
    """Weighted mean of angles, iterated from the direction of the mean vector.

    Each step adds the mean difference of the angles from the guess.  It is the last unless a
    difference wraps, and then it decreases the sum of squares.
    """
    x = y = 0.0
    for i in range(w.size):
        x += w[i] * cos(angles[i])
        y += w[i] * sin(angles[i])
    guess = atan2(y, x)
    for _ in range(MOST_STEPS):
        step = 0.0
        for i in range(w.size):
            step += w[i] * wrapped(angles[i] - guess)
        guess += step
        if abs(step) < ANGLE_ROUNDING:
            break
    return guess
