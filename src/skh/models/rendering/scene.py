"""A scene of simple solids, and the voxel map of distances that a robot would have of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skh import _checks
from skh._typing import Array

WALL = 0.5  # metres of solid outside the hall that the map contains

HALL = (0.0, 0.0, 0.0, 10.0, 8.0, 3.5)  # two corners, metres
SOLID_BOXES = (
    (7.6, 0.0, 0.0, 10.0, 0.7, 2.1),  # shelf
    (8.6, 3.2, 0.0, 9.6, 5.0, 0.8),  # table
    (6.2, 6.6, 0.0, 7.4, 8.0, 1.3),  # cupboard
    (2.6, 7.2, 0.0, 4.2, 8.0, 2.4),
    (0.0, 2.4, 0.0, 0.8, 4.4, 1.0),  # bench
    (3.4, 0.0, 0.0, 4.4, 0.9, 0.9),
    (5.2, 3.6, 2.6, 6.4, 4.4, 3.5),  # beam under the ceiling
)
LAMPS = (  # centre and radius
    (8.1, 6.2, 1.7, 0.5),
    (5.8, 1.4, 2.5, 0.35),
    (1.3, 6.3, 0.6, 0.6),
    (1.6, 1.2, 2.6, 0.4),
)
PILLARS = ((6.0, 3.2, 0.3), (4.2, 4.6, 0.25), (8.3, 7.2, 0.2))  # x, y and radius, floor to ceiling


@dataclass(frozen=True)
class Scene:
    """A hall with boxes, spheres and pillars in it; lengths in metres."""

    hall: tuple[float, ...] = HALL
    boxes: tuple[tuple[float, ...], ...] = SOLID_BOXES
    spheres: tuple[tuple[float, ...], ...] = LAMPS
    pillars: tuple[tuple[float, ...], ...] = PILLARS

    def distances(self, points: Array) -> Array:
        """Signed distance (...,) of points (..., 3) to the nearest surface, negative in solids.

        >>> float(Scene().distances(np.array([5.0, 6.0, 1.0])))  # the floor is nearest
        1.0
        """
        found = -_to_box(points, np.array(self.hall))
        for box in self.boxes:
            found = np.minimum(found, _to_box(points, np.array(box)))
        for *centre, radius in self.spheres:
            found = np.minimum(found, np.linalg.norm(points - centre, axis=-1) - radius)
        for *axis, radius in self.pillars:
            away = np.linalg.norm(points[..., :2] - axis, axis=-1)
            found = np.minimum(found, away - radius)
        return np.asarray(found)

    def voxels(self, spacing: float = 0.1) -> VoxelMap:
        """Sample the distances on a grid."""
        _checks.positive("spacing", spacing)
        low, high = np.array(self.hall[:3]) - WALL, np.array(self.hall[3:]) + WALL
        axes = [np.arange(a, b + spacing, spacing) for a, b in zip(low, high, strict=True)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        return VoxelMap(self.distances(points), tuple(low), spacing)


def _to_box(points: Array, box: Array) -> Array:
    """Signed distance to a box, negative inside."""
    beyond = np.maximum(box[:3] - points, points - box[3:])
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return np.asarray(outside + np.minimum(beyond.max(axis=-1), 0.0))


@dataclass(frozen=True, eq=False)
class VoxelMap:
    """Signed distances to the nearest surface on a grid of points, in metres."""

    distances: Array  # (a, b, c)
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)  # place of distances[0, 0, 0]
    spacing: float = 0.1  # of the points

    def __post_init__(self) -> None:
        shape = np.shape(self.distances)
        if len(shape) != 3 or min(shape) < 2:
            raise ValueError(f"distances must have shape (a, b, c), each at least 2, got {shape}")
        _checks.positive("spacing", self.spacing)
        _checks.shaped("origin", self.origin, 3)
        object.__setattr__(self, "distances", _checks.floats("distances", self.distances))

    @cached_property
    def cells(self) -> NDArray[np.float32]:
        """Distances in voxels, in single precision: half the memory to read."""
        return np.ascontiguousarray(self.distances / self.spacing, dtype=np.float32)

    def places(self, positions: Array) -> Array:
        """Positions (n, 3) in voxels."""
        return np.ascontiguousarray((positions - np.array(self.origin)) / self.spacing)
