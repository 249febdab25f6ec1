"""Logs of robots in the plane that see landmarks, as models to be filtered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skh.reproduction.robots.log import Log
from skh.robotics.controls import BodyStep, VelocitySteps
from skh.robotics.localization import localization_model
from skh.robotics.log_timelines import timeline_of
from skh.robotics.logs.landmark_mat import LandmarkLog
from skh.robotics.logs.mrclam import MrclamLog
from skh.robotics.motion.planar import DeadReckoning, VelocityMotion
from skh.robotics.motion.preintegration import preintegrate
from skh.robotics.sensors.sightings import RangeBearing

FIRST_DEVIATIONS = (0.05, 0.05, 0.05)  # metres, metres, radians about the true pose


def sighting_log(
    log: MrclamLog | LandmarkLog,
    motion: VelocityMotion,
    sensor: RangeBearing,
    steps: int,
    **options: Any,
) -> Log:
    """Steps at sightings whose truth is known from the first on; velocities between integrated.

    ``options`` are those of `skh.robotics.merge`.
    """
    assert log.truth is not None
    seen = log.sightings.between(*log.truth.times[[0, -1]])

    def integrated(control: VelocitySteps) -> BodyStep:
        return preintegrate(motion, [control])

    timeline = timeline_of(replace(log, sightings=seen), control=integrated, **options).first(steps)
    prior = timeline.truth[0], np.diag(FIRST_DEVIATIONS) ** 2
    model = localization_model(prior, DeadReckoning(), sensor, timeline.controls)
    return Log(
        *(model, timeline.observations, timeline.times - timeline.times[0]),
        truth=timeline.truth[:, :2],
        landmarks=log.landmarks.positions,
    )
