"""Readings of sensors as arrays: one frozen class for each kind, in order of time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array, Indices
from skh.geometry.charts import in_space, wrap
from skh.trajectory import Trajectory


def set_array(record: Any, name: str, *shape: int | str) -> Array:
    """Validate an array of a frozen record; keep a read-only copy in its place."""
    array = _checks.copied(name, getattr(record, name), *shape)
    array.setflags(write=False)
    object.__setattr__(record, name, array)
    return array


def set_times(record: Any, *, increasing: bool = True) -> int:
    """Validate the times of a record and keep a copy; return how many there are."""
    times = set_array(record, "times", "T")
    gaps = np.diff(times)
    wrong = gaps <= 0 if increasing else gaps < 0
    if wrong.any():
        i = int(wrong.argmax()) + 1
        raise ValueError(
            f"times must {'increase' if increasing else 'not decrease'}, "
            f"got {times[i]} after {times[i - 1]} at index {i}"
        )
    return len(times)


class Rows:
    """Records of arrays with one row per time; an array, mask or slice as index selects rows."""

    times: Array

    def __len__(self) -> int:
        """Number of readings."""
        return len(self.times)

    def __getitem__(self, index: Any) -> Self:
        """The selected readings; times must still be in order."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        rows = {
            name: value[index]
            for name, value in values.items()
            if isinstance(value, np.ndarray) and name not in self._shared()
        }
        return type(self)(**{**values, **rows})

    def _shared(self) -> Iterable[str]:
        """Names of arrays that are the same for all readings."""
        return ()

    def between(self, first: float, last: float) -> Self:
        """The readings at times in [first, last]."""
        return self[(self.times >= first) & (self.times <= last)]


@dataclass(frozen=True, eq=False)
class PlanarPath(Rows):
    """Poses (x, y, heading) at increasing times: a true or an estimated path in the plane.

    >>> path = PlanarPath([0.0, 1.0], [[0, 0, 3.0], [2, 0, -3.0]])
    >>> path.at([0.5]).round(3)
    array([[1.   , 0.   , 3.142]])
    >>> len(path.trajectory)
    2
    """

    times: Array  # (T,), seconds
    poses: Array  # (T, 3)

    def __post_init__(self) -> None:
        set_array(self, "poses", set_times(self), 3)

    @property
    def trajectory(self) -> Trajectory:
        """The path in space, as `skh.scores` and TUM files have it."""
        return Trajectory.of(self.times, in_space(self.poses))

    def at(self, times: ArrayLike, longest_gap: float = np.inf) -> Array:
        """Poses (m, 3) interpolated at ``times``; NaN outside the path and within longer gaps."""
        t = _checks.shaped("times", times, "m")
        if len(self) == 0:
            return np.full((len(t), 3), np.nan)
        right = np.clip(np.searchsorted(self.times, t), min(1, len(self) - 1), len(self) - 1)
        left = np.maximum(right - 1, 0)
        gap = self.times[right] - self.times[left]
        share = np.divide(t - self.times[left], gap, out=np.zeros(len(t)), where=gap > 0)
        step = self.poses[right] - self.poses[left]
        step[:, 2] = wrap(step[:, 2])
        poses = self.poses[left] + share[:, None] * step
        poses[:, 2] = wrap(poses[:, 2])
        known = (t >= self.times[0]) & (t <= self.times[-1])
        known &= (gap <= longest_gap) | (share == 0) | (share == 1)
        return np.where(known[:, None], poses, np.nan)


@dataclass(frozen=True, eq=False)
class Odometry(PlanarPath):
    """Poses by dead reckoning, in a frame of their own: only differences mean something."""


@dataclass(frozen=True, eq=False)
class VelocityOdometry(Rows):
    """Measured or commanded velocities; each holds until the next reading.

    >>> drive = VelocityOdometry([0.0, 1.0], forward=[0.5, 0.5], turning=[0.0, 0.1])
    >>> len(drive)
    2
    """

    times: Array  # (T,), seconds
    forward: Array  # (T,), metres per second
    turning: Array  # (T,), radians per second

    def __post_init__(self) -> None:
        T = set_times(self)
        set_array(self, "forward", T)
        set_array(self, "turning", T)


