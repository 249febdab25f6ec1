r"""Laser scans on a grid map: the beam model and the likelihood field, with AMCL's parameters.

Thrun, Burgard and Fox, *Probabilistic Robotics* (2005), sections 6.3 and 6.4.  A range z of a beam
is a mixture of four parts, whose weights are scaled to sum to one:

===========  ====================================================================================
``z_hit``    normal about the range of the nearest obstacle on the map, with deviation ``sigma_hit``
``z_short``  exponential with rate ``lambda_short`` up to that range: somebody in the way
``z_max``    the sensor's largest range, ``max_range``: nothing came back
``z_rand``   uniform up to ``max_range``
===========  ====================================================================================

`BeamModel` casts every beam on the map; `LikelihoodFieldModel` takes the distance of a beam's end
point to the nearest obstacle in place of the error of its range: smoother and faster, but blind to
obstacles between.  Densities are those of the book.  AMCL drops the normalisation of hits and adds
the cubes of the beams' densities; here they are multiplied.

``max_beams`` beams at equal steps are used.  Errors of neighbouring beams are not independent: the
log-likelihood is multiplied by ``power``, for fewer independent beams than there are.

An observation is a vector of ranges, one for each of ``angles`` (relative to the sensor's heading).
Ranges of NaN do not count; infinite ones, and those beyond ``max_range``, are the largest range.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt
from typing import Any

import numpy as np
import scipy  # loads scipy.ndimage on first use

from skh import _checks
from skh._typing import Array, Indices
from skh.models.robot_sensors.grid_map import GridMap
from skh.robotics.sensors.laser_kernels import (
    beam_log_likelihoods,
    end_distances,
    field_log_likelihoods,
    hit_shares,
)

GRADIENT_CELLS = 2.0  # cells to either side, over which ranges are differentiated
STEEPEST = 6.0  # change of a range per metre; more is an edge, which says nothing


@dataclass(frozen=True, eq=False)
class _Laser(ABC):
    """A laser scanner at ``mount`` (x, y, heading) on the robot."""

    grid: GridMap
    angles: Array
    max_range: float = 80.0
    z_hit: float = 0.95
    z_short: float = 0.1
    z_max: float = 0.05
    z_rand: float = 0.05
    sigma_hit: float = 0.2
    lambda_short: float = 0.1
    max_beams: int = 30
    power: float = 1.0
    mount: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not isinstance(self.grid, GridMap):
            raise TypeError(f"grid must be a GridMap, got {self.grid!r}")
        angles = _checks.copied("angles", self.angles, "k")
        if len(angles) == 0:
            raise ValueError("angles must have at least one beam, got none")
        object.__setattr__(self, "angles", angles)
        object.__setattr__(self, "mount", _checks.copied("mount", self.mount, 3))
        for name in ("max_range", "sigma_hit", "lambda_short", "power", "z_hit"):
            _checks.positive(name, getattr(self, name))
        for name in ("z_short", "z_max", "z_rand"):
            _checks.non_negative(name, getattr(self, name))
        _checks.positive_int("max_beams", self.max_beams)

    @cached_property
    def beams(self) -> Indices:
        """Indices of the beams that are used: at equal steps, ``max_beams`` at most."""
        n = len(self.angles)
        return np.unique(np.linspace(0, n - 1, min(n, self.max_beams)).round().astype(np.intp))

    def log_likelihood(self, states: Array, y: Any) -> Array:
        """``log p(y | state)`` at each row of ``states``, times ``power``."""
        places, headings = self._places(states)
        angles, ranges = self._scan(y)
        values = np.zeros(len(headings))
        if len(ranges):
            self._evaluate(values, places, headings, angles, ranges)
        return self.power * values

    def information(self, states: Array, y: Any) -> Array:
        """Information (n, 3, 3) of the beams that are hits about increments of each state."""
        states = _checks.points("states", states, 3)
        angles, ranges = self._scan(y)
        if len(ranges) == 0:
            return np.zeros((len(states), 3, 3))
        return self._scale * self._curvature(states, angles, ranges)

    def observe(self, state: Array, rng: np.random.Generator) -> Array:
        """Draw a scan of all beams by the beam model."""
        at = self._mounted(_checks.shaped("state", state, 3)[None])
        exact = self.grid.ranges(at, self.angles, self.max_range)[0]
        k = len(exact)
        weights = np.array([self.z_hit, self.z_short, self.z_max, self.z_rand])
        kind = rng.choice(4, k, p=weights / weights.sum())
        hit = np.clip(exact + self.sigma_hit * rng.standard_normal(k), 0.0, self.max_range)
        short = -np.log1p(rng.random(k) * np.expm1(-self.lambda_short * exact)) / self.lambda_short
        drawn = [hit, short, np.full(k, self.max_range), rng.uniform(0.0, self.max_range, k)]
        return np.choose(kind, drawn)

    @abstractmethod
    def _evaluate(
        self, values: Array, places: Array, headings: Array, angles: Array, ranges: Array
    ) -> None:
        """Set ``values`` to the log-likelihoods."""

    @abstractmethod
    def _curvature(self, states: Array, angles: Array, ranges: Array) -> Array:
        """Sum over beams of g g' times the probability of a hit: (n, 3, 3)."""

    @property
    def _scale(self) -> float:
        return float(self.power / self.sigma_hit**2)

    def _scan(self, y: Any) -> tuple[Array, Array]:
        """Angles and ranges of the beams that are used and were measured."""
        y = _checks.floats("y", y)
        if y.shape != self.angles.shape:
            raise ValueError(f"y must have {len(self.angles)} ranges, got shape {y.shape}")
        ranges, angles = y[self.beams], self.angles[self.beams]
        if (ranges < 0).any():
            raise ValueError(f"y must have ranges >= 0, got {np.nanmin(ranges)}")
        kept = self._kept(ranges)
        return np.ascontiguousarray(angles[kept]), np.minimum(ranges[kept], self.max_range)

    def _kept(self, ranges: Array) -> Any:
        return ~np.isnan(ranges)

    def _mounted(self, states: Array) -> Array:
        """Poses (n, 3) of the sensor."""
        c, s, (x, y, turn) = np.cos(states[:, 2]), np.sin(states[:, 2]), self.mount
        arm = np.stack([c * x - s * y, s * x + c * y, np.full(len(c), turn)], axis=1)
        return np.asarray(states + arm)

    def _places(self, states: Array) -> tuple[Array, Array]:
        """Cells (n, 2) and headings of the sensor."""
        at = self._mounted(_checks.points("states", states, 3))
        cells = (at[:, :2] - np.asarray(self.grid.origin)) / self.grid.resolution
        return np.ascontiguousarray(cells), np.ascontiguousarray(at[:, 2])


