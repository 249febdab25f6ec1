"""The grid of a map that was read: one that shows nothing is refused."""

from __future__ import annotations

from pathlib import Path

from skh.models.robot_sensors.grid_map import Cells, GridMap


def grid_of(
    path: str | Path, occupied: Cells, free: Cells, resolution: float, origin: tuple[float, float]
) -> GridMap:
    """Make a grid; a ValueError names the file if no cell is occupied, for a laser sees nothing."""
    if not occupied.any():
        rows, columns = occupied.shape
        raise ValueError(
            f"{path} must have occupied cells, got none of {columns} x {rows}: "
            f"{int(free.sum())} are free, the others unknown"
        )
    return GridMap(occupied, resolution, origin, free=free)
