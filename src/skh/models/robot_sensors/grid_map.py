"""Occupancy grid maps: ranges of beams by ray casting, distances to the nearest obstacle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
import scipy  # loads scipy.ndimage on first use
from numpy.typing import ArrayLike, NDArray

from skh import _checks
from skh._typing import RNG, Array
from skh.models.robot_sensors.kernels import cast_beams

Cells = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GridMap:
    """A map of square cells, each occupied or free; outside it everything is free.

    >>> import numpy as np
    >>> occupied = np.zeros((20, 30), dtype=bool)
    >>> occupied[:, 25] = True  # a wall from x = 2.5 m to 2.6 m
    >>> grid = GridMap(occupied, resolution=0.1, origin=(0.0, 0.0))
    >>> grid.ranges(np.array([[1.0, 1.0, 0.0]]), np.array([0.0]), longest=10.0).round(6)
    array([[1.5]])
    """

    occupied: Cells  # (rows, columns) of booleans; rows along y, columns along x
    resolution: float  # side of a cell, metres
    origin: tuple[float, float]  # position of the corner of the first cell
    free: Cells | None = None  # as occupied: cells known to be free; None: all not occupied

    def __post_init__(self) -> None:
        object.__setattr__(self, "occupied", _cells("occupied", self.occupied))
        _checks.positive("resolution", self.resolution)
        _checks.shaped("origin", self.origin, 2)
        if self.free is not None:
            object.__setattr__(self, "free", self._checked_free(self.free))

    def _checked_free(self, cells: Cells) -> Cells:
        free = _cells("free", cells)
        if free.shape != self.occupied.shape:
            raise ValueError(
                f"free must have the shape of occupied, {self.occupied.shape}, got {free.shape}"
            )
        if (free & self.occupied).any():
            where = tuple(int(i) for i in np.argwhere(free & self.occupied)[0])
            raise ValueError(f"free must be false where occupied is true, got true at {where}")
        return free

    def sample_free(self, n: int, rng: RNG = None) -> Array:
        """Draw poses (n, 3), uniform over the free cells and over all headings.

        >>> grid = GridMap(np.array([[True, False]]), resolution=0.5, origin=(1.0, 0.0))
        >>> poses = grid.sample_free(100, rng=0)
        >>> bool((poses[:, 0] >= 1.5).all()), poses.shape
        (True, (100, 3))
        """
        n, rng = _checks.positive_int("n", n), _checks.generator(rng)
        row, column = np.nonzero(np.logical_not(self.occupied) if self.free is None else self.free)
        if len(row) == 0:
            raise ValueError("free must have a free cell to draw poses from, got none")
        cell = rng.integers(len(row), size=n)
        corners = np.column_stack([column[cell], row[cell]])
        places = np.asarray(self.origin) + self.resolution * (corners + rng.random((n, 2)))
        return np.column_stack([places, rng.uniform(-pi, pi, n)])

    def ranges(self, poses: ArrayLike, angles: ArrayLike, longest: float) -> Array:
        """Ranges (n, k) of beams at ``angles`` (k,) to the headings of ``poses`` (n, 3)."""
        poses = _checks.points("poses", poses, 3)
        angles = _checks.shaped("angles", angles, "k")
        longest = _checks.positive("longest", longest)
        cells = np.ascontiguousarray((poses[:, :2] - np.asarray(self.origin)) / self.resolution)
        ways = np.empty((len(poses), len(angles)))
        headings = np.ascontiguousarray(poses[:, 2])
        cast_beams(
            *(ways, self.occupied, cells, headings, np.ascontiguousarray(angles)),
            longest / self.resolution,
        )
        return self.resolution * ways

    @cached_property
    def distance_field(self) -> Array:
        """Distance of each cell's centre to that of the nearest occupied one, metres."""
        if not self.occupied.any():
            raise ValueError("occupied must have an occupied cell to have distances, got none")
        free = np.logical_not(self.occupied)
        return np.asarray(self.resolution * scipy.ndimage.distance_transform_edt(free))

    def distances(self, positions: Array) -> Array:
        """Distances of positions (..., 2) to the nearest obstacle, interpolated between cells."""
        cells = (np.asarray(positions) - np.asarray(self.origin)) / self.resolution - 0.5
        return np.asarray(
            scipy.ndimage.map_coordinates(
                self.distance_field, [cells[..., 1], cells[..., 0]], order=1, mode="nearest"
            )
        )


def _cells(name: str, value: Cells) -> Cells:
    """Validate a matrix of booleans; return a copy."""
    cells = np.array(value)
    if cells.ndim != 2 or cells.dtype != bool or cells.size == 0:
        raise ValueError(
            f"{name} must be a matrix of booleans, got shape {cells.shape} of {cells.dtype}"
        )
    return cells


def office(resolution: float = 0.1) -> GridMap:
    """Return a map of a room of 14 m by 14 m about the origin, with furniture along its walls."""
    resolution = _checks.positive("resolution", resolution)
    centres = np.arange(-7 + resolution / 2, 7, resolution)
    x, y = np.meshgrid(centres, centres)
    occupied = np.maximum(abs(x), abs(y)) > 6.8
    for left, low, right, high in FURNITURE:
        occupied |= (left < x) & (x < right) & (low < y) & (y < high)
    return GridMap(occupied, resolution, (-7.0, -7.0))


FURNITURE = (  # left, low, right, high; metres
    (-7.0, 3.0, -5.0, 7.0),
    (1.0, 5.5, 3.5, 7.0),
    (5.5, 0.5, 7.0, 2.0),
    (4.5, -7.0, 7.0, -4.5),
    (-2.0, -7.0, -0.5, -5.0),
    (-7.0, -3.5, -5.8, -2.0),
)
