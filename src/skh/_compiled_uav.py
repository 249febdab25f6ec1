"""The compiled kernels of the UAV model: one small Kalman filter per particle and landmark.

All noises of a sensor are independent with one variance, so that a measurement of several numbers
is taken in as several measurements of one number, one after the other: the same result, without
matrices to invert.  Covariances of landmarks are packed, (00, 01, 02, 11, 12, 22).

Filters are updated in place: the caller hands in copies.  Nothing here checks its arguments.
"""

from __future__ import annotations

from math import log, pi

import numpy as np

from skh._compiled import compiled

NEAR = 0.1  # metres; what is nearer to the camera, or behind it, cannot be seen


@compiled
def dot(a, b):
    """The inner product of short vectors."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@compiled
def measure(m, P, H, y, variance, PH):
    """Condition N(m, P) on one number y = H m + e, in place; ``PH`` is scratch.

    Returns the squared innovation in units of its variance, and that variance.
    """
    residual = y - dot(H, m)
    for i in range(m.size):
        PH[i] = dot(P[i], H)
    S = variance + dot(H, PH)
    for i in range(m.size):
        gain = PH[i] / S
        m[i] += gain * residual
        for j in range(i + 1):  # one half, and the other by reflection: exactly symmetric
            P[i, j] -= gain * PH[j]
            P[j, i] = P[i, j]
    return residual * residual / S, S


@compiled
def advance(m, P, moved, dt, decay, variances):
    """The chosen pose measures (v, a, b_a), then these move: step 2 of a Rao-Blackwellized filter.

    ``moved`` (n, 3) is p_{t+1} - p_t; ``variances`` are those of w_p, w_v, w_a, w_b.  Returns the
    normalised squared innovation of the increments, (n,).
    """
    H, PH, nis = np.zeros(9), np.empty(9), np.zeros(len(m))
    for i in range(len(m)):
        for k in range(3):
            H[:] = 0.0
            H[k], H[3 + k] = dt, dt * dt / 2
            nis[i] += measure(m[i], P[i], H, moved[i, k], variances[0], PH)[0]
        _predict(m[i], P[i], dt, decay)
        for k in range(9):
            P[i, k, k] += variances[1 + k // 3]
    return nis


@compiled
def _predict(m, P, dt, decay):
    """F m and F P F' for v+ = v + dt a, a+ = decay a, b+ = b."""
    for k in range(3):
        m[k] += dt * m[3 + k]
        m[3 + k] *= decay
        for j in range(9):
            P[k, j] += dt * P[3 + k, j]
            P[3 + k, j] *= decay
    for k in range(3):
        for j in range(9):
            P[j, k] += dt * P[j, 3 + k]
            P[j, 3 + k] *= decay
    for k in range(9):
        for j in range(k):
            P[j, k] = P[k, j]


@compiled
def accelerometer(m, P, R, y, g, variance, log_l):
    """Take in y = R'(a - g) + b_a + e; adds the log-likelihood, returns the NIS (n,)."""
    H, PH, nis = np.zeros(9), np.empty(9), np.zeros(len(m))
    for i in range(len(m)):
        for k in range(3):
            H[:] = 0.0
            H[3:6], H[6 + k] = R[i, :, k], 1.0
            square, S = measure(m[i], P[i], H, y[k] + dot(H[3:6], g), variance, PH)
            nis[i] += square
            log_l[i] -= 0.5 * (square + log(2 * pi * S))
    return nis


