"""Models of robots with precise sensors, whose likelihoods are much sharper than the predictive.

Ranges and bearings to landmarks, laser scans on a grid map, depth images of a simple scene, radars
that measure range and Doppler, and a map of a magnetic field.
"""

from skh.models.robot_sensors.depth_images import DepthCamera, depth_camera
from skh.models.robot_sensors.grid_map import GridMap, office
from skh.models.robot_sensors.landmarks import RangeBearing, ResidualRangeBearing, range_bearing
from skh.models.robot_sensors.laser import (
    LaserBeams,
    LikelihoodField,
    laser_beams,
    likelihood_field,
)
from skh.models.robot_sensors.range_doppler import Radar, radar
from skh.models.robot_sensors.scalar_field import FieldMap, field_map

__all__ = [
    "DepthCamera",
    "FieldMap",
    "GridMap",
    "LaserBeams",
    "LikelihoodField",
    "Radar",
    "RangeBearing",
    "ResidualRangeBearing",
    "depth_camera",
    "field_map",
    "laser_beams",
    "likelihood_field",
    "office",
    "radar",
    "range_bearing",
]
