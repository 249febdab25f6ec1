"""Trajectories of poses: TUM files (lines ``time x y z qx qy qz qw``), association, alignment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array, Indices
from skh.geometry import rotation
from skh.geometry.charts import Pose


class Located(Protocol):
    """A single pose: a `Pose`, or a `skh.scores.PoseEstimate`."""

    @property
    def position(self) -> Array:
        """Position, (3,)."""
        ...

    @property
    def rotation(self) -> Array:
        """Rotation from body to world, (3, 3)."""
        ...


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Poses at increasing times, in seconds.

    >>> path = Trajectory([0.0, 0.1], np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
    >>> len(path), path.quaternions[0]
    (2, array([0., 0., 0., 1.]))
    """

    times: Array  # (T,)
    positions: Array  # (T, 3)
    rotations: Array  # (T, 3, 3), body to world

    def __init__(self, times: ArrayLike, positions: ArrayLike, rotations: ArrayLike) -> None:
        times = _checks.copied("times", times, "T")
        if len(times) == 0:
            raise ValueError("times must hold at least one time, got none")
        if (np.diff(times) <= 0).any():
            i = int((np.diff(times) <= 0).argmax()) + 1
            raise ValueError(
                f"times must increase, got {times[i]} after {times[i - 1]} at index {i}"
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "positions", _checks.copied("positions", positions, len(times), 3))
        R = _checks.copied("rotations", rotations, len(times), 3, 3)
        object.__setattr__(self, "rotations", rotation.rotations("rotations", R))

    def __len__(self) -> int:
        """Number of poses."""
        return len(self.times)

    @property
    def quaternions(self) -> Array:
        """Unit quaternions (x, y, z, w), ``(T, 4)``."""
        return rotation.quaternion(self.rotations)

    def at(self, index: ArrayLike | slice) -> Trajectory:
        """The poses at the given indices, which must increase; a mask or a slice will do, too.

        >>> path = Trajectory([0.0, 0.1, 0.2], np.zeros((3, 3)), np.tile(np.eye(3), (3, 1, 1)))
        >>> path.at([0, 2]).times, path.at(path.times > 0.1).times, path.at(slice(2)).times
        (array([0. , 0.2]), array([0.2]), array([0. , 0.1]))
        """
        i = self._checked_index(index)
        return Trajectory(self.times[i], self.positions[i], self.rotations[i])

    def _checked_index(self, index: ArrayLike | slice) -> Indices:
        """Validate indices, a mask or a slice; return the indices, none of them negative."""
        T, expected = len(self), "increasing indices, a mask or a slice"
        try:
            array = np.asarray(index if not isinstance(index, slice) else np.arange(T)[index])
        except (TypeError, ValueError):  # rows of different lengths, or slice("a")
            array = np.array(None)
        if array.dtype == bool and array.shape == (T,):
            array = np.flatnonzero(array)
        if array.dtype.kind not in "iu":
            raise TypeError(f"index must be {expected} of the {T} poses, got {index!r}")
        i = np.where(array < 0, array + T, array).astype(np.intp)
        inside = i.ndim == 1 and i.size and ((i >= 0) & (i < T)).all()
        if not inside or (np.diff(i) <= 0).any():
            raise ValueError(f"index must be {expected} of the {T} poses, got {index!r}")
        return i

    @classmethod
    def of(cls, times: ArrayLike, poses: Pose | Iterable[Located]) -> Trajectory:
        """Build from a `Pose` of T rows or T single ones; for `SE2`, see `skh.geometry.in_space`.

        >>> still = Pose(np.zeros(3), np.eye(3))
        >>> len(Trajectory.of([0.0, 0.1], [still, still]))
        2
        """
        if isinstance(poses, Pose):
            return cls(times, *poses)
        single = list(poses)
        if not all(hasattr(pose, "position") and hasattr(pose, "rotation") for pose in single):
            raise TypeError(
                f"poses must be a Pose or single poses, such as skh.geometry.in_space(states) for "
                f"rows (x, y, heading), got {poses!r}"
            )
        return cls(times, [pose.position for pose in single], [pose.rotation for pose in single])


