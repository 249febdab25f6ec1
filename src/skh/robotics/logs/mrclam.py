"""Logs of MRCLAM (K. Leung et al., IJRR 30(8), 2011): robots that see landmarks and each other.

A data set is a folder with ``Barcodes.dat``, ``Landmark_Groundtruth.dat`` and for each robot
``RobotN_Odometry.dat``, ``RobotN_Measurement.dat`` and ``RobotN_Groundtruth.dat``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array, Indices
from skh.robotics.logs.readings import Landmarks, PlanarPath, Sightings, VelocityOdometry
from skh.robotics.logs.text_lines import table
from skh.robotics.logs.time_order import disorder_notes, in_order, last_of_equal


@dataclass(frozen=True, eq=False)
class MrclamLog:
    """What one robot did and saw."""

    odometry: VelocityOdometry
    sightings: Sightings  # of landmarks; ids are those of ``landmarks``
    robots: Sightings  # of the other robots; ids are their numbers
    landmarks: Landmarks
    truth: PlanarPath | None  # None if its file is missing
    notes: tuple[str, ...] = ()

    @property
    def rows_seen(self) -> Sightings:
        """The sightings, with rows of ``landmarks`` as ids."""
        return self.sightings.of(self.landmarks)


def read_mrclam(folder: str | Path, robot: int = 1) -> MrclamLog:
    """Read what one robot of a data set did and saw; files may be compressed (``.dat.gz``)."""
    folder = Path(folder)
    robot = _checks.positive_int("robot", robot)
    if not folder.is_dir():
        raise ValueError(f"{folder} must be the folder of a MRCLAM data set")
    motion = table(_robot_file(folder, robot, "Odometry"), "time forward_velocity angular_velocity")
    file = _robot_file(folder, robot, "Measurement")
    seen = table(file, "time barcode range bearing", _negative_range)
    marks = table(
        _file(folder, "Landmark_Groundtruth.dat"),
        "subject x y x_deviation y_deviation",
        _Once("subject", 0),
    )
    landmarks = Landmarks(marks[:, 0].astype(np.intp), marks[:, 1:3])
    motion, notes = _ordered(motion, "velocities", folder, single=True)
    seen, more = _ordered(seen, "sightings", folder)
    subjects, unknown = _subjects(folder, seen[:, 1])
    notes += more + (f"{unknown} sightings of unknown barcodes are left out",) * (unknown > 0)
    is_landmark = np.isin(subjects, landmarks.ids)
    if not is_landmark.any():
        raise ValueError(f"{file} must have sightings of landmarks, got none")
    truth, last = _truth(folder, robot)
    return MrclamLog(
        VelocityOdometry(*motion.T),
        _sightings(seen, subjects, is_landmark),
        _sightings(seen, subjects, ~is_landmark & (subjects > 0)),
        landmarks,
        truth,
        notes + last,
    )


def _negative_range(row: list[float]) -> str:
    return f"range must not be negative, got {row[2]:g}" if row[2] < 0 else ""


class _Once:
    """Checks that a column has whole numbers, each once."""

    def __init__(self, name: str, column: int) -> None:
        self.name, self.column = name, column
        self._found: set[float] = set()

    def __call__(self, row: list[float]) -> str:
        """Say what is wrong with a row."""
        number = row[self.column]
        if number != round(number):
            return f"{self.name} must be a whole number, got {number:g}"
        if number in self._found:
            return f"each {self.name} must be there once, got {number:g} again"
        self._found.add(number)
        return ""


def _sightings(seen: Array, subjects: Indices, mask: Any) -> Sightings:
    rows = seen[mask]
    return Sightings(rows[:, 0], subjects[mask], rows[:, 2], rows[:, 3])


def _subjects(folder: Path, barcodes: Array) -> tuple[Indices, int]:
    """Numbers of subjects for barcodes, 0 where unknown, and how many are."""
    path = _file(folder, "Barcodes.dat")
    rows = table(path, "subject barcode", _Once("barcode", 1))
    codes = {code: subject for subject, code in rows.tolist()}
    subjects = np.array([codes.get(code, 0) for code in barcodes.tolist()], dtype=np.intp)
    if len(subjects) and not subjects.any():
        raise ValueError(f"{path} must have the barcodes that were seen, got none of them")
    return subjects, int((subjects == 0).sum())


def _truth(folder: Path, robot: int) -> tuple[PlanarPath | None, tuple[str, ...]]:
    try:
        path = _file(folder, f"Robot{robot}_Groundtruth.dat")
    except ValueError:
        return None, (f"Robot{robot}_Groundtruth.dat is missing: there is no truth",)
    rows, notes = _ordered(table(path, "time x y heading"), "true poses", folder, single=True)
    return PlanarPath(rows[:, 0], rows[:, 1:]), notes


def _ordered(
    rows: Array, name: str, folder: Path, *, single: bool = False
) -> tuple[Array, tuple[str, ...]]:
    """Rows in order of time, only the last of those at the same time if ``single``."""
    order = in_order(rows[:, 0], f"{folder}, {name}")
    notes = disorder_notes(rows[:, 0], order, name)
    rows = rows[order]
    if single:
        return rows[last_of_equal(rows[:, 0])], notes
    return rows, tuple(note for note in notes if "order" in note)


def _robot_file(folder: Path, robot: int, kind: str) -> Path:
    pattern = re.compile(r"Robot(\d+)_Odometry\.dat(\.gz)?")
    matches = (pattern.fullmatch(path.name) for path in folder.iterdir())
    robots = sorted({int(match[1]) for match in matches if match})
    if not robots:
        raise ValueError(f"{folder} must be a MRCLAM data set with files RobotN_Odometry.dat")
    if robot not in robots:
        raise ValueError(
            f"{folder} must have Robot{robot}_{kind}.dat: robot must be one of {robots}, "
            f"got {robot}"
        )
    return _file(folder, f"Robot{robot}_{kind}.dat")


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise ValueError(f"{folder} must be a MRCLAM data set with the file {name}, which is missing")
