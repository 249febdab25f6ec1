"""Readers of occupancy grid maps: ROS (yaml and an image) and CARMEN (binary and text)."""

from skh.robotics.maps.any_map import read_map
from skh.robotics.maps.carmen_map import read_carmen_map
from skh.robotics.maps.ros_map import read_ros_map

__all__ = ["read_carmen_map", "read_map", "read_ros_map"]
