"""Tasks on MRCLAM: a robot in the plane that sees barcodes on known landmarks.

The log (K. Leung et al., IJRR 30(8), 2011; data set 7) has commanded velocities at 65 Hz, ranges
and bearings by a camera, and Vicon poses, the truth here.  Steps are at sightings; velocities
between two of them are integrated before.

There is one set of noise parameters for all robots and rules.  Errors of sightings are not
independent: ranges to one landmark are off by the same centimetres for seconds.  So deviations are
twice those of the residuals of the worse robot (0.18 m and 0.018 rad), and so are those of the
velocities, relative to dead reckoning.  They were chosen on robot 2, where a filter with 3,000
random particles is consistent with them (median NEES 1.44; 1.39 is expected).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from skh.reproduction.engine.task import Task
from skh.reproduction.robots.log import Log
from skh.reproduction.robots.sightings import sighting_log
from skh.reproduction.robots.study import LogStudy
from skh.robotics.logs.data_sets import data_file
from skh.robotics.logs.mrclam import read_mrclam
from skh.robotics.motion.planar import VelocityMotion
from skh.robotics.sensors.sightings import RangeBearing

FOLDER = "mrclam/MRCLAM_Dataset7"
ROBOT = "robot 1"
ROBOTS = {ROBOT: 1, "robot 2": 2}
RANGE_DEVIATION, BEARING_DEVIATION = 0.36, 0.036  # metres, radians
FALSE_SIGHTINGS = 0.036  # share
FALSE_RANGE, FALSE_VIEW = 10.0, 1.2  # metres, and radians in all, of false sightings
DRIFT = (0.03, 0.01, 0.09)  # metres ahead and to the left, radians; per square root of a second


@dataclass(frozen=True)
class Mrclam(LogStudy):
    """Robot 1 of data set 7."""

    name: ClassVar[str] = "mrclam"
    files: ClassVar[tuple[str, ...]] = (FOLDER,)

    logs: tuple[str, ...] = (ROBOT,)
    steps: int = 10_000  # all
    claimed_seeds: int = 20  # of the default, whose accuracy is claimed

    @classmethod
    def quick(cls) -> Mrclam:
        """The first 150 steps, few seeds."""
        few = cls(n=(30, 50), seeds=2, shown_seeds=2, claimed_seeds=2)
        return replace(few, steps=150, reference_particles=2_000)

    def tasks(self) -> list[Task]:
        """Those of all rules, and more seeds for the claims."""
        more = range(self.shown_seeds, self.claimed_seeds)
        cell, cost = (ROBOT, "default", self.shown), 7.0
        return [*super().tasks(), *(Task(self.name, cell, run, cost=cost) for run in more)]

    def load(self, log: str) -> Log:
        """The log of one robot."""
        return of_robot(ROBOTS[log], self.steps)


@lru_cache(maxsize=4)
def of_robot(robot: int, steps: int) -> Log:
    """Read the log of a robot and make its model."""
    log = read_mrclam(data_file(*FOLDER.split("/")), robot)
    each = float(np.median(np.diff(log.odometry.times)))  # seconds that a velocity is kept
    forward, left, turning = (drift / each**0.5 for drift in DRIFT)
    sensor = RangeBearing(
        log.landmarks.positions,
        *(RANGE_DEVIATION, BEARING_DEVIATION, FALSE_SIGHTINGS),
        *(FALSE_RANGE, FALSE_VIEW),
    )
    return sighting_log(log, VelocityMotion(noise=(forward, left, turning)), sensor, steps)
