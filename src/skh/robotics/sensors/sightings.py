r"""Ranges and bearings to landmarks on a known map, seen from poses in the plane.

An observation is an array with a row for each sighting, (id, range, bearing) or, for a
`RangeSensor`, (id, range); ids are rows of ``landmarks``.  The id -1 means that it is not known
which landmark was seen: the likelihood is then the average over all landmarks.  A range or bearing
that was not measured is NaN.  No row at all is an observation, too: it says nothing.

A sighting is false with probability ``outliers``: uniform in range up to ``longest`` metres and in
bearing over ``view`` radians.

The information about increments of a pose is :math:`\sum_k c\, H_k^\top R^{-1} H_k` over the
sightings, with the derivatives H of range and bearing, and the factor c of `outliers`; a landmark
that is not known is the one nearest to the sighting.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array, Indices
from skh.geometry.charts import wrap
from skh.robotics.sensors.outliers import information_factor
from skh.robotics.sensors.sightings_kernel import sighting_log_likelihoods


@dataclass(frozen=True, eq=False)
class RangeBearing:
    """Ranges and bearings to landmarks (M, 2), by a sensor at ``mount`` (x, y, heading).

    >>> sensor = RangeBearing([[5.0, 0.0], [0.0, 3.0]], range_noise=0.1, bearing_noise=0.02)
    >>> states = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> sensor.log_likelihood(states, [[0, 5.0, 0.0]]).round(2)  # landmark 0, ahead at 5 m
    array([  4.38, -45.62])
    >>> sensor.information(states, [[0, 5.0, 0.0]])[0].diagonal().round()
    array([ 100.,  100., 2500.])
    """

    landmarks: Array
    range_noise: float
    bearing_noise: float
    outliers: float = 0.0
    longest: float = 20.0
    view: float = 2 * pi
    mount: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        landmarks = _checks.points("landmarks", self.landmarks, 2).copy()
        object.__setattr__(self, "landmarks", landmarks)
        for name in ("range_noise", "bearing_noise", "longest", "view"):
            _checks.positive(name, getattr(self, name))
        _checks.fraction("outliers", self.outliers)
        object.__setattr__(self, "mount", _checks.copied("mount", self.mount, 3))

    def log_likelihood(self, states: Array, y: Any) -> Array:
        """``log p(y | state)`` at each row of ``states``."""
        states, y = _checks.points("states", states, 3), self.sightings(y)
        values = np.empty(len(states))
        sighting_log_likelihoods(
            *(values, np.ascontiguousarray(states), self.mount, y, self.landmarks),
            *(float(self.range_noise), float(self.bearing_noise)),
            self._constants(y),
        )
        return values

    def information(self, states: Array, y: Any) -> Array:
        """Information (n, 3, 3) of y about increments of each state."""
        states, y = _checks.points("states", states, 3), self.sightings(y)
        measured = np.isfinite(y[:, 1:])
        sd = np.array([self.range_noise, self.bearing_noise])
        H = self.jacobian(states, self._seen(states, y)) * measured[:, :, None] / sd[:, None]
        factors = np.array([self._factor(*row) for row in measured])
        return np.asarray(np.einsum("m,nmki,nmkj->nij", factors, H, H))

    def observe(self, state: Array, rng: np.random.Generator) -> Array:
        """Draw a sighting of each landmark within reach and view, some of them false."""
        at = self.project(_checks.shaped("state", state, 3)[None], self.landmarks)
        r, b = at[..., 0], wrap(at[..., 1])
        seen = np.flatnonzero((r[0] < self.longest) & (np.abs(b[0]) <= self.view / 2))
        r = r[0, seen] + self.range_noise * rng.standard_normal(len(seen))
        b = wrap(b[0, seen] + self.bearing_noise * rng.standard_normal(len(seen)))
        false = rng.random(len(seen)) < self.outliers
        r = np.where(false, rng.uniform(0.0, self.longest, len(seen)), r)
        b = np.where(false, rng.uniform(-self.view / 2, self.view / 2, len(seen)), b)
        return np.stack([seen, r, b], axis=1)

    def project(self, states: Array, landmarks: Array) -> Array:
        """Ranges and bearings (n, m, 2) of landmarks (m, 2) or (n, m, 2), without noise."""
        d = self._between(states, landmarks)
        bearings = np.arctan2(d[..., 1], d[..., 0]) - states[:, 2:] - self.mount[2]
        return np.stack([np.hypot(d[..., 0], d[..., 1]), bearings], axis=-1)

    def difference(self, values: Array, predicted: Array) -> Array:
        """Errors of ranges and bearings; bearings wrap."""
        error = np.asarray(values - predicted)
        error[..., 1] = wrap(error[..., 1])
        return error

    def jacobian(self, states: Array, landmarks: Array) -> Array:
        """Derivatives (n, m, 2, 3) of ranges and bearings by increments of the states."""
        G = self.landmark_jacobian(states, landmarks)
        arm = self._mounted(states)
        turned = np.stack([-arm[:, 1], arm[:, 0]], axis=1)  # of the sensor by the heading
        last = -np.einsum("nmki,ni->nmk", G, turned) - [0.0, 1.0]
        return np.concatenate([-G, last[..., None]], axis=-1)

    def landmark_jacobian(self, states: Array, landmarks: Array) -> Array:
        """Derivatives (n, m, 2, 2) of ranges and bearings by the positions of the landmarks."""
        d = self._between(states, landmarks)
        r = np.maximum(np.hypot(d[..., 0], d[..., 1]), np.finfo(float).tiny)[..., None]
        u = d / r
        return np.stack([u, np.stack([-u[..., 1], u[..., 0]], axis=-1) / r], axis=-2)

    def triangulate(self, states: Array, values: Array) -> Array:
        """Positions (n, m, 2) of landmarks with these ranges and bearings (m, 2)."""
        directions = states[:, 2:] + self.mount[2] + values[:, 1]
        along = np.stack([np.cos(directions), np.sin(directions)], axis=-1)
        at = states[:, :2] + self._mounted(states)
        return np.asarray(at[:, None] + values[:, 0, None] * along)

    @property
    def covariance(self) -> Array:
        """Covariance (2, 2) of the errors of a sighting."""
        return np.diag([self.range_noise**2, self.bearing_noise**2])

    @property
    def log_uniform(self) -> float:
        """Log-density of a false sighting."""
        return -log(self.longest * self.view)

    def features(self, y: Any) -> tuple[Indices, Array]:
        """Ids and values (m, 2) of sightings for a map that is being made: any ids >= 0."""
        return _features(_sightings(y, sys.maxsize, 3, "(id, range, bearing)"))

    def sightings(self, y: Any) -> Array:
        """Validate an observation; return rows (id, range, bearing)."""
        return _sightings(y, len(self.landmarks), 3, "(id, range, bearing)")

    def _mounted(self, states: Array) -> Array:
        """Displacements (n, 2) of the sensor from the states, in the world's axes."""
        c, s, (x, y, _) = np.cos(states[:, 2]), np.sin(states[:, 2]), self.mount
        return np.stack([c * x - s * y, s * x + c * y], axis=1)

    def _between(self, states: Array, landmarks: Array) -> Array:
        at = states[:, :2] + self._mounted(states)
        return np.asarray(landmarks - at[:, None, :])

    def _seen(self, states: Array, y: Array) -> Array:
        """Landmarks (n, m, 2) of the sightings; if not known, those nearest to the sighting."""
        ids = np.broadcast_to(y[:, 0].astype(np.intp), (len(states), len(y))).copy()
        at = self.project(states, self.landmarks)
        for k in np.flatnonzero(y[:, 0] < 0):
            error = self.difference(np.nan_to_num(y[k, 1:]), at) * np.isfinite(y[k, 1:])
            ids[:, k] = ((error / [self.range_noise, self.bearing_noise]) ** 2).sum(-1).argmin(1)
        return self.landmarks[ids]

    def _constants(self, y: Array) -> Array:
        """Log-densities (m, 2) of no error and of an outlier, with their probabilities."""
        measured = np.isfinite(y[:, 1:])
        sd = np.log([self.range_noise, self.bearing_noise]) + 0.5 * log(2 * pi)
        average = np.where(y[:, 0] < 0, log(len(self.landmarks)), 0.0)
        widths = np.log([self.longest, self.view])
        with np.errstate(divide="ignore"):  # none or all are outliers
            log_shares = np.log([1.0 - self.outliers, self.outliers])
        return np.asarray(log_shares - np.stack([measured @ sd + average, measured @ widths], 1))

    def _factor(self, has_range: bool, has_bearing: bool) -> float:
        """Share of the Gaussian's information that outliers leave."""
        sd, widths = (self.range_noise, self.bearing_noise), (self.longest, self.view)
        parts = [k for k, has in enumerate((has_range, has_bearing)) if has]
        if not parts:
            return 0.0
        log_uniform = sum(log(sd[k] / widths[k]) for k in parts)
        return information_factor(len(parts), self.outliers, log_uniform)


