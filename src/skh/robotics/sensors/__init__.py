"""Sensors by name: log-likelihoods of observations at poses, and their information."""

from skh.robotics.sensors.cameras import PinholeCamera, StereoCamera
from skh.robotics.sensors.laser import BeamModel, LikelihoodFieldModel
from skh.robotics.sensors.sightings import RangeBearing, RangeSensor
from skh.robotics.sensors.together import Sensors

__all__ = [
    "BeamModel",
    "LikelihoodFieldModel",
    "PinholeCamera",
    "RangeBearing",
    "RangeSensor",
    "Sensors",
    "StereoCamera",
]
