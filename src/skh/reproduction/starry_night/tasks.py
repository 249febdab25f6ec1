"""Tasks on "Starry Night": a hand-moved stereo camera over 20 landmarks, filtered in SE(3).

The log (T. Barfoot, University of Toronto; see Clement et al., CRV 2015) has measured velocities
and turn rates, stereo images of landmarks, and Vicon poses, the truth here.  All noise parameters
are the log's own: variances of the rates as stated, and the full covariance of the pixels' errors
at the true poses, since errors of the left and the right image are strongly correlated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from skh.geometry.charts import Pose
from skh.reproduction.robots.log import Log
from skh.reproduction.robots.study import LogStudy
from skh.robotics.localization import localization_model
from skh.robotics.log_timelines import timeline_of
from skh.robotics.logs.data_sets import data_file
from skh.robotics.logs.stereo_mat import StereoLog, read_stereo_log
from skh.robotics.motion.spatial import ImuRates
from skh.robotics.sensors.cameras import StereoCamera

KNOWN_MAP = "known map"
FILE = "starry_night/dataset3.mat"
START_DEVIATION = 0.05  # metres and radians, of the first pose about the true one


@dataclass(frozen=True)
class StarryNight(LogStudy):
    """The known map; steps 1 to 1,700, since the last 200 have few landmarks."""

    name: ClassVar[str] = "starry-night"
    files: ClassVar[tuple[str, ...]] = (FILE,)

    logs: tuple[str, ...] = (KNOWN_MAP,)
    steps: int = 1_701

    @classmethod
    def quick(cls) -> StarryNight:
        """The first 150 steps, few seeds."""
        return cls(n=(30, 50), seeds=2, shown_seeds=2, steps=150, reference_particles=2_000)

    def load(self, log: str) -> Log:
        """The log with its landmarks known."""
        return known_map(self.steps)


@lru_cache(maxsize=2)
def known_map(steps: int) -> Log:
    """Read the log and make its model."""
    log = read_stereo_log(data_file(*FILE.split("/")))
    timeline = timeline_of(log).first(steps)
    truth: Pose = timeline.truth
    start = Pose(truth.position[0], truth.rotation[0]), START_DEVIATION**2 * np.eye(6)
    motion = ImuRates(log.velocity_variances, log.turn_rate_variances)
    model = localization_model(start, motion, camera_of(log), timeline.controls)
    return Log(
        *(model, timeline.observations, timeline.times),
        truth=truth.position,
        landmarks=log.landmarks.positions,
        dimension=3,
    )


def camera_of(log: StereoLog) -> StereoCamera:
    """The camera of the log, with the covariance of all its pixel errors."""
    rig = log.rig
    return StereoCamera(
        log.landmarks.positions,
        *(rig.fu, rig.fv, rig.cu, rig.cv),
        covariance=log.pixel_covariance(),
        position=rig.position.tolist(),
        rotation=rig.rotation,
        baseline=rig.baseline,
    )