@dataclass(frozen=True, eq=False)
class BeamModel(_Laser):
    """Ranges of beams, each cast on the map.

    >>> from skh.models import office
    >>> laser = BeamModel(office(), np.linspace(-np.pi, np.pi, 8, endpoint=False), max_range=20.0)
    >>> state = np.array([2.0, 0.0, 0.5])
    >>> y = laser.observe(state, np.random.default_rng(0))
    >>> wrong = state + [3.0, 0.0, 0.0]
    >>> bool(np.diff(laser.log_likelihood(np.array([state, wrong]), y))[0] < -2)
    True
    """

    def _evaluate(
        self, values: Array, places: Array, headings: Array, angles: Array, ranges: Array
    ) -> None:
        scan = places, headings, angles, ranges
        beam_log_likelihoods(
            values, self.grid.occupied, *scan, float(self.grid.resolution), self._parameters
        )

    @cached_property
    def _parameters(self) -> tuple[float, ...]:
        weights = np.array([self.z_hit, self.z_short, self.z_max, self.z_rand])
        weights /= weights.sum()
        rest = self.sigma_hit, self.lambda_short, self.max_range
        return *(float(w) for w in weights), *(float(r) for r in rest)

    def _curvature(self, states: Array, angles: Array, ranges: Array) -> Array:
        expected = self.grid.ranges(self._mounted(states), angles, self.max_range)
        shares = np.empty_like(expected)
        hit_shares(shares, expected, ranges, self._parameters)
        g = self._gradients(states, angles, float(np.median(expected)))
        return np.asarray(np.einsum("nk,nki,nkj->nij", shares, g, g))

    def _gradients(self, states: Array, angles: Array, typical: float) -> Array:
        """Derivatives (n, k, 3) of cast ranges, by differences as wide as a few cells."""
        step = max(GRADIENT_CELLS * self.grid.resolution, 0.5 * self.sigma_hit)
        steps = np.array([step, step, step / max(typical, 2.0 * step)])
        g = np.empty((len(states), len(angles), 3))
        for axis, h in enumerate(steps):
            ahead, back = (
                self.grid.ranges(
                    self._mounted(states + way * np.eye(3)[axis]), angles, self.max_range
                )
                for way in (h, -h)
            )
            g[..., axis] = (ahead - back) / (2 * h)
        per_metre = g * [1.0, 1.0, 1.0 / max(typical, 2.0 * step)]
        return np.where((np.abs(per_metre) > STEEPEST).any(axis=-1, keepdims=True), 0.0, g)


