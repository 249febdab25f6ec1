r"""Ranges and bearings to known landmarks: a robot in the plane, with or without a compass.

With a compass the state is the position, which circles the origin as in `Localisation`, and
bearings are directions in the world:

.. math::

    x_{t+1} = 0.99\, R(0.1)\, x_t + v_t, \qquad
    y_t^j = \bigl(|l_j - x_t|,\ \angle(l_j - x_t)\bigr) + e_t^j .

Without one the heading is the third coordinate, the robot drives along it, and bearings are
relative to it.  Sensors of 2 cm and 0.01 rad with steps of 20 cm make the posterior about twenty
times narrower than the predictive distribution in each direction.  A share of ``outliers``, uniform
in range and bearing, puts a floor under the likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.residual_form import cauchy_residuals
from skh.gaussians.mixture import GaussianMixture
from skh.geometry.charts import wrap
from skh.models.beacon_localisation import TRANSITION
from skh.models.robot_sensors.noise import log_floored_density
from skh.models.simulation import simulate

THREE_LANDMARKS = ((5.0, 1.0), (-3.0, 4.0), (-2.0, -5.0))
LONGEST_RANGE = 20.0  # metres; outliers are uniform up to it
SPEED, TURN = 0.3, 0.1  # metres and radians per step, of the robot without a compass


@dataclass(frozen=True)
class RangeBearing:
    """A robot in the plane that measures ranges and bearings to landmarks.

    >>> model = RangeBearing(heading=True)
    >>> states, ys = model.simulate(5, rng=0)
    >>> states.shape, ys.shape
    ((5, 3), (5, 6))
    """

    heading: bool = False  # part of the state, and bearings relative to it
    range_noise: float = 0.02  # standard deviation, metres
    bearing_noise: float = 0.01  # standard deviation, radians
    outliers: float = 0.0  # probability of each number to be one
    landmarks: Sequence[Sequence[float]] = THREE_LANDMARKS
    step_noise: float = 0.2  # standard deviation of a step in each direction, metres
    turn_noise: float = 0.1  # standard deviation of a turn, radians

    def __post_init__(self) -> None:
        _checks.boolean("heading", self.heading)
        for name in ("range_noise", "bearing_noise", "step_noise", "turn_noise"):
            _checks.positive(name, getattr(self, name))
        _checks.fraction("outliers", self.outliers)
        _checks.points("landmarks", self.landmarks, 2)

    def prior(self) -> GaussianMixture:
        """Standard deviations of 0.5 m about (2, 0) and, of the heading, 0.2 rad about pi / 2."""
        if not self.heading:
            return GaussianMixture([1.0], [[2.0, 0.0]], 0.25)
        return GaussianMixture([1.0], [[2.0, 0.0, pi / 2]], np.diag([0.25, 0.25, 0.04]))

    def transition(self, t: int, x: Array) -> tuple[Array, Array | float]:
        """One Gaussian per particle."""
        if not self.heading:
            return x @ TRANSITION.T, self.step_noise**2
        return driven(x, SPEED, TURN), np.diag([self.step_noise**2] * 2 + [self.turn_noise**2])

    def measured(self, x: Array) -> tuple[Array, Array]:
        """Ranges and bearings (..., landmarks) of all landmarks from states (..., d)."""
        between = np.asarray(self.landmarks) - x[..., None, :2]
        direction = np.arctan2(between[..., 1], between[..., 0])
        turned = direction - x[..., 2:] if self.heading else direction
        return np.hypot(between[..., 0], between[..., 1]), turned

    def errors(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Ranges and bearings of ``y`` less those from states (..., d); bearings wrap."""
        ranges, bearings = self.measured(x)
        y = _checks.shaped("y", y, 2 * len(self.landmarks))
        return y[: len(self.landmarks)] - ranges, wrap(y[len(self.landmarks) :] - bearings)

    def log_likelihood(self, t: int, x: Array, y: Array) -> Array:
        """Sum over landmarks of both log-densities."""
        far, turn = self.errors(x, y)
        log_l = log_floored_density(far, self.range_noise, self.outliers, LONGEST_RANGE)
        log_l += log_floored_density(turn, self.bearing_noise, self.outliers, 2 * pi)
        return np.asarray(log_l.sum(axis=-1))

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t: all ranges, then all bearings."""
        ranges, bearings = self.measured(x)
        far = ranges + self.range_noise * rng.standard_normal(len(ranges))
        turn = wrap(bearings + self.bearing_noise * rng.standard_normal(len(bearings)))
        out = rng.random((2, len(ranges))) < self.outliers
        far = np.where(out[0], rng.uniform(0, LONGEST_RANGE, len(far)), far)
        return np.concatenate([far, np.where(out[1], rng.uniform(-pi, pi, len(turn)), turn)])

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 2 or 3) and observations (T, 2 landmarks)."""
        return simulate(self, T, rng)


class ResidualRangeBearing(RangeBearing):
    """The same robot, whose filter is given the errors of an observation, not only their sum.

    Outliers put a floor under the likelihood; residuals are those of Cauchy errors, without one.
    """

    def residuals(self, t: int, x: Array, y: Array) -> Array:
        """Residuals (..., 2 landmarks), to be linearised."""
        far, turn = self.errors(x, y)
        return cauchy_residuals(
            np.concatenate([far / self.range_noise, turn / self.bearing_noise], axis=-1)
        )


def driven(x: Array, speed: float, turn: float) -> Array:
    """Poses (n, 3) after a step of ``speed`` along the heading, then a turn."""
    heading = x[:, 2]
    ahead = np.stack([speed * np.cos(heading), speed * np.sin(heading), 0 * heading + turn], axis=1)
    return np.asarray(x + ahead)


def range_bearing(heading: bool = False) -> RangeBearing:
    """Return the model with three landmarks and precise sensors."""
    return RangeBearing(heading)
