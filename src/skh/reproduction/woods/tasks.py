"""Tasks on "Lost in the Woods": a robot in the plane that sees tubes by a laser.

The log (course AER1513, T. Barfoot, University of Toronto) has measured velocities, ranges and
bearings to 17 known landmarks at 10 Hz, and Vicon poses, the truth here.  All variances are the
log's own.  That of the forward velocity is taken for the sideways one as well: relative to its true
heading the robot slips by two centimetres a second.  Sightings are used once a second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from skh.reproduction.robots.log import Log
from skh.reproduction.robots.sightings import sighting_log
from skh.reproduction.robots.study import LogStudy
from skh.robotics.logs.data_sets import data_file
from skh.robotics.logs.landmark_mat import read_landmark_log
from skh.robotics.motion.planar import VelocityMotion
from skh.robotics.sensors.sightings import RangeBearing

WOODS_FILE = "lost_in_the_woods/dataset2.mat"
ALL = "all landmarks"


@dataclass(frozen=True)
class Woods(LogStudy):
    """All 21 minutes, one step a second."""

    name: ClassVar[str] = "woods"
    files: ClassVar[tuple[str, ...]] = (WOODS_FILE,)

    logs: tuple[str, ...] = (ALL,)
    steps: int = 10_000  # all
    every: int = 10  # of the rows of the log, whose sightings are used

    @classmethod
    def quick(cls) -> Woods:
        """The first 150 steps, few seeds."""
        return cls(n=(30, 50), seeds=2, shown_seeds=2, steps=150, reference_particles=2_000)

    def load(self, log: str) -> Log:
        """The log."""
        return in_the_woods(self.steps, self.every)


@lru_cache(maxsize=2)
def in_the_woods(steps: int, every: int) -> Log:
    """Read the log and make its model."""
    log = read_landmark_log(data_file(*WOODS_FILE.split("/")))
    used = np.isin(log.sightings.times, log.odometry.times[::every])
    speed, turning = log.forward_variance**0.5, log.turning_variance**0.5
    motion = VelocityMotion(noise=(speed, speed, turning))
    sensor = RangeBearing(
        log.landmarks.positions,
        *(log.range_variance**0.5, log.bearing_variance**0.5),
        mount=(log.offset, 0.0, 0.0),
    )
    return sighting_log(replace(log, sightings=log.sightings[used]), motion, sensor, steps)
