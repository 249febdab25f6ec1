r"""Localisation by ranges: a position in the plane, and its distances to two beacons.

The beacons are on the first axis, so a position and its mirror image have equal likelihoods: the
filter has two modes, which merge and split as the position circles the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, log, pi, sin

import numpy as np

from skh._typing import RNG, Array
from skh.filtering.observations import measured_vector
from skh.gaussians.mixture import GaussianMixture
from skh.models.simulation import simulate

BEACONS = np.array([[-3.0, 0.0], [3.0, 0.0]])
CIRCLE_TURN, SHRINK = 0.1, 0.99  # per step, about the origin
STEP_VARIANCE = 0.15
RANGE_NOISE = 0.2  # standard deviation of a range

TRANSITION = SHRINK * np.array(
    [[cos(CIRCLE_TURN), -sin(CIRCLE_TURN)], [sin(CIRCLE_TURN), cos(CIRCLE_TURN)]]
)


@dataclass(frozen=True)
class Localisation:
    """A position that circles the origin, observed by its distances to two beacons."""

    def prior(self) -> GaussianMixture:
        """N(0, 9 I)."""
        return GaussianMixture([1.0], [[0.0, 0.0]], 9.0)

    def transition(self, t: int, x: Array) -> tuple[Array, float]:
        """One Gaussian per particle."""
        return x @ TRANSITION.T, STEP_VARIANCE

    def ranges(self, x: Array) -> Array:
        """Distances of positions (..., 2) to the beacons, (..., 2)."""
        return np.asarray(np.linalg.norm(x[..., None, :] - BEACONS, axis=-1))

    def log_likelihood(self, t: int, x: Array, y: Array) -> Array:
        """``log N(y | ranges(x), RANGE_NOISE^2 I)``."""
        with np.errstate(over="ignore"):  # the density is zero where the square overflows
            squares: Array = np.sum(
                ((measured_vector(y, 2) - self.ranges(x)) / RANGE_NOISE) ** 2, axis=-1
            )
        return -0.5 * squares - log(2 * pi * RANGE_NOISE**2)

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return self.ranges(x) + RANGE_NOISE * rng.standard_normal(2)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 2) and observations (T, 2)."""
        return simulate(self, T, rng)


def localisation() -> Localisation:
    """Return the localisation model."""
    return Localisation()
