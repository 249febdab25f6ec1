"""Readers of robots' logs: CARMEN, MRCLAM, and two kinds of MATLAB files.

A damaged or foreign file raises a ValueError that names the file, the line or field, and what was
expected there.  What a reader left out or repaired is said in the ``notes`` of the log.
"""

from skh.robotics.logs.carmen import CarmenLog, read_carmen_log
from skh.robotics.logs.data_sets import data_file, data_folder
from skh.robotics.logs.landmark_mat import LandmarkLog, read_landmark_log
from skh.robotics.logs.mrclam import MrclamLog, read_mrclam
from skh.robotics.logs.readings import (
    Landmarks,
    Odometry,
    PlanarPath,
    Scans,
    Sightings,
    VelocityOdometry,
)
from skh.robotics.logs.stereo_mat import StereoLog, StereoRig, read_stereo_log

__all__ = [
    "CarmenLog",
    "LandmarkLog",
    "Landmarks",
    "MrclamLog",
    "Odometry",
    "PlanarPath",
    "Scans",
    "Sightings",
    "StereoLog",
    "StereoRig",
    "VelocityOdometry",
    "data_file",
    "data_folder",
    "read_carmen_log",
    "read_landmark_log",
    "read_mrclam",
    "read_stereo_log",
]
