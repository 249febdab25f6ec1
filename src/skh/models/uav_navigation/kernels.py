"""Compiled kernels of the UAV model: one small Kalman filter per particle and landmark.

The noises of a sensor are independent with equal variances, so measurements are processed one
number at a time: the same result as a joint update, without matrices to invert.  Covariances of
landmarks are packed, (00, 01, 02, 11, 12, 22).  Arguments ``new_...`` are outputs, which saves a
copy of the inputs; arguments are not checked.
"""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.rotations import dot3
from skh._numba.vectors import fill

NEAR = 0.1  # metres of depth below which a point is not visible


@compiled
def expect(m, P, turn, C, dt, position_variance, rotation_variance, xi, S):
    """Predict pose increments: set their means ``xi`` (n, 6) and covariances ``S`` (n, 6, 6)."""
    half = dt / 2
    for i in range(len(m)):
        Q = S[i]
        for k in range(6):
            fill(Q[k], 0.0)
        for k in range(3):
            xi[i, k] = dt * (m[i, k] + half * m[i, 3 + k])
            xi[i, 3 + k] = dt * turn[i, k]
            for j in range(3):
                cross = P[i, k, 3 + j] + P[i, 3 + k, j]
                Q[k, j] = dt * dt * (P[i, k, j] + half * cross + half * half * P[i, 3 + k, 3 + j])
            Q[k, k] += position_variance
            Q[3 + k, 3 + k] = dt * dt * C[i, 0] + rotation_variance


@compiled
def take_in(T, k, m, residual, S):
    """Condition the mean on a scalar measurement with innovation N(0, S); return its NIS.

    Row k of ``T``, its covariance t with the state, is divided by sqrt(S): the covariance of the
    state is then reduced by t t'.
    """
    scale = 1.0 / sqrt(S) if S > 0.0 else 0.0  # no update from a value that is known exactly
    for i in range(9):
        T[k, i] *= scale
        m[i] += T[k, i] * (residual * scale)
    return (residual * scale) ** 2


@compiled
def take_away(new_P, P, T):
    """``new_P = P - T' T`` for T (3, 9); exactly symmetric if P is."""
    for i in range(9):
        a, b, c = T[0, i], T[1, i], T[2, i]
        for j in range(9):
            new_P[i, j] = P[i, j] - a * T[0, j] - b * T[1, j] - c * T[2, j]


