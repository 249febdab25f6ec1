"""Robots: motion and sensor models by name, localisation on maps, and landmark maps per particle.

Units are SI: metres, radians, seconds.  Poses in the plane are rows (x, y, heading), in space
`skh.geometry.Pose`.  Imports `models`, `geometry` and what they import.
"""

from skh.robotics.controls import BodyRates, BodyStep, OdometryStep, PoseStep, VelocitySteps
from skh.robotics.localization import Localization, localization_model
from skh.robotics.motion import (
    DeadReckoning,
    DifferentialDrive,
    ImuRates,
    OmniDrive,
    PoseReckoning,
    VelocityMotion,
    preintegrate,
    preintegrate_rates,
)
from skh.robotics.sensors import (
    BeamModel,
    LikelihoodFieldModel,
    PinholeCamera,
    RangeBearing,
    RangeSensor,
    Sensors,
    StereoCamera,
)
from skh.robotics.slam import FastSLAM, LandmarkMap, fastslam_model, landmark_map

__all__ = [
    "BeamModel",
    "BodyRates",
    "BodyStep",
    "DeadReckoning",
    "DifferentialDrive",
    "FastSLAM",
    "ImuRates",
    "LandmarkMap",
    "LikelihoodFieldModel",
    "Localization",
    "OdometryStep",
    "OmniDrive",
    "PinholeCamera",
    "PoseReckoning",
    "PoseStep",
    "RangeBearing",
    "RangeSensor",
    "Sensors",
    "StereoCamera",
    "VelocityMotion",
    "VelocitySteps",
    "fastslam_model",
    "landmark_map",
    "localization_model",
    "preintegrate",
    "preintegrate_rates",
]
