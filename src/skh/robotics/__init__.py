"""Robots: maps and logs, motion and sensor models by name, localisation.

    import skh.robotics as robotics

    log = robotics.read_carmen_log("robotdata1.log.gz")
    grid = robotics.read_map("wean.dat.gz")
    timeline = robotics.timeline_of(log, min_way=0.1, min_turn=0.1)

Units are SI: metres, radians, seconds.  Poses in the plane are rows (x, y, heading), in space
`skh.geometry.Pose`.  Imports `models`, `geometry` and what they import.
"""

from skh.robotics.controls import BodyRates, BodyStep, OdometryStep, PoseStep, VelocitySteps
from skh.robotics.localiser import (
    Cluster,
    Fix,
    KLDSampling,
    Localiser,
    LostTest,
    clusters_of,
    free_space,
)
from skh.robotics.localization import Localization, localization_model
from skh.robotics.log_timelines import timeline_of
from skh.robotics.logs import (
    CarmenLog,
    LandmarkLog,
    Landmarks,
    MrclamLog,
    Odometry,
    PlanarPath,
    Scans,
    Sightings,
    StereoLog,
    StereoRig,
    VelocityOdometry,
    data_file,
    data_folder,
    read_carmen_log,
    read_landmark_log,
    read_mrclam,
    read_stereo_log,
)
from skh.robotics.maps import read_carmen_map, read_map, read_ros_map
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
from skh.robotics.timeline import Timeline, merge

__all__ = [
    "BeamModel",
    "BodyRates",
    "BodyStep",
    "CarmenLog",
    "Cluster",
    "DeadReckoning",
    "DifferentialDrive",
    "FastSLAM",
    "Fix",
    "ImuRates",
    "KLDSampling",
    "LandmarkLog",
    "LandmarkMap",
    "Landmarks",
    "LikelihoodFieldModel",
    "Localiser",
    "Localization",
    "LostTest",
    "MrclamLog",
    "Odometry",
    "OdometryStep",
    "OmniDrive",
    "PinholeCamera",
    "PlanarPath",
    "PoseReckoning",
    "PoseStep",
    "RangeBearing",
    "RangeSensor",
    "Scans",
    "Sensors",
    "Sightings",
    "StereoCamera",
    "StereoLog",
    "StereoRig",
    "Timeline",
    "VelocityMotion",
    "VelocityOdometry",
    "VelocitySteps",
    "clusters_of",
    "data_file",
    "data_folder",
    "fastslam_model",
    "free_space",
    "landmark_map",
    "localization_model",
    "merge",
    "preintegrate",
    "preintegrate_rates",
    "read_carmen_log",
    "read_carmen_map",
    "read_landmark_log",
    "read_map",
    "read_mrclam",
    "read_ros_map",
    "read_stereo_log",
    "timeline_of",
]
