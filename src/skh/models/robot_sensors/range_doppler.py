r"""Radars that measure range and Doppler: a target with position and velocity in the plane.

.. math::

    y_t^j = \Bigl(|p_t - s_j|,\ \frac{(p_t - s_j)^\top v_t}{|p_t - s_j|}\Bigr) + e_t^j .

The state is (position, velocity) of the first coordinate, then of the second, and accelerates at
random.  Two stations determine it up to the side of the line through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture
from skh.models.robot_sensors.noise import log_normal_density
from skh.models.simulation import simulate

STATIONS = ((0.0, 0.0), (60.0, 0.0))  # metres
DRAG = 0.95  # share of the velocity that is left after one step


@dataclass(frozen=True)
class Radar:
    """A target that accelerates at random, observed by the range and Doppler of two radars."""

    range_noise: float = 0.1  # standard deviation, metres
    doppler_noise: float = 0.05  # standard deviation, metres per step
    acceleration: float = 1.0  # standard deviation of the velocity's increment
    stations: Sequence[Sequence[float]] = STATIONS

    def __post_init__(self) -> None:
        for name in ("range_noise", "doppler_noise", "acceleration"):
            _checks.positive(name, getattr(self, name))
        _checks.points("stations", self.stations, 2)

    def prior(self) -> GaussianMixture:
        """Standard deviations of 2 m and 1 m per step."""
        return GaussianMixture([1.0], [[30.0, 0.0, 40.0, 0.0]], np.diag([4.0, 1.0, 4.0, 1.0]))

    def transition(self, t: int, x: Array) -> tuple[Array, Array]:
        """One Gaussian of full rank per particle: acceleration is white within a step."""
        flow = np.kron(np.eye(2), np.array([[1.0, 1.0], [0.0, DRAG]]))
        noise = np.kron(np.eye(2), np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]]))
        return x @ flow.T, self.acceleration**2 * noise

    def measured(self, x: Array) -> tuple[Array, Array]:
        """Ranges and range rates (..., stations) of states (..., 4)."""
        between = x[..., None, 0::2] - np.asarray(self.stations)
        ranges = np.hypot(between[..., 0], between[..., 1])
        along = (between * x[..., None, 1::2]).sum(axis=-1)
        return ranges, along / np.maximum(ranges, np.finfo(float).tiny)

    def log_likelihood(self, t: int, x: Array, y: Array) -> Array:
        """Sum over stations of both log-densities."""
        ranges, rates = self.measured(x)
        y = _checks.shaped("y", y, 2 * len(self.stations))
        log_l = log_normal_density(y[: len(self.stations)] - ranges, self.range_noise)
        log_l += log_normal_density(y[len(self.stations) :] - rates, self.doppler_noise)
        return np.asarray(log_l.sum(axis=-1))

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t: all ranges, then all range rates."""
        ranges, rates = self.measured(x)
        noise = rng.standard_normal((2, len(ranges)))
        far = ranges + self.range_noise * noise[0]
        return np.concatenate([far, rates + self.doppler_noise * noise[1]])

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 4) and observations (T, 2 stations)."""
        return simulate(self, T, rng)


def radar() -> Radar:
    """Return the model with two radars."""
    return Radar()
