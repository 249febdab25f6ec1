"""Maps of any known format, told apart by their content."""

from __future__ import annotations

from pathlib import Path

from skh.models.robot_sensors.grid_map import GridMap
from skh.robotics.logs.text_lines import content
from skh.robotics.maps.carmen_map import BINARY_LABEL, TEXT_LABEL, read_carmen_map
from skh.robotics.maps.images import PNG_MAGIC
from skh.robotics.maps.ros_map import read_ros_map


def read_map(path: str | Path) -> GridMap:
    """Read a map of ROS (its yaml file) or of CARMEN, which may be compressed by gzip."""
    start = content(path)[:4096]
    if BINARY_LABEL in start or TEXT_LABEL in start:
        return read_carmen_map(path)
    if b"image:" in start or b"resolution:" in start:
        return read_ros_map(path)
    is_image = start.startswith((b"P2", b"P5", PNG_MAGIC))
    advice = ": give the yaml file beside it" if is_image else ""
    raise ValueError(
        f"{path} must be a map: the yaml file of a ROS map, or a CARMEN map with 'global_map' or "
        f"'CARMENMAPFILE', got something else{advice}"
    )
