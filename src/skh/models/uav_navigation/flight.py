"""Simulated flights: along a given path over a field of landmarks, or drawn from the model itself.

The flight data of the paper (Törnqvist et al., 2009) are not public.  `survey_flight` replaces them
by data of the same structure: a helicopter that flies wide curves at 40 m, looking down.
`drawn_flight` samples the model exactly, which is less realistic, but filters must then be
calibrated on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from skh import _checks
from skh._typing import RNG, Array
from skh.geometry import Charted, rotation
from skh.geometry.charts import SE3, Pose
from skh.models.uav_navigation.camera import Find, Tracker, mapped, on_the_ray
from skh.models.uav_navigation.model import UavModel
from skh.models.uav_navigation.observation import Observation
from skh.models.uav_navigation.parameters import GRAVITY, Parameters, Start

FIELD, N_LANDMARKS = 150.0, 4_000  # metres from the centre to the edge
WOBBLE = 0.02  # radians


@dataclass(frozen=True, eq=False)
class Flight:
    """A simulated flight: true poses, observations, and what a filter may know."""

    poses: Pose  # positions (T, 3), rotations (T, 3, 3)
    observations: list[Observation]
    landmarks: Array  # (k, 3): the whole field, or the tracked ones
    parameters: Parameters
    start: Start

    @property
    def times(self) -> Array:
        """Seconds since the start, (T,)."""
        return self.parameters.dt * np.arange(len(self.observations), dtype=np.float64)

    @property
    def model(self) -> Charted:
        """The model of this flight, for a particle filter."""
        return uav(self.parameters, self.start)


def uav(parameters: Parameters | None = None, start: Start | None = None) -> Charted:
    """Return the UAV model in R^6, for any filter of this library.

    >>> import skh
    >>> flight = skh.models.survey_flight(20, rng=0)
    >>> result = skh.particle_filter(flight.model, flight.observations, skh.Stratified(), 50, rng=1)
    >>> result.means.shape, result.z_means.shape
    ((20, 6), (20, 15))
    """
    return Charted(
        UavModel(_given("parameters", parameters, Parameters), _given("start", start, Start)), SE3()
    )


K = TypeVar("K", Parameters, Start)


def _given(name: str, value: K | None, kind: type[K]) -> K:
    """Return ``value``, or the default ``kind()`` for None."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be skh.models.Uav{kind.__name__}, got {value!r}")
    return value


@dataclass(frozen=True, eq=False)
class _Motion:
    """The true motion: poses, accelerations (T, 3) and turn rates (T, 3)."""

    poses: Pose
    acceleration: Array
    turn: Array


def survey_flight(
    T: int = 2_000, *, rng: RNG = None, parameters: Parameters | None = None
) -> Flight:
    """Simulate a flight in wide curves at 40 m, over 4,000 landmarks on 300 m x 300 m."""
    T, rng = _checks.positive_int("T", T), _checks.generator(rng)
    q = _given("parameters", parameters, Parameters)
    times = q.dt * np.arange(T, dtype=np.float64)
    poses = survey_path(times)
    ahead = survey_path(times + q.dt)
    turn = SE3().minus(ahead, poses)[:, 3:] / q.dt
    motion = _Motion(poses, _position(times, 2), turn)
    ground = np.column_stack(
        [rng.uniform(-FIELD, FIELD, (N_LANDMARKS, 2)), q.ground * rng.standard_normal(N_LANDMARKS)]
    )
    velocity = _position(times[:1], 1)[0]
    start = Start(poses.position[0], poses.rotation[0], velocity, motion.acceleration[0])
    observations, _ = _observed(motion, mapped(ground, q), q, rng)
    return Flight(poses, observations, ground, q, start)


def survey_path(times: Array) -> Pose:
    """Poses at the given times: oscillating yaw, body z along a - g, and a wobble."""
    yaw = 0.8 * np.sin(2 * np.pi * times / 50)
    up = _position(times, 2) - GRAVITY
    z = up / np.linalg.norm(up, axis=1, keepdims=True)
    ahead = np.stack([np.cos(yaw), np.sin(yaw), np.zeros_like(yaw)], axis=1)
    y = np.cross(z, ahead)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    wobble = np.stack(
        [np.sin(2 * np.pi * times / 7), np.sin(2 * np.pi * times / 5 + 1), np.zeros_like(yaw)], 1
    )
    R = np.stack([np.cross(y, z), y, z], axis=2) @ rotation.exp(WOBBLE * wobble)
    return Pose(_position(times, 0), R)