def write_tum(path: str | Path, trajectory: Trajectory) -> None:
    """Write a TUM file; `read_tum` recovers it to the last digit or two."""
    rows = np.column_stack([trajectory.times, trajectory.positions, trajectory.quaternions])
    lines = (" ".join(f"{value:.17g}" for value in row) for row in rows.tolist())
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_tum(path: str | Path) -> Trajectory:
    """Read a TUM file; a ValueError names a malformed line."""
    rows: list[list[float]] = []
    for i, line in enumerate(_text(Path(path)).splitlines(), 1):
        pose = line.partition("#")[0].strip()
        if pose:
            rows.append(_tum_row(pose, f"{path}, line {i}"))
            if rows[1:] and rows[-1][0] <= rows[-2][0]:
                raise ValueError(
                    f"{path}, line {i}: times must increase, got {rows[-1][0]} after {rows[-2][0]}"
                )
    if not rows:
        raise ValueError(f"{path} must hold at least one pose, got none")
    times, positions, quaternions = np.split(np.array(rows), [1, 4], axis=1)
    return Trajectory(times[:, 0], positions, rotation.from_quaternion(quaternions))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # skips a byte order mark
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text in UTF-8 ({error})") from error


def _tum_row(line: str, where: str) -> list[float]:
    try:
        row = [float(word) for word in line.split()]
    except ValueError:
        row = []
    if len(row) != 8 or not all(isfinite(value) for value in row) or not any(row[4:]):
        raise ValueError(
            f"{where} must be 'time x y z qx qy qz qw', eight finite numbers with a quaternion "
            f"that is not zero, got {line!r}"
        )
    return row


def associate(
    reference: Trajectory, estimate: Trajectory, max_difference: float = 0.01
) -> tuple[Trajectory, Trajectory]:
    """Pair the poses of two trajectories by time.

    Each pose of the shorter trajectory is paired with the nearest of the longer, if within
    ``max_difference`` seconds, as in `evo`, but a pose of the longer is paired at most once.
    """
    check_trajectories(reference, estimate)
    max_difference = _checks.non_negative("max_difference", max_difference)
    if len(estimate) < len(reference):
        of_estimate, of_reference = _nearest(estimate.times, reference.times, max_difference)
    else:
        of_reference, of_estimate = _nearest(reference.times, estimate.times, max_difference)
    if len(of_reference) == 0:
        raise ValueError(
            f"no poses of reference and estimate are within {max_difference} s of each other"
        )
    return reference.at(of_reference), estimate.at(of_estimate)


def _nearest(short: Array, long: Array, most: float) -> tuple[Indices, Indices]:
    right = np.clip(np.searchsorted(long, short), 1, max(len(long) - 1, 1))
    right = np.minimum(right, len(long) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(short - long[left] <= long[right] - short, left, right)
    gap = np.abs(long[nearest] - short)
    order = np.lexsort((gap, nearest))  # by partner, the nearest first
    best = np.sort(order[np.unique(nearest[order], return_index=True)[1]])
    best = best[gap[best] <= most]
    return best, nearest[best]


def align(reference: Trajectory, estimate: Trajectory, *, scale: bool = False) -> Trajectory:
    """Fit ``estimate`` to ``reference`` by a rigid motion, scaled if ``scale`` (Umeyama, 1991)."""
    check_paired(reference, estimate)
    scale = _checks.boolean("scale", scale)
    x, y = estimate.positions, reference.positions
    mx, my = x.mean(axis=0), y.mean(axis=0)
    C = (y - my).T @ (x - mx) / len(x)
    U, D, Vt = np.linalg.svd(C)
    if D[1] <= 1e-15 * D[0]:  # in descending order, in units of the paths
        raise ValueError("alignment needs positions that do not all lie on a line")
    signs = np.array([1.0, 1.0, np.linalg.det(U) * np.linalg.det(Vt)])
    R = (U * signs) @ Vt
    s = float(D @ signs / (x - mx).var(axis=0).sum()) if scale else 1.0
    moved = s * (x - mx) @ R.T + my
    return Trajectory(estimate.times, moved, R @ estimate.rotations)


def check_trajectories(reference: Trajectory, estimate: Trajectory) -> None:
    """Raise a TypeError unless both are trajectories."""
    for name, path in (("reference", reference), ("estimate", estimate)):
        if not isinstance(path, Trajectory):
            raise TypeError(f"{name} must be a Trajectory, got {path!r}")


def check_paired(reference: Trajectory, estimate: Trajectory) -> None:
    """Raise unless both trajectories have equally many poses at about the same times."""
    check_trajectories(reference, estimate)
    if len(reference) != len(estimate):
        raise ValueError(
            f"estimate must have one pose for each of the {len(reference)} of reference, "
            f"got {len(estimate)}: pair them with associate first"
        )
    apart = np.abs(estimate.times - reference.times)
    i = int(apart.argmax())
    if apart[i] > np.diff(reference.times).max(initial=0.0):  # more than a frame apart
        raise ValueError(
            f"estimate must have the times of reference, got {estimate.times[i]} instead of "
            f"{reference.times[i]} at index {i}: pair them with associate first"
        )
