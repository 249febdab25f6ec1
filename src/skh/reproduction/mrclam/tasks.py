"""Tasks on MRCLAM: a robot in the plane that sees barcodes on known landmarks.

The log (K. Leung et al., IJRR 30(8), 2011; data set 7) has commanded velocities at 65 Hz, ranges and
bearings by a camera, and Vicon poses, the truth here.  Steps are at sightings; velocities between
two of them are integrated before.

One set of noise parameters for all robots and rules.  Errors of the sightings are not independent:
ranges to one landmark are off by the same centimetres for seconds.  So deviations are three times
those of the residuals of the worse robot (0.18 m and 0.018 rad), and those of the velocities twice
what dead reckoning shows.  They were chosen on robot 2, with which a filter of 2,000 random particles
is consistent (median NEES 1.8; 1.4 would be exact).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from skh.reproduction.robots.log import Log
from skh.reproduction.robots.study import LogStudy
from skh.robotics.controls import BodyStep
from skh.robotics.localization import localization_model
from skh.robotics.log_timelines import timeline_of
from skh.robotics.logs.data_sets import data_file
from skh.robotics.logs.mrclam import read_mrclam
from skh.robotics.motion.planar import DeadReckoning, VelocityMotion
from skh.robotics.motion.preintegration import preintegrate
from skh.robotics.sensors.sightings import RangeBearing

FOLDER = "mrclam/MRCLAM_Dataset7"
ROBOTS = {"robot 1": 1, "robot 2": 2}
RANGE_DEVIATION, BEARING_DEVIATION, OUTLIERS = 0.54, 0.054, 0.036
LONGEST_RANGE, VIEW = 10.0, 1.2  # of false sightings: metres, and radians in all
DRIFT = (0.03, 0.0, 0.09)  # metres ahead, to the left and radians, per square root of a second
FIRST_DEVIATIONS = (0.05, 0.05, 0.05)  # metres, metres, radians about the true pose


@dataclass(frozen=True)
class Mrclam(LogStudy):
    """Robots of data set 7."""

    name: ClassVar[str] = "mrclam"
    files: ClassVar[tuple[str, ...]] = (FOLDER,)

    logs: tuple[str, ...] = ("robot 1",)
    steps: int = 10_000

    @classmethod
    def quick(cls) -> Mrclam:
        """The first 150 steps, few seeds."""
        return cls(n=(30, 50), seeds=2, shown_seeds=2, steps=150, reference_particles=2_000)

    def load(self, log: str) -> Log:
        """The log of one robot."""
        return of_robot(ROBOTS[log], self.steps)


@lru_cache(maxsize=4)
def of_robot(robot: int, steps: int) -> Log:
    """Read the log of a robot and make its model, from the first sighting with a known truth."""
    log = read_mrclam(data_file(*FOLDER.split("/")), robot)
    begin, end = log.truth.times[[0, -1]] if log.truth is not None else (-np.inf, np.inf)
    seen = log.sightings.between(begin, end)
    rows = {number: row for row, number in enumerate(log.landmarks.ids.tolist())}
    ...
