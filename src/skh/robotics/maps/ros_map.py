"""Maps of ROS: a yaml file with resolution, origin and thresholds, and an image beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from skh._typing import Array
from skh.models.robot_sensors.grid_map import GridMap
from skh.robotics.logs.text_lines import text_of
from skh.robotics.maps.grid_of import grid_of
from skh.robotics.maps.images import read_image
from skh.robotics.maps.simple_yaml import read_yaml

MAP_MODES = ("trinary", "scale", "raw")
LARGEST_YAW = 1e-6  # radians; a map that is turned would need turned cells


@dataclass(frozen=True)
class MapSettings:
    """The yaml file of a map, checked."""

    image: str
    resolution: float
    origin: tuple[float, float]
    negate: bool
    occupied_thresh: float
    free_thresh: float
    mode: str


def read_ros_map(path: str | Path) -> GridMap:
    """Read a map by its yaml file; cells that are neither occupied nor free are unknown.

    As in ROS, a cell is occupied with probability (white - value) / white, or value / white if
    ``negate``; in mode "raw" values are percent, and above 100 unknown.  Occupied are cells above
    ``occupied_thresh``, free those below ``free_thresh``.
    """
    settings = _settings(path)
    image = Path(path).parent / settings.image
    if not image.is_file():
        raise ValueError(f"{path}: image must be a file, got {settings.image!r}")
    values, white = read_image(image)
    p = _probabilities(settings, values[::-1], white)  # the first row of an image is its top
    with np.errstate(invalid="ignore"):  # NaN: unknown
        occupied, free = p > settings.occupied_thresh, p < settings.free_thresh
    return grid_of(path, occupied, free, settings.resolution, settings.origin)


def _probabilities(settings: MapSettings, values: Array, white: float) -> Array:
    if settings.mode == "raw":
        return np.where(values <= 100, values / 100, np.nan)
    return np.asarray(values / white if settings.negate else (white - values) / white)


def _settings(path: str | Path) -> MapSettings:
    raw = read_yaml(text_of(path), str(path))
    mode = raw.get("mode", "trinary")
    if mode not in MAP_MODES:
        raise ValueError(f"{path}: mode must be one of {', '.join(MAP_MODES)}, got {mode!r}")
    if not isinstance(raw.get("image"), str):
        raise ValueError(f"{path}: image must name the image of the map, got {raw.get('image')!r}")
    settings = MapSettings(
        raw["image"],
        _positive(path, raw, "resolution"),
        _origin(path, raw),
        _switch(path, raw, "negate"),
        _threshold(path, raw, "occupied_thresh", 0.65),
        _threshold(path, raw, "free_thresh", 0.196),
        mode,
    )
    if settings.free_thresh > settings.occupied_thresh:
        raise ValueError(
            f"{path}: free_thresh must not be above occupied_thresh, {settings.occupied_thresh}, "
            f"got {settings.free_thresh}"
        )
    return settings


def _origin(path: str | Path, raw: dict[str, Any]) -> tuple[float, float]:
    origin = raw.get("origin")
    good = isinstance(origin, list) and len(origin) in (2, 3)
    if not good or not all(_is_finite(value) for value in origin or ()):
        raise ValueError(f"{path}: origin must be [x, y, yaw], got {origin!r}")
    assert origin is not None
    yaw = origin[2] if len(origin) == 3 else 0.0
    if abs(yaw) > LARGEST_YAW:
        raise ValueError(
            f"{path}: origin must have a yaw of 0, got {yaw}: turn the image and the yaml file"
        )
    return float(origin[0]), float(origin[1])


def _positive(path: str | Path, raw: dict[str, Any], key: str) -> float:
    value = raw.get(key)
    if not _is_finite(value) or value <= 0:
        raise ValueError(f"{path}: {key} must be a positive number, got {value!r}")
    return float(value)


def _threshold(path: str | Path, raw: dict[str, Any], key: str, default: float) -> float:
    value = raw.get(key, default)
    if not _is_finite(value) or not 0 <= value <= 1:
        raise ValueError(f"{path}: {key} must be a number in [0, 1], got {value!r}")
    return float(value)


def _switch(path: str | Path, raw: dict[str, Any], key: str) -> bool:
    value = raw.get(key, 0)
    if value not in (0, 1):
        raise ValueError(f"{path}: {key} must be 0 or 1, got {value!r}")
    return bool(value)


def _is_finite(value: Any) -> TypeGuard[float]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and bool(np.isfinite(value))