@dataclass(frozen=True, eq=False)
class Scans(Rows):
    """Scans of a laser: ranges of beams at fixed angles to the laser's own heading.

    >>> scans = Scans([0.0], ranges=[[1.0, 2.0]], angles=[-0.5, 0.5], mount=(0.2, 0.0, 0.0))
    >>> len(scans), scans.mount
    (1, (0.2, 0.0, 0.0))
    """

    times: Array  # (T,), seconds
    ranges: Array  # (T, k), metres
    angles: Array  # (k,), counter-clockwise from straight ahead
    mount: tuple[float, float, float] = (0.0, 0.0, 0.0)  # pose of the laser on the robot
    poses: Array | None = None  # (T, 3), poses of the robot by its odometry
    longest: float | None = None  # range that means that nothing was hit, if known

    def __post_init__(self) -> None:
        T, k = set_times(self), len(set_array(self, "angles", "k"))
        set_array(self, "ranges", T, k)
        mount = _checks.shaped("mount", self.mount, 3)
        object.__setattr__(self, "mount", tuple(mount.tolist()))
        if self.poses is not None:
            set_array(self, "poses", T, 3)
        if self.longest is not None:
            _checks.positive("longest", self.longest)

    def _shared(self) -> Iterable[str]:
        return ("angles",)

    @property
    def odometry(self) -> Odometry | None:
        """The robot's poses at the scans, None if the log does not have them."""
        return None if self.poses is None else Odometry(self.times, self.poses)


@dataclass(frozen=True, eq=False)
class Sightings(Rows):
    """Landmarks that were seen, one row each; several rows may have the same time.

    >>> seen = Sightings([0.0, 0.0], ids=[3, 5], ranges=[1.0, 2.0], bearings=[0.1, -0.2])
    >>> seen.rows(slice(0, 2))
    array([[ 3. ,  1. ,  0.1],
           [ 5. ,  2. , -0.2]])
    """

    times: Array  # (M,), seconds, not decreasing
    ids: Indices  # (M,), numbers of the landmarks
    ranges: Array  # (M,), metres
    bearings: Array | None = None  # (M,), radians, counter-clockwise from ahead; None: only ranges

    def __post_init__(self) -> None:
        M = set_times(self, increasing=False)
        object.__setattr__(self, "ids", integers("ids", self.ids, M))
        set_array(self, "ranges", M)
        if self.bearings is not None:
            set_array(self, "bearings", M)

    def rows(self, index: Any = slice(None)) -> Array:
        """Rows (id, range, bearing) of the selected sightings, or (id, range)."""
        columns = [self.ids, self.ranges] + ([] if self.bearings is None else [self.bearings])
        return np.column_stack([column[index] for column in columns])

    def of(self, landmarks: Landmarks) -> Sightings:
        """The same with ids that are rows of ``landmarks``, as sensors take them."""
        return replace(self, ids=landmarks.indices(self.ids))


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Known positions of numbered landmarks.

    >>> marks = Landmarks(ids=[6, 7], positions=[[0.0, 1.0], [2.0, 3.0]])
    >>> marks.of([7, 6, 7])
    array([[2., 3.],
           [0., 1.],
           [2., 3.]])
    """

    ids: Indices  # (k,)
    positions: Array  # (k, 2) or (k, 3)
    _places: dict[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        positions = set_array(self, "positions", "k", "d")
        ids = integers("ids", self.ids, len(positions))
        object.__setattr__(self, "ids", ids)
        places = {int(number): i for i, number in enumerate(ids)}
        if len(places) < len(ids):
            values, counts = np.unique(ids, return_counts=True)
            raise ValueError(f"ids must differ, got {values[counts.argmax()]} more than once")
        object.__setattr__(self, "_places", places)

    def __len__(self) -> int:
        """Number of landmarks."""
        return len(self.ids)

    def indices(self, ids: ArrayLike) -> Indices:
        """Rows of the landmarks with these numbers."""
        numbers = np.asarray(ids).ravel()
        missing = [n for n in numbers.tolist() if n not in self._places]
        if missing:
            raise ValueError(f"ids must be numbers of landmarks, got {missing[0]}")
        return np.array([self._places[n] for n in numbers.tolist()], dtype=np.intp)

    def of(self, ids: ArrayLike) -> Array:
        """Positions (m, d) of the landmarks with these numbers."""
        return self.positions[self.indices(ids)]


def integers(name: str, value: ArrayLike, length: int) -> Indices:
    """Validate whole numbers; return a read-only copy."""
    array = _checks.shaped(name, value, length)
    if (array != np.round(array)).any():
        raise ValueError(f"{name} must be whole numbers, got {array[array != np.round(array)][0]}")
    whole = array.astype(np.intp)
    whole.setflags(write=False)
    return whole


def relative_poses(origins: Array, poses: Array) -> Array:
    """Poses (n, 3) seen from ``origins`` (n, 3)."""
    c, s = np.cos(origins[:, 2]), np.sin(origins[:, 2])
    x, y = (poses[:, :2] - origins[:, :2]).T
    return np.column_stack([c * x + s * y, c * y - s * x, wrap(poses[:, 2] - origins[:, 2])])
