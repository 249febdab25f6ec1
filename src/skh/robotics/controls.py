"""What a robot did between two steps of a filter, as motion models take it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skh._typing import Array
from skh.geometry.charts import wrap


@dataclass(frozen=True)
class BodyStep:
    """The pose after a step as seen from the pose before it, by odometry.

    >>> BodyStep(x=1.0, y=0.0, turn=0.1, dt=0.5).way
    1.0
    """

    x: float  # metres ahead
    y: float  # metres to the left
    turn: float  # radians, counter-clockwise
    dt: float = 0.0  # seconds

    @property
    def way(self) -> float:
        """Distance between the two places, metres."""
        return float(np.hypot(self.x, self.y))

    @property
    def pose(self) -> Array:
        """The pose after the step as seen from that before it, (3,)."""
        return np.array([self.x, self.y, self.turn])


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


def dead_reckoned(durations: Array, forward: Array, turning: Array) -> Array:
    """Poses (m + 1, 3) after arcs of constant velocities, from (0, 0, 0); headings are not wrapped."""
    dt, v, w = (np.asarray(a, dtype=np.float64) for a in (durations, forward, turning))
    turns = w * dt
    headings = np.append(0.0, np.cumsum(turns))
    chords = v * dt * np.sinc(turns / (2 * np.pi))  # NumPy's sinc has a pi in it
    middle = headings[:-1] + turns / 2
    x = np.append(0.0, np.cumsum(chords * np.cos(middle)))
    y = np.append(0.0, np.cumsum(chords * np.sin(middle)))
    return np.column_stack([x, y, headings])
