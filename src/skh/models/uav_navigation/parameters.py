"""Parameters of the UAV model: sensors, motion, camera, initial state."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import exp, inf

import numpy as np

from skh import _checks
from skh._runtime.lazy import lazy
from skh._typing import Array
from skh.geometry import rotation
from skh.geometry.charts import Pose

GRAVITY = np.array([0.0, 0.0, -9.81])
POSITIVE = (
    *("dt", "acceleration_time", "turn_time"),
    *("accelerometer", "gyroscope", "barometer", "pixel", "focal", "ground"),
    *("width", "height"),
)


@dataclass(frozen=True)
class Parameters:
    """Standard deviations in m, rad, s and pixels.

    Far more accurate accelerometers make every filter with few particles diverge: an error in tilt
    causes one in velocity, which the camera explains by tilt again.
    """

    dt: float = 0.05  # T of the formulas: the camera has 20 frames per second

    # sensors
    accelerometer: float = 2.0
    gyroscope: float = 2e-3
    barometer: float = 0.5
    pixel: float = 2.0

    # motion: a and omega are Gauss-Markov processes, biases random walks (per step)
    acceleration: float = 0.3
    acceleration_time: float = 1.0
    turn: float = 0.1
    turn_time: float = 1.0
    position_noise: float = 1e-2
    rotation_noise: float = 5e-4
    velocity_noise: float = 5e-4
    accelerometer_walk: float = 1e-4
    gyroscope_walk: float = 1e-5

    # initial state besides the pose, which is known
    initial_velocity: float = 0.02
    initial_acceleration: float = 0.1
    initial_turn: float = 0.1
    initial_accelerometer_bias: float = 0.01
    initial_gyroscope_bias: float = 5e-4

    # camera
    focal: float = 320.0
    width: float = 640.0
    height: float = 480.0
    ground: float = 3.0  # of the landmarks' heights
    slots: int = 12  # landmarks per particle at most
    gate: float = 100.0  # upper limit of normalised squared innovations; inf for no gate

    # the tracker of simulated flights
    tracks: int = 10  # followed at a time
    track_loss: float = 0.01  # probability that a track is lost from one image to the next

    def __post_init__(self) -> None:
        _checks.positive_int("slots", self.slots)
        _checks.positive_int("tracks", self.tracks)
        if self.gate != inf:
            _checks.positive("gate", self.gate)
        for name in (f.name for f in fields(self) if f.name != "gate"):
            check = _checks.positive if name in POSITIVE else _checks.non_negative
            check(name, getattr(self, name))
        if self.track_loss > 1:
            raise ValueError(f"track_loss must be in [0, 1], got {self.track_loss!r}")

    @lazy
    def acceleration_decay(self) -> float:
        """Factor of the acceleration per step, alpha_a."""
        return exp(-self.dt / self.acceleration_time)

    @lazy
    def turn_decay(self) -> float:
        """Factor of the turn rate per step, alpha_omega."""
        return exp(-self.dt / self.turn_time)

    @lazy
    def linear_variances(self) -> Array:
        """Variances of w_p, w_v, w_a and of the accelerometer bias increments."""
        driven = self.acceleration * (1 - self.acceleration_decay**2) ** 0.5
        noise = (self.position_noise, self.velocity_noise, driven, self.accelerometer_walk)
        return np.array(noise) ** 2

    @lazy
    def turn_variances(self) -> Array:
        """Variances of w_theta, w_omega and of the gyroscope bias increments."""
        driven = self.turn * (1 - self.turn_decay**2) ** 0.5
        return np.array([self.rotation_noise, driven, self.gyroscope_walk]) ** 2

    @property
    def initial_linear(self) -> Array:
        """Initial variances of v, a, b_a, (9,)."""
        sd = (self.initial_velocity, self.initial_acceleration, self.initial_accelerometer_bias)
        return np.repeat(np.array(sd) ** 2, 3)


@dataclass(frozen=True, eq=False)
class Start:
    """Initial pose, and the means of the initial velocity and acceleration."""

    position: Array = field(default_factory=lambda: np.array([0.0, 0.0, 40.0]))
    rotation: Array = field(default_factory=lambda: np.eye(3))
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    acceleration: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "acceleration"):
            object.__setattr__(self, name, _checks.copied(name, getattr(self, name), 3))
        R = _checks.copied("rotation", self.rotation, 3, 3)
        object.__setattr__(self, "rotation", rotation.rotations("rotation", R))

    @property
    def pose(self) -> Pose:
        """Position and rotation."""
        return Pose(self.position, self.rotation)