@compiled
def advance(new_m, new_P, m, P, moved, dt, decay, variances):
    """Condition (v, a, b_a) on the increments of position, then predict them one step ahead.

    ``moved`` (n, 3) is p_{t+1} - p_t; ``variances`` are those of w_p, w_v, w_a, w_b.  Returns the
    normalised squared innovation (NIS) of the increments, (n,).
    """
    T, nis = np.empty((3, 9)), np.zeros(len(m))
    for i in range(len(m)):
        mean, covariance = new_m[i], new_P[i]
        for k in range(9):
            mean[k] = m[i, k]
        for k in range(3):
            nis[i] += _measure_motion(T, k, mean, P[i], moved[i, k], dt, variances[0])
        take_away(covariance, P[i], T)
        _predict(mean, covariance, dt, decay)
        for k in range(9):
            covariance[k, k] += variances[1 + k // 3]
    return nis


@compiled
def _measure_motion(T, k, m, P, moved, dt, variance):
    """Condition on one coordinate of the increment, dt v_k + dt^2 / 2 a_k + w_p; return its NIS."""
    half = dt * dt / 2
    for i in range(9):
        T[k, i] = dt * P[k, i] + half * P[3 + k, i]
    for before in range(k):  # P after the previous measurements
        known = dt * T[before, k] + half * T[before, 3 + k]
        for i in range(9):
            T[k, i] -= known * T[before, i]
    S = variance + dt * T[k, k] + half * T[k, 3 + k]
    return take_in(T, k, m, moved - dt * m[k] - half * m[3 + k], S)


@compiled
def _predict(m, P, dt, decay):
    """``m <- F m`` and ``P <- F P F'`` for v+ = v + dt a, a+ = decay a, b+ = b."""
    for k in range(3):
        m[k] += dt * m[3 + k]
        m[3 + k] *= decay
        for j in range(k + 1):
            both = P[3 + k, j] + P[3 + j, k] + dt * P[3 + k, 3 + j]
            P[k, j] = P[j, k] = P[k, j] + dt * both
        for j in range(3):
            P[6 + k, j] = P[j, 6 + k] = P[6 + k, j] + dt * P[6 + k, 3 + j]
            P[6 + k, 3 + j] = P[3 + j, 6 + k] = decay * P[6 + k, 3 + j]
    for k in range(3):
        for j in range(3):
            P[3 + k, j] = P[j, 3 + k] = decay * (P[3 + k, j] + dt * P[3 + k, 3 + j])
    for k in range(3):
        for j in range(3):
            P[3 + k, 3 + j] *= decay * decay


@compiled
def accelerometer(new_m, new_P, m, P, R, y, g, variance, log_l):
    """Condition on y = R'(a - g) + b_a + e; add the log-likelihood, return the NIS (n,)."""
    T, nis = np.empty((3, 9)), np.zeros(len(m))
    for i in range(len(m)):
        mean = new_m[i]
        for k in range(9):
            mean[k] = m[i, k]
        volume = 1.0  # product of three variances: one logarithm instead of three
        for k in range(3):
            square, S = _measure_force(T, k, mean, P[i], R[i], y[k], g, variance)
            nis[i] += square
            volume *= 2 * pi * S
        take_away(new_P[i], P[i], T)
        log_l[i] -= 0.5 * (nis[i] + log(volume))
    return nis


@compiled
def _measure_force(T, k, m, P, R, y, g, variance):
    """Condition on one axis of the accelerometer; return its NIS and innovation variance."""
    a, b, c = R[0, k], R[1, k], R[2, k]
    for i in range(9):
        T[k, i] = P[6 + k, i] + a * P[3, i] + b * P[4, i] + c * P[5, i]
    for before in range(k):  # P after the previous measurements
        t = T[before]
        known = t[6 + k] + a * t[3] + b * t[4] + c * t[5]
        for i in range(9):
            T[k, i] -= known * t[i]
    S = variance + T[k, 6 + k] + a * T[k, 3] + b * T[k, 4] + c * T[k, 5]
    expected = m[6 + k] + a * (m[3] - g[0]) + b * (m[4] - g[1]) + c * (m[5] - g[2])
    return take_in(T, k, m, y - expected, S), S


@compiled
def hidden_covariances(out, P, C):
    """Set the covariances of (v, a, b_a, omega, b_omega), (n, 15, 15)."""
    for i in range(len(P)):
        for r in range(15):
            fill(out[i, r], 0.0)
        for r in range(9):
            for c in range(9):
                out[i, r, c] = P[i, r, c]
        for k in range(9, 12):
            out[i, k, k], out[i, k + 3, k + 3] = C[i, 0], C[i, 2]
            out[i, k, k + 3] = out[i, k + 3, k] = C[i, 1]


@compiled
def camera(p, R, m, C, pixels, seen, focal, variance, gate, log_l):
    """Update tracked landmarks in place by extended Kalman filters; add the log-likelihood.

    ``m`` (n, L, 3) and ``C`` (n, L, 6) are the landmarks, ``pixels`` (L, 2) are measured where
    ``seen``.  An innovation beyond the gate has the likelihood of one at the gate and no update.
    Returns the NIS (n,) of the others, and where the gate was used, (n, L).
    """
    n, L = len(m), len(pixels)
    nis, gated = np.zeros(n), np.zeros((n, L), dtype=np.bool_)
    h, HP, log_2pi = np.empty((2, 3)), np.empty((2, 3)), log(2 * pi)
    for i in range(n):
        position, rotation, volume = p[i], R[i], 1.0
        for j in range(L):
            if not seen[j]:
                continue
            u, v = project(position, rotation, m[i, j], focal, h)
            if u == np.inf:
                gated[i, j] = True
                log_l[i] -= 0.5 * gate + log(2 * pi * variance)
                continue
            times_packed(HP, h, C[i, j])
            a = variance + dot3(h[0], HP[0])
            b = dot3(h[0], HP[1])
            c = variance + dot3(h[1], HP[1])
            determinant = a * c - b * b
            e, f = pixels[j, 0] - u, pixels[j, 1] - v
            inverse = 1.0 / determinant
            square = (c * e * e - 2 * b * e * f + a * f * f) * inverse
            log_l[i] -= 0.5 * min(square, gate) + log_2pi
            volume *= determinant
            if not 1e-100 < volume < 1e100:  # one logarithm for many landmarks
                log_l[i] -= 0.5 * log(volume)
                volume = 1.0
            if square > gate:
                gated[i, j] = True
                continue
            nis[i] += square
            correct(m[i, j], C[i, j], HP, a * inverse, b * inverse, c * inverse, e, f)
        log_l[i] -= 0.5 * log(volume)
    return nis, gated


@compiled
def project(p, R, m, focal, h):
    """Return the pixel of a point, inf if not visible; set ``h`` (2, 3) to its Jacobian.

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
    x, y, scale = x / z, y / z, focal / z
    for k in range(3):
        h[0, k] = scale * (R[k, 0] + x * R[k, 2])
        h[1, k] = scale * (-R[k, 1] + y * R[k, 2])
    return focal * x, focal * y


@compiled
def times_packed(out, h, C):
    """``out = h C`` for h (2, 3) and a packed symmetric C."""
    for r in range(2):
        x, y, z = h[r, 0], h[r, 1], h[r, 2]
        out[r, 0] = x * C[0] + y * C[1] + z * C[2]
        out[r, 1] = x * C[1] + y * C[3] + z * C[4]
        out[r, 2] = x * C[2] + y * C[4] + z * C[5]


@compiled
def correct(m, C, HP, a, b, c, e, f):
    """Update a landmark by the innovation (e, f), with S^-1 = [[c, -b], [-b, a]]."""
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
    """Initialise landmarks in a slot where the rays of a pixel meet the ground z ~ N(0, ground^2).

    With the ray r = R diag(1, -1, -1) (u/f, v/f, 1) and s = -p_z / r_z the point is p + s r; its
    covariance is linearised in pixel and height.  Rays that do not descend are bent down, and
    heights below one metre raised to it: such a particle is lost, as its innovations will show.
    """
    u, v = pixel[0] / focal, pixel[1] / focal
    J = np.empty((3, 3))  # derivatives with respect to pixel and height, times their sd
    r = np.empty(3)
    for i in range(len(p)):
        for k in range(3):
            r[k] = R[i, k, 0] * u - R[i, k, 1] * v - R[i, k, 2]
        down = r[2] = min(r[2], -0.05)
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
