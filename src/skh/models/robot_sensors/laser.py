r"""Laser scans on a grid map: a robot that drives in a room, with a beam or a field likelihood.

The state is a pose (x, y, heading).  It is a model of plain vectors; to let headings wrap, filter
``skh.geometry.Charted(model, skh.geometry.SE2())``.

- `LaserBeams`: each beam's range is that of ray casting on the map, plus Gaussian noise;
- `LikelihoodField`: the end point of each beam is Gaussian about the nearest obstacle, with a
  floor (Thrun, Burgard and Fox, *Probabilistic Robotics*, section 6.4), and a scan is simulated
  like a beam's, with a share of random ranges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import pi

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture
from skh.models.robot_sensors.grid_map import GridMap, office
from skh.models.robot_sensors.landmarks import driven
from skh.models.robot_sensors.noise import log_floored_density
from skh.models.simulation import simulate


@dataclass(frozen=True, eq=False)
class _Scanner(ABC):
    """A robot that drives on a circle and measures the ranges of ``beams`` all around it."""

    grid: GridMap = field(default_factory=office)
    beams: int = 16
    noise: float = 0.05  # standard deviation of a range, metres
    outliers: float = 0.0  # share of random ranges
    longest: float = 20.0  # range, metres
    speed: float = 0.3  # metres per step
    turn: float = 0.15  # radians per step
    step_noise: float = 0.1  # standard deviation of a step in each direction, metres
    turn_noise: float = 0.05  # standard deviation of a turn, radians

    def __post_init__(self) -> None:
        if not isinstance(self.grid, GridMap):
            raise TypeError(f"grid must be a GridMap, got {self.grid!r}")
        _checks.positive_int("beams", self.beams)
        _checks.fraction("outliers", self.outliers)
        for name in ("noise", "longest", "step_noise", "turn_noise"):
            _checks.positive(name, getattr(self, name))

    @property
    def angles(self) -> Array:
        """Directions of the beams relative to the heading."""
        return 2 * pi / self.beams * np.arange(self.beams, dtype=np.float64)

    def prior(self) -> GaussianMixture:
        """Standard deviations of 0.3 m about (2, 0), and 0.1 rad about the heading pi / 2."""
        return GaussianMixture([1.0], [[2.0, 0.0, pi / 2]], np.diag([0.09, 0.09, 0.01]))

    def transition(self, t: int, x: Array) -> tuple[Array, Array]:
        """One Gaussian per particle."""
        noise = np.diag([self.step_noise**2] * 2 + [self.turn_noise**2])
        return driven(x, self.speed, self.turn), noise

    def ranges(self, x: Array) -> Array:
        """Ranges (n, beams) without noise."""
        return self.grid.ranges(x, self.angles, self.longest)

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        exact = self.ranges(x[None])[0]
        noisy = exact + self.noise * rng.standard_normal(self.beams)
        random = rng.uniform(0, self.longest, self.beams)
        return np.where(rng.random(self.beams) < self.outliers, random, noisy)

    def log_likelihood(self, t: int, x: Array, y: Array) -> Array:
        """Sum over beams of the log-density of ``errors``, with its floor."""
        y = _checks.shaped("y", y, self.beams)
        log_l = log_floored_density(self.errors(x, y), self.noise, self.outliers, self.longest)
        return np.asarray(log_l.sum(axis=-1))

    @abstractmethod
    def errors(self, x: Array, y: Array) -> Array:
        """Errors (n, beams) of a scan ``y`` seen from poses ``x`` (n, 3), metres."""

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 3) and observations (T, beams)."""
        return simulate(self, T, rng)


@dataclass(frozen=True, eq=False)
class LaserBeams(_Scanner):
    """A driving robot, observed by the ranges of laser beams on a grid map.

    >>> states, scans = LaserBeams(beams=8).simulate(3, rng=0)
    >>> states.shape, scans.shape
    ((3, 3), (3, 8))
    """

    def errors(self, x: Array, y: Array) -> Array:
        """Differences of measured and cast ranges."""
        return y - self.ranges(x)


@dataclass(frozen=True, eq=False)
class LikelihoodField(_Scanner):
    """A driving robot, with the distances of the beams' end points to obstacles as errors."""

    noise: float = 0.1
    outliers: float = 0.1

    def errors(self, x: Array, y: Array) -> Array:
        """Distances of the end points to the nearest obstacle."""
        return self.grid.distances(self.ends(x, y))

    def ends(self, x: Array, y: Array) -> Array:
        """End points (n, beams, 2) of beams of ranges ``y`` from poses ``x`` (n, 3)."""
        directions = x[:, 2:] + self.angles
        along = np.stack([np.cos(directions), np.sin(directions)], axis=-1)
        return np.asarray(x[:, None, :2] + y[:, None] * along)


def laser_beams() -> LaserBeams:
    """Return the model with 16 beams in an office."""
    return LaserBeams()


def likelihood_field() -> LikelihoodField:
    """Return the model with a likelihood field of an office."""
    return LikelihoodField()
