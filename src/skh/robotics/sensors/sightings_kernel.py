"""Compiled log-likelihoods of ranges and bearings to landmarks."""

from __future__ import annotations

from math import atan2, cos, exp, hypot, inf, isnan, log, log1p, pi, sin

from skh._numba.compiling import compiled

MAX_SQUARE = 1e300  # of an error; differences of two must be numbers


@compiled
def squared_error(sighting, dx, dy, heading, range_noise, bearing_noise):
    """Squared whitened error of a sighting (id, range, bearing); NaN entries do not count."""
    square = 0.0
    if not isnan(sighting[1]):
        error = (sighting[1] - hypot(dx, dy)) / range_noise
        square += error * error
    if not isnan(sighting[2]):
        error = sighting[2] - atan2(dy, dx) + heading
        error = (error - 2.0 * pi * round(error / (2.0 * pi))) / bearing_noise
        square += error * error
    return min(square, MAX_SQUARE)


@compiled
def log_sum(sighting, x, y, heading, landmarks, range_noise, bearing_noise):
    """``log sum_j exp(-square_j / 2)`` over all landmarks."""
    top, total = -1.0, 0.0
    for j in range(len(landmarks)):
        square = squared_error(
            sighting, landmarks[j, 0] - x, landmarks[j, 1] - y, heading, range_noise, bearing_noise
        )
        if top < 0.0 or square < top:
            total = total * exp(0.5 * (square - top)) + 1.0 if top >= 0.0 else 1.0
            top = square
        else:
            total += exp(0.5 * (top - square))
    return log(total) - 0.5 * top


@compiled
def sighting_log_likelihoods(
    values, poses, mount, sightings, landmarks, range_noise, bearing_noise, constants
):
    """Set ``values`` (n,) at ``poses`` (n, 3) of sightings (m, 3), rows (id, range, bearing).

    A negative id stands for any landmark.  Rows of ``constants`` (m, 2) are the log-normalisation
    of the Gaussian and the log-density of an outlier, both with their probabilities.
    """
    for i in range(len(poses)):
        c, s = cos(poses[i, 2]), sin(poses[i, 2])
        x = poses[i, 0] + c * mount[0] - s * mount[1]
        y = poses[i, 1] + s * mount[0] + c * mount[1]
        heading = poses[i, 2] + mount[2]
        total = 0.0
        for k in range(len(sightings)):
            j = int(sightings[k, 0])
            if j < 0:
                value = log_sum(sightings[k], x, y, heading, landmarks, range_noise, bearing_noise)
            else:
                value = -0.5 * squared_error(
                    *(sightings[k], landmarks[j, 0] - x, landmarks[j, 1] - y, heading),
                    *(range_noise, bearing_noise),
                )
            value += constants[k, 0]
            floor = constants[k, 1]
            if floor > -inf:
                top = max(value, floor)
                value = top + log1p(exp(min(value, floor) - top))
            total += value
        values[i] = total
