r"""Bearings-only tracking: the angle to a moving target, seen by an observer that sails a circle.

The state is (position, velocity) of the first coordinate, then of the second.  Velocities are
damped and driven by white acceleration; positions integrate them.  One bearing does not determine
the distance; the motion of the observer makes it observable over time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi

import numpy as np

from skh._typing import RNG, Array
from skh.filtering.observations import measured_vector
from skh.gaussians.mixture import GaussianMixture
from skh.models.simulation import simulate

DAMPING = 0.97  # of the velocity, per step
ACCELERATION = 0.03  # standard deviation of the velocity's increment
RADIUS, OBSERVER_TURN = 2.0, 0.3  # of the observer's circle; its angle per step
BEARING_NOISE = 0.05  # standard deviation of a bearing, in radians

F: Array = np.kron(np.eye(2), np.array([[1.0, 1.0], [0.0, DAMPING]]))
Q: Array = ACCELERATION**2 * np.kron(np.eye(2), np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]]))


@dataclass(frozen=True)
class BearingsOnly:
    """A moving target observed by its bearing; it starts about five units away."""

    def prior(self) -> GaussianMixture:
        """Standard deviations of about 0.7 in position and 0.1 in velocity."""
        return GaussianMixture([1.0], [[3.0, 0.0, 4.0, 0.0]], np.diag([0.5, 0.01, 0.5, 0.01]))

    def transition(self, t: int, x: Array) -> tuple[Array, Array]:
        """One Gaussian of full rank per particle."""
        return x @ F.T, Q

    def observer(self, t: int) -> tuple[float, float]:
        """Position of the observer."""
        return RADIUS * float(np.sin(OBSERVER_TURN * t)), -RADIUS * float(np.cos(OBSERVER_TURN * t))

    def bearing(self, t: int, x: Array) -> Array:
        """Angle from the observer to the target, for states (..., 4)."""
        east, north = self.observer(t)
        return np.asarray(np.arctan2(x[..., 2] - north, x[..., 0] - east))

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log N(y - bearing | 0, BEARING_NOISE^2)``, the difference wrapped to [-pi, pi)."""
        turn: Array = (measured_vector(y, 1) - self.bearing(t, x) + pi) % (2 * pi) - pi
        return -0.5 * (turn / BEARING_NOISE) ** 2 - log(BEARING_NOISE) - 0.5 * log(2 * pi)

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return self.bearing(t, x) + BEARING_NOISE * rng.standard_normal(1)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 4) and observations (T, 1)."""
        return simulate(self, T, rng)


def bearings_only() -> BearingsOnly:
    """Return the bearings-only tracking model."""
    return BearingsOnly()
