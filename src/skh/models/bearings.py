r"""Bearings-only tracking: the angle to a moving target, seen by an observer that sails a circle.

The state is (position, velocity) of the first coordinate, then of the second.  Velocities are
damped and shaken by white acceleration; positions integrate them.  One bearing leaves the distance
open; that the observer moves makes it visible over time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture
from skh.models.simulation import simulate

DAMPING = 0.97  # of the velocity, per step
ACCELERATION = 0.03  # standard deviation of a step of the velocity
RADIUS, OBSERVER_TURN = 2.0, 0.3  # of the observer's circle, and its angle per step
BEARING_NOISE = 0.05  # standard deviation of a bearing, in radians

F: Array = np.kron(np.eye(2), np.array([[1.0, 1.0], [0.0, DAMPING]]))
Q: Array = ACCELERATION**2 * np.kron(np.eye(2), np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]]))


@dataclass(frozen=True)
class BearingsOnly:
    """A moving target of which an observer who sails a circle sees the bearing.

    The state is (position, velocity) of each coordinate; the target starts about five units away.
    """

    def prior(self) -> GaussianMixture:
        """The position known to 0.7, the velocity to 0.1."""
        return GaussianMixture([1.0], [[3.0, 0.0, 4.0, 0.0]], np.diag([0.5, 0.01, 0.5, 0.01]))

    def transition(self, t: int, x: Array) -> tuple[Array, Array]:
        """One Gaussian per particle, of full rank."""
        return x @ F.T, Q

    def observer(self, t: int) -> tuple[float, float]:
        """Where the observer is."""
        return RADIUS * float(np.sin(OBSERVER_TURN * t)), -RADIUS * float(np.cos(OBSERVER_TURN * t))

    def bearing(self, t: int, x: Array) -> Array:
        """The angle from the observer to the target, of states (..., 4)."""
        east, north = self.observer(t)
        return np.asarray(np.arctan2(x[..., 2] - north, x[..., 0] - east))

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log N`` of the difference of the angles, which is taken the short way round."""
        y = _checks.real_array("y", y)
        turn: Array = (y - self.bearing(t, x) + pi) % (2 * pi) - pi
        return -0.5 * (turn / BEARING_NOISE) ** 2 - log(BEARING_NOISE) - 0.5 * log(2 * pi)

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """A draw of y_t."""
        return self.bearing(t, x) + BEARING_NOISE * rng.standard_normal(1)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """States (T, 4) and observations (T, 1)."""
        return simulate(self, T, rng)


def bearings_only() -> BearingsOnly:
    """The bearings-only tracking model."""
    return BearingsOnly()