@dataclass(frozen=True, eq=False)
class RangeSensor:
    """Distances to beacons (M, 2), by a sensor at ``mount`` (x, y, heading).

    >>> sensor = RangeSensor([[5.0, 0.0]], range_noise=0.1)
    >>> sensor.log_likelihood(np.zeros((1, 3)), [[0, 5.0]]).round(2)
    array([1.38])
    """

    landmarks: Array
    range_noise: float
    outliers: float = 0.0
    longest: float = 20.0
    mount: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        self._both  # noqa: B018 - validates

    @property
    def _both(self) -> RangeBearing:
        return RangeBearing(
            *(self.landmarks, self.range_noise, 1.0, self.outliers, self.longest),
            mount=self.mount,
        )

    def log_likelihood(self, states: Array, y: Any) -> Array:
        """``log p(y | state)`` at each row of ``states``."""
        return self._both.log_likelihood(states, self.sightings(y))

    def information(self, states: Array, y: Any) -> Array:
        """Information (n, 3, 3) of y about increments of each state."""
        return self._both.information(states, self.sightings(y))

    def observe(self, state: Array, rng: np.random.Generator) -> Array:
        """Draw the range of each beacon within reach, some of them false."""
        return self._both.observe(state, rng)[:, :2]

    def sightings(self, y: Any) -> Array:
        """Validate an observation; return rows (id, range, NaN)."""
        y = _sightings(y, len(np.asarray(self.landmarks)), 2, "(id, range)")
        return np.column_stack([y, np.full(len(y), np.nan)])


