"""Controls: what a robot did between two steps of a filter, as motion models take it.

==================  ============================================================================
`OdometryStep`      turn, drive straight, turn again (differential drives, as in AMCL)
`BodyStep`          the pose after the step as seen from that before it, perhaps with a covariance
                    (odometry of any drive, pre-integrated odometry)
`VelocitySteps`     forward and turning speeds, each for a while, in the plane
`BodyRates`         velocity and turn rate for a while, in space, in the body's axes
`PoseStep`          a displacement and a rotation in space with their covariance
==================  ============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import atan2, cos, hypot, sin

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array
from skh.geometry import rotation
from skh.geometry.charts import wrap

SHORT_WAY = 0.01  # metres; below, the direction of a step is unknown and its first turn zero


@dataclass(frozen=True)
class OdometryStep:
    """Turn by ``turn1``, drive ``way`` metres straight ahead, turn by ``turn2``.

    >>> round(OdometryStep.between([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]).turn1, 4)
    0.7854
    """

    turn1: float
    way: float
    turn2: float

    def __post_init__(self) -> None:
        for name in ("turn1", "way", "turn2"):
            _checks.shaped(name, getattr(self, name))

    @classmethod
    def between(cls, before: ArrayLike, after: ArrayLike) -> OdometryStep:
        """The step between two poses (x, y, heading) of the odometry."""
        return BodyStep.between(before, after).as_odometry()

    def as_body(self) -> BodyStep:
        """The same step as a displacement in the robot's axes."""
        c, s = cos(self.turn1), sin(self.turn1)
        return BodyStep(self.way * c, self.way * s, self.turn1 + self.turn2)

    def as_odometry(self) -> OdometryStep:
        """Return the step itself."""
        return self


@dataclass(frozen=True, eq=False)
class BodyStep:
    """The pose after a step as seen from the pose before it, by odometry.

    ``covariance`` (3, 3) of (x, y, turn), if it is known, in the same axes.

    >>> step = BodyStep.between([1.0, 0.0, np.pi / 2], [1.0, 2.0, np.pi / 2])
    >>> round(step.x, 6), round(abs(step.y), 6), step.turn, step.way
    (2.0, 0.0, 0.0, 2.0)
    """

    x: float  # metres ahead
    y: float  # metres to the left
    turn: float  # radians, counter-clockwise
    dt: float = 0.0  # seconds
    covariance: Array | None = None

    def __post_init__(self) -> None:
        for name in ("x", "y", "turn", "dt"):
            _checks.shaped(name, getattr(self, name))
        if self.covariance is not None:
            S = _checks.copied("covariance", self.covariance, 3, 3)
            object.__setattr__(self, "covariance", S)

    @classmethod
    def between(cls, before: ArrayLike, after: ArrayLike, dt: float = 0.0) -> BodyStep:
        """The step between two poses (x, y, heading) of the odometry."""
        a, b = _checks.shaped("before", before, 3), _checks.shaped("after", after, 3)
        (x, y), c, s = b[:2] - a[:2], cos(a[2]), sin(a[2])
        return cls(float(c * x + s * y), float(c * y - s * x), float(wrap(b[2] - a[2])), dt)

    @property
    def way(self) -> float:
        """Distance between the two places, metres."""
        return hypot(self.x, self.y)

    @property
    def pose(self) -> Array:
        """The pose after the step as seen from that before it, (3,)."""
        return np.array([self.x, self.y, self.turn])

    def as_body(self) -> BodyStep:
        """Return the step itself."""
        return self

    def as_odometry(self) -> OdometryStep:
        """The same step as turn, way and turn; very short ones have no first turn."""
        turn1 = atan2(self.y, self.x) if self.way >= SHORT_WAY else 0.0
        return OdometryStep(turn1, self.way, float(wrap(self.turn - turn1)))


@dataclass(frozen=True, eq=False)
class VelocitySteps:
    """Velocities between two steps, each constant for a while.

    >>> arc = VelocitySteps(durations=[1.0, 1.0], forward=[1.0, 1.0], turning=[0.0, np.pi / 2])
    >>> arc.pose.round(4), arc.dt
    (array([1.6366, 0.6366, 1.5708]), 2.0)
    """

    durations: Array  # (m,), seconds
    forward: Array  # (m,), metres per second
    turning: Array  # (m,), radians per second

    def __post_init__(self) -> None:
        for name in ("durations", "forward", "turning"):
            value = _checks.copied(name, np.atleast_1d(getattr(self, name)), "m")
            object.__setattr__(self, name, value)
        for name in ("forward", "turning"):
            _checks.same_length(name, getattr(self, name), "durations", len(self.durations))
        if (self.durations < 0).any():
            raise ValueError(f"durations must be non-negative, got {self.durations.min()}")

    @cached_property
    def pose(self) -> Array:
        """The pose at the end as seen from that at the beginning, (3,); arcs are exact."""
        pose = dead_reckoned(self.durations, self.forward, self.turning)[-1]
        return np.array([pose[0], pose[1], wrap(pose[2])])

    @property
    def dt(self) -> float:
        """Seconds in all."""
        return float(np.sum(self.durations))

    @property
    def body_step(self) -> BodyStep:
        """The step as a whole."""
        x, y, turn = self.pose.tolist()
        return BodyStep(x, y, turn, self.dt)


@dataclass(frozen=True, eq=False)
class BodyRates:
    """Velocity and turn rate in a body's axes, constant between two steps, in space."""

    dt: float  # seconds
    velocity: Array  # (3,), metres per second
    turn_rate: Array  # (3,), radians per second

    def __post_init__(self) -> None:
        for name in ("velocity", "turn_rate"):
            object.__setattr__(self, name, _checks.copied(name, getattr(self, name), 3))
        _checks.non_negative("dt", self.dt)


@dataclass(frozen=True, eq=False)
class PoseStep:
    """Displacement (3,) and rotation (3, 3) in the body's axes at the start.

    ``covariance`` (6, 6) is that of the displacement, in these axes, and of the rotation, in the
    body's axes at the end.
    """

    position: Array
    rotation: Array
    covariance: Array = field(default_factory=lambda: np.zeros((6, 6)))

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "position", _checks.copied("position", self.position, 3))
        R = _checks.copied("rotation", self.rotation, 3, 3)
        put(self, "rotation", rotation.rotations("rotation", R))
        put(self, "covariance", _checks.copied("covariance", self.covariance, 6, 6))


def dead_reckoned(durations: Array, forward: Array, turning: Array) -> Array:
    """Poses (m + 1, 3) after arcs of constant velocities, from (0, 0, 0); headings do not wrap."""
    dt, v, w = (np.asarray(a, dtype=np.float64) for a in (durations, forward, turning))
    turns = w * dt
    headings = np.append(0.0, np.cumsum(turns))
    chords = v * dt * np.sinc(turns / (2 * np.pi))  # NumPy's sinc has a pi in it
    middle = headings[:-1] + turns / 2
    x = np.append(0.0, np.cumsum(chords * np.cos(middle)))
    y = np.append(0.0, np.cumsum(chords * np.sin(middle)))
    return np.column_stack([x, y, headings])