def _position(times: Array, derivative: int) -> Array:
    """(60 sin 2 pi t/110, 40 sin(2 pi t/75 + 0.3) - ..., 40 + 4 sin 2 pi t/33) or a derivative."""
    size, rate = np.array([60.0, 40.0, 4.0]), 2 * np.pi / np.array([110.0, 75.0, 33.0])
    ahead = np.array([0.0, 0.3, 0.0]) + derivative * np.pi / 2  # d/dt is a phase shift of pi / 2
    value = size * rate**derivative * np.sin(rate * times[:, None] + ahead)
    offset = np.array([0.0, -40 * np.sin(0.3), 40.0])
    return np.asarray(value if derivative else value + offset)


def drawn_flight(
    T: int,
    *,
    rng: RNG = None,
    parameters: Parameters | None = None,
    start: Start | None = None,
) -> Flight:
    """Draw a flight from the model; velocities and turn rates drift, so keep it below 20 s."""
    T, rng = _checks.positive_int("T", T), _checks.generator(rng)
    q, start = _given("parameters", parameters, Parameters), _given("start", start, Start)
    motion = _drawn_motion(T, q, start, rng)
    observations, landmarks = _observed(motion, on_the_ray(q), q, rng)
    return Flight(motion.poses, observations, landmarks, q, start)


def _drawn_motion(T: int, q: Parameters, start: Start, rng: Generator) -> _Motion:
    normal = rng.standard_normal
    chart, state = SE3(), start.pose
    v = start.velocity + q.initial_velocity * normal(3)
    a = start.acceleration + q.initial_acceleration * normal(3)
    omega = q.initial_turn * normal(3)
    (sp, sv, sa, _), (st, so, _) = np.sqrt(q.linear_variances), np.sqrt(q.turn_variances)
    rows = []
    for _ in range(T):
        rows.append((*state, a, omega))
        there = q.dt * v + q.dt**2 / 2 * a + sp * normal(3)
        xi = np.concatenate([there, q.dt * omega + st * normal(3)])
        state = chart.plus(state, xi)
        v, a = v + q.dt * a + sv * normal(3), q.acceleration_decay * a + sa * normal(3)
        omega = q.turn_decay * omega + so * normal(3)
    p, R, a, omega = (np.array(part) for part in zip(*rows, strict=True))
    return _Motion(Pose(p, R), a, omega)


def _observed(
    motion: _Motion, find: Find, q: Parameters, rng: Generator
) -> tuple[list[Observation], Array]:
    """Simulate all sensors along a motion; also return the tracked landmarks (k, 3)."""
    T, normal = len(motion.turn), rng.standard_normal
    p, R = motion.poses
    bias_a = _walk(T, q.initial_accelerometer_bias, q.accelerometer_walk, rng)
    bias_w = _walk(T, q.initial_gyroscope_bias, q.gyroscope_walk, rng)
    felt = np.einsum("tji,tj->ti", R, motion.acceleration - GRAVITY)
    acc = felt + bias_a + q.accelerometer * normal((T, 3))
    gyr = motion.turn + bias_w + q.gyroscope * normal((T, 3))
    bar = p[:, 2] + q.barometer * normal(T)
    tracker = Tracker(q, find, rng)
    images = [tracker.image(Pose(p[t], R[t])) for t in range(T)]
    observations = [Observation(acc[t], gyr[t], bar[t], *images[t]) for t in range(T)]
    return observations, np.array(tracker.found).reshape(-1, 3)


def _walk(T: int, first: float, step: float, rng: Generator) -> Array:
    """Draw a random walk (T, 3) for a bias."""
    steps = step * rng.standard_normal((T, 3))
    steps[0] = first * rng.standard_normal(3)
    return steps.cumsum(axis=0)