@dataclass(frozen=True, eq=False)
class LikelihoodFieldModel(_Laser):
    """Distances of the beams' end points to the nearest obstacle, on a precomputed field.

    Largest ranges are left out; distances beyond ``max_distance`` count as that.  Outside of the
    map, the distance grows with that to the map.

    >>> from skh.models import office
    >>> angles = np.linspace(-np.pi, np.pi, 8, endpoint=False)
    >>> laser = LikelihoodFieldModel(office(), angles, max_range=20.0)
    >>> laser.log_likelihood(np.array([[2.0, 0.0, 0.5]]), np.full(8, np.inf))
    array([0.])
    """

    max_distance: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.positive("max_distance", self.max_distance)

    def _kept(self, ranges: Array) -> Any:
        return ranges < self.max_range  # false for NaN

    def _evaluate(
        self, values: Array, places: Array, headings: Array, angles: Array, ranges: Array
    ) -> None:
        scan = places, headings, angles, ranges
        field_log_likelihoods(
            values, self.grid.distance_field, *scan, float(self.grid.resolution), self._parameters
        )

    @cached_property
    def _parameters(self) -> tuple[float, float, float, float]:
        total = self.z_hit + self.z_rand
        peak = self.z_hit / total / (sqrt(2 * pi) * self.sigma_hit)
        rest = self.z_rand / total / self.max_range
        return float(peak), float(self.sigma_hit), float(rest), float(self.max_distance)

    @cached_property
    def _normals(self) -> Array:
        """Mean g g' of the field's gradient within ``sigma_hit``: (3, rows, columns), xx, xy, yy.

        The gradient itself vanishes on obstacles and jumps in the middle between two.
        """
        gy, gx = np.gradient(self.grid.distance_field, self.grid.resolution)
        sigma = self.sigma_hit / self.grid.resolution
        blur = scipy.ndimage.gaussian_filter
        return np.stack([blur(part, sigma) for part in (gx * gx, gx * gy, gy * gy)])

    def _curvature(self, states: Array, angles: Array, ranges: Array) -> Array:
        at = self._mounted(states)
        directions = at[:, 2:] + angles
        along = ranges[:, None] * np.stack([np.cos(directions), np.sin(directions)], axis=-1)
        ends = at[:, None, :2] + along
        peak, sigma, rest, farthest = self._parameters
        cells = (ends - np.asarray(self.grid.origin)) / self.grid.resolution
        away, side = np.empty(ends.shape[:2]), float(self.grid.resolution)
        end_distances(away.reshape(-1), self.grid.distance_field, cells.reshape(-1, 2), side)
        hit = peak * np.exp(-0.5 * (np.minimum(away, farthest) / sigma) ** 2)
        share = hit / np.maximum(hit + rest, np.finfo(float).tiny)
        last = np.array(self.grid.occupied.shape)[::-1] - 1
        j, i = np.moveaxis(np.clip(cells, 0, last).astype(np.intp), -1, 0)
        xx, xy, yy = self._normals[:, i, j]
        N = np.stack([np.stack([xx, xy], axis=-1), np.stack([xy, yy], axis=-1)], axis=-2)
        J = np.zeros((*ends.shape[:2], 2, 3))  # of end points by increments of the state
        J[..., 0, 0] = J[..., 1, 1] = 1.0
        arm = ends - states[:, None, :2]
        J[..., 0, 2], J[..., 1, 2] = -arm[..., 1], arm[..., 0]
        return np.asarray(np.einsum("nk,nkai,nkab,nkbj->nij", share, J, N, J))