@compiled
def camera(p, R, m, C, pixels, seen, focal, variance, gate, log_l):
    """Take in the pixels of tracked landmarks by an extended Kalman filter for each.

    ``m`` (n, L, 3) and ``C`` (n, L, 6) are the landmarks, ``pixels`` (L, 2) what is measured where
    ``seen``.  An innovation beyond the gate weighs as much as one at the gate and changes nothing.
    Returns the NIS (n,) of those inside, and where the gate was used, (n, L).
    """
    n, L = len(m), len(pixels)
    nis, gated = np.zeros(n), np.zeros((n, L), dtype=np.bool_)
    h, HP = np.empty((2, 3)), np.empty((2, 3))
    for i in range(n):
        for j in range(L):
            if not seen[j]:
                continue
            u, v = project(p[i], R[i], m[i, j], focal, h)
            if u == np.inf:
                gated[i, j] = True
                log_l[i] -= 0.5 * gate + log(2 * pi * variance)
                continue
            times_packed(HP, h, C[i, j])
            a = variance + dot(h[0], HP[0])
            b = dot(h[0], HP[1])
            c = variance + dot(h[1], HP[1])
            determinant = a * c - b * b
            e, f = pixels[j, 0] - u, pixels[j, 1] - v
            square = (c * e * e - 2 * b * e * f + a * f * f) / determinant
            log_l[i] -= 0.5 * (min(square, gate) + log(determinant)) + log(2 * pi)
            if square > gate:
                gated[i, j] = True
                continue
            nis[i] += square
            correct(m[i, j], C[i, j], HP, a / determinant, b / determinant, c / determinant, e, f)
    return nis, gated


@compiled
def project(p, R, m, focal, h):
    """The pixel of a point, and its derivatives by the point in ``h`` (2, 3); inf if not in view.

    (x, y, z) = diag(1, -1, -1) R'(m - p): the camera looks along the body's negative z axis.
    """
    x = y = z = 0.0
    for k in range(3):
        d = m[k] - p[k]
        x += R[k, 0] * d
        y -= R[k, 1] * d
        z -= R[k, 2] * d
    if z < NEAR:
        return np.inf, np.inf
    for k in range(3):
        h[0, k] = focal / z * (R[k, 0] + x / z * R[k, 2])
        h[1, k] = focal / z * (-R[k, 1] + y / z * R[k, 2])
    return focal * x / z, focal * y / z


@compiled
def times_packed(out, h, C):
    """``h @ C`` for the two rows of h and a packed symmetric C."""
    for r in range(2):
        x, y, z = h[r, 0], h[r, 1], h[r, 2]
        out[r, 0] = x * C[0] + y * C[1] + z * C[2]
        out[r, 1] = x * C[1] + y * C[3] + z * C[4]
        out[r, 2] = x * C[2] + y * C[4] + z * C[5]


@compiled
def correct(m, C, HP, a, b, c, e, f):
    """The update of a landmark: S^-1 = [[c, -b], [-b, a]], innovation (e, f)."""
    at = 0
    for k in range(3):
        left = c * HP[0, k] - b * HP[1, k]
        right = a * HP[1, k] - b * HP[0, k]
        m[k] += left * e + right * f
        for j in range(k, 3):
            C[at] -= left * HP[0, j] + right * HP[1, j]
            at += 1


@compiled
def start(p, R, pixel, focal, variance, ground, slot, m, C):
    """Begin landmarks in a slot where the rays of a pixel meet the ground z ~ N(0, ground^2).

    With the ray r = R diag(1, -1, -1) (u/f, v/f, 1) and s = -p_z / r_z the point is p + s r, and
    its covariance that of the pixel and of the height, both linearised.  Rays that do not go down
    are bent down: such a particle is lost, and its landmarks will say so.
    """
    u, v = pixel[0] / focal, pixel[1] / focal
    J = np.empty((3, 3))  # derivatives by pixel and height, times their standard deviations
    r = np.empty(3)
    for i in range(len(p)):
        for k in range(3):
            r[k] = R[i, k, 0] * u - R[i, k, 1] * v - R[i, k, 2]
        down = min(r[2], -0.05)
        s = max(p[i, 2], 1.0) / -down
        for k in range(3):
            m[i, slot, k] = p[i, k] + s * r[k]
            J[k, 0] = s * (R[i, k, 0] - r[k] * R[i, 2, 0] / down) * variance**0.5 / focal
            J[k, 1] = -s * (R[i, k, 1] - r[k] * R[i, 2, 1] / down) * variance**0.5 / focal
            J[k, 2] = r[k] / down * ground
        at = 0
        for k in range(3):
            for j in range(k, 3):
                C[i, slot, at] = J[k, 0] * J[j, 0] + J[k, 1] * J[j, 1] + J[k, 2] * J[j, 2]
                at += 1