def _sightings(y: Any, landmarks: int, columns: int, names: str) -> Array:
    """Validate rows of sightings; ids that are NaN become -1."""
    rows = np.array(_checks.floats("y", y), dtype=np.float64)
    if rows.size == 0:
        return np.empty((0, columns))
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise ValueError(f"y must have rows {names}, got shape {rows.shape}")
    rows[:, 0] = np.where(np.isnan(rows[:, 0]), -1.0, rows[:, 0])
    ids = rows[:, 0]
    wrong = (ids != np.floor(ids)) | (ids < -1) | (ids >= landmarks)
    if wrong.any():
        raise ValueError(
            f"y must have ids in 0..{landmarks - 1}, or -1 where unknown, got {ids[wrong][0]:g}"
        )
    if np.isinf(rows[:, 1:]).any() or (rows[:, 1:2] < 0).any():
        raise ValueError(f"y must have finite ranges >= 0 and finite bearings, got {rows[:, 1:]}")
    return rows


def _features(rows: Array) -> tuple[Indices, Array]:
    """Ids and values of rows that must be known and complete, each id once."""
    ids = rows[:, 0].astype(np.intp)
    if (ids < 0).any() or np.isnan(rows).any() or len(np.unique(ids)) < len(ids):
        raise ValueError(f"y must have known ids, each once, and no NaN to make a map, got {rows}")
    return ids, rows[:, 1:]
