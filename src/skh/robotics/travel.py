"""What a robot drove between two times, by poses or by velocities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from skh._typing import Array
from skh.robotics.controls import BodyStep, VelocitySteps, dead_reckoned
from skh.robotics.logs.readings import Odometry, VelocityOdometry


class Travel(Protocol):
    """Odometry as a function of time."""

    @property
    def first(self) -> float:
        """When it begins."""
        ...

    @property
    def last(self) -> float:
        """When it ends."""
        ...

    def poses(self, times: Array) -> Array:
        """Poses (m, 3) in the odometry's frame."""
        ...

    def between(self, start: float, end: float) -> BodyStep | VelocitySteps:
        """The control between two times."""
        ...


def travel_of(odometry: Any) -> Travel:
    """Return odometry as a function of time."""
    if isinstance(odometry, Odometry | VelocityOdometry):
        if len(odometry) == 0:
            raise ValueError("odometry must have at least one reading, got none")
        if isinstance(odometry, Odometry):
            return PoseTravel(odometry)
        return VelocityTravel(odometry)
    raise TypeError(f"odometry must be Odometry or VelocityOdometry, got {odometry!r}")


@dataclass(frozen=True, eq=False)
class PoseTravel:
    """Poses by dead reckoning, interpolated."""

    odometry: Odometry

    @property
    def first(self) -> float:
        """When it begins."""
        return float(self.odometry.times[0])

    @property
    def last(self) -> float:
        """When it ends."""
        return float(self.odometry.times[-1])

    def poses(self, times: Array) -> Array:
        """Poses (m, 3) in the odometry's frame."""
        return self.odometry.at(times)

    def between(self, start: float, end: float) -> BodyStep:
        """The second pose as seen from the first."""
        before, after = self.poses(np.array([start, end]))
        return BodyStep.between(before, after, float(end - start))


@dataclass(frozen=True, eq=False)
class VelocityTravel:
    """Velocities, each of which holds until the next."""

    odometry: VelocityOdometry

    @property
    def first(self) -> float:
        """When it begins."""
        return float(self.odometry.times[0])

    @property
    def last(self) -> float:
        """When it ends: the last velocity holds as long as the one before it."""
        times = self.odometry.times
        return float(times[-1] + (times[-1] - times[-2] if len(times) > 1 else 0.0))

    @cached_property
    def _corners(self) -> Array:
        """Poses at the readings."""
        o = self.odometry
        return dead_reckoned(np.diff(o.times), o.forward[:-1], o.turning[:-1])

    def poses(self, times: Array) -> Array:
        """Poses (m, 3) in the frame of the first reading."""
        o = self.odometry
        k = np.searchsorted(o.times, times, side="right") - 1
        turn = o.turning[k] * (times - o.times[k])
        chord = o.forward[k] * (times - o.times[k]) * np.sinc(turn / (2 * np.pi))
        middle = self._corners[k, 2] + turn / 2
        along = np.column_stack([chord * np.cos(middle), chord * np.sin(middle), turn])
        return np.asarray(self._corners[k] + along)

    def between(self, start: float, end: float) -> VelocitySteps:
        """The velocities between two times."""
        o = self.odometry
        first = int(np.searchsorted(o.times, start, side="right")) - 1
        stop = max(int(np.searchsorted(o.times, end, side="left")), first + 1)
        corners = np.concatenate([[start], o.times[first + 1 : stop], [end]])
        return VelocitySteps(np.diff(corners), o.forward[first:stop], o.turning[first:stop])
