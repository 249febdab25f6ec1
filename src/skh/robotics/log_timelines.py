"""The timeline of a whole log, whatever its format."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from skh.geometry.charts import Pose
from skh.robotics.controls import BodyRates
from skh.robotics.logs.carmen import CarmenLog
from skh.robotics.logs.landmark_mat import LandmarkLog
from skh.robotics.logs.mrclam import MrclamLog
from skh.robotics.logs.stereo_mat import StereoLog
from skh.robotics.timeline import Timeline, merge


@singledispatch
def timeline_of(log: Any, **options: Any) -> Timeline:
    """Make the timeline of a log; ``options`` are those of `merge`.

    Observations are as the sensors of this package take them: ids of landmarks are rows of
    ``log.landmarks.positions``.  A stereo log has one step per image and takes no options.
    """
    raise TypeError(f"log must be what a reader of skh.robotics returned, got {log!r}")


@timeline_of.register
def _of_carmen(log: CarmenLog, **options: Any) -> Timeline:
    """Scans with the robot's poses at them, if the log has those."""
    odometry = log.scans.odometry or log.odometry
    return merge(odometry, log.scans, truth=log.truth, **options)


@timeline_of.register
def _of_mrclam(log: MrclamLog, **options: Any) -> Timeline:
    return merge(log.odometry, log.rows_seen, truth=log.truth, **options)


@timeline_of.register
def _of_landmarks(log: LandmarkLog, **options: Any) -> Timeline:
    return merge(log.odometry, log.rows_seen, truth=log.truth, **options)


@timeline_of.register
def _of_stereo(log: StereoLog) -> Timeline:
    rates = zip(np.diff(log.times), log.velocities[:-1], log.turn_rates[:-1], strict=True)
    seen = [None if np.isnan(y).all() else y for y in log.pixels]
    truth = log.truth and Pose(log.truth.positions, log.truth.rotations)
    return Timeline(log.times, [BodyRates(*r) for r in rates], seen, truth)
