r"""The chaotic system of Lorenz (1963) with noise; only the first coordinate is observed.

.. math::

    \dot x = 10 (y - x), \qquad \dot y = x (28 - z) - y, \qquad \dot z = x y - \tfrac83 z.

Observations are made every 0.05 units of time, with variance 1; between them the flow is integrated
by Heun's method, and noise of variance 0.5 is added to each coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi

import numpy as np

from skh._typing import RNG, Array
from skh.filtering.observations import measured_vector
from skh.gaussians.mixture import GaussianMixture
from skh.models.simulation import simulate

STEPS, TIME_STEP = 5, 0.01  # of Heun's method between two observations


def velocity(x: Array) -> Array:
    """Time derivative of states (..., 3)."""
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    return np.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c], axis=-1)


def flow(x: Array) -> Array:
    """Integrate states to the next observation, without noise."""
    for _ in range(STEPS):
        start = velocity(x)
        x = x + TIME_STEP / 2 * (start + velocity(x + TIME_STEP * start))
    return x


@dataclass(frozen=True)
class Lorenz63:
    """Lorenz's three equations with noise, the first coordinate observed every 0.05 time units."""

    def prior(self) -> GaussianMixture:
        """N((1, 1, 20), 4 I), near the attractor."""
        return GaussianMixture([1.0], [[1.0, 1.0, 20.0]], 4.0)

    def transition(self, t: int, x: Array) -> tuple[Array, float]:
        """One Gaussian of variance 0.5 per particle."""
        return flow(x), 0.5

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log N(y | x[:, 0], 1)``."""
        residual: Array = measured_vector(y, 1) - x[:, 0]
        with np.errstate(over="ignore"):  # the density is zero where the square overflows
            return -0.5 * residual**2 - 0.5 * log(2 * pi)

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return x[:1] + rng.standard_normal(1)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 3) and observations (T, 1)."""
        return simulate(self, T, rng)


def lorenz63() -> Lorenz63:
    """Return the noisy Lorenz system."""
    return Lorenz63()
