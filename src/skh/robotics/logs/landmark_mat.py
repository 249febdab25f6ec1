"""MATLAB logs of a robot in the plane that sees landmarks, such as "Lost in the Woods".

Fields: ``t`` times, ``v`` and ``om`` measured velocities, ``r`` and ``b`` ranges and bearings (one
column per landmark; a range of 0 is a landmark that was not seen), ``l`` landmarks, ``d`` how far
the sensor is ahead of the robot's middle, ``x_true``, ``y_true``, ``th_true`` and ``true_valid``,
and the variances ``v_var``, ``om_var``, ``r_var``, ``b_var``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skh._typing import Array
from skh.robotics.logs.mat_fields import MatFields
from skh.robotics.logs.readings import Landmarks, PlanarPath, Sightings, VelocityOdometry

LANDMARK_FIELDS = ("t", "v", "om", "r", "b", "l", "d", "v_var", "om_var", "r_var", "b_var")
TRUE_FIELDS = ("x_true", "y_true", "th_true")


@dataclass(frozen=True, eq=False)
class LandmarkLog:
    """What the robot did and saw, with the variances that the log states."""

    odometry: VelocityOdometry
    sightings: Sightings  # ids are 1, 2, ... as the columns of the file
    landmarks: Landmarks
    offset: float  # of the sensor, ahead of the robot's middle, metres
    forward_variance: float
    turning_variance: float
    range_variance: float
    bearing_variance: float
    truth: PlanarPath | None
    notes: tuple[str, ...] = ()

    @property
    def rows_seen(self) -> Sightings:
        """The sightings, with rows of ``landmarks`` as ids."""
        return self.sightings.of(self.landmarks)


def read_landmark_log(path: str | Path) -> LandmarkLog:
    """Read a MATLAB file with these fields."""
    mat = MatFields(path, LANDMARK_FIELDS, "a log of ranges and bearings")
    times = mat.times("t")
    T = len(times)
    positions = mat.array("l", "k", 2)
    ids = np.arange(1, len(positions) + 1)
    truth, notes = _true_path(mat, times)
    return LandmarkLog(
        VelocityOdometry(times, mat.vector("v", T), mat.vector("om", T)),
        _sightings(mat, times, len(ids)),
        Landmarks(ids, positions),
        mat.number("d"),
        mat.positive("v_var"),
        mat.positive("om_var"),
        mat.positive("r_var"),
        mat.positive("b_var"),
        truth,
        notes,
    )


def _sightings(mat: MatFields, times: Array, k: int) -> Sightings:
    """The ranges that are not 0, in order of time."""
    ranges, bearings = mat.array("r", len(times), k), mat.array("b", len(times), k)
    if (ranges < 0).any():
        raise mat.error("r", f"not be negative, got {ranges.min()}")
    if not ranges.any():
        raise mat.error("r", "have ranges that are not 0, got none")
    row, column = np.nonzero(ranges)
    return Sightings(times[row], column + 1, ranges[row, column], bearings[row, column])


def _true_path(mat: MatFields, times: Array) -> tuple[PlanarPath | None, tuple[str, ...]]:
    """The true poses where they are valid."""
    if not all(mat.has(name) for name in TRUE_FIELDS):
        return None, ()
    valid = np.ones(len(times), dtype=bool)
    if mat.has("true_valid"):
        valid = mat.vector("true_valid", len(times)) != 0
    poses = np.column_stack([mat.vector(name, len(times)) for name in TRUE_FIELDS])
    missing = int((~valid).sum())
    notes = (f"the truth is not valid at {missing} of {len(times)} times",) * (missing > 0)
    return PlanarPath(times[valid], poses[valid]) if valid.any() else None, notes
