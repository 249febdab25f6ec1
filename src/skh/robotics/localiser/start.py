"""A start anywhere: the uniform distribution over the free space of a map and all headings."""

from __future__ import annotations

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.hilbert_curve import hilbert_order
from skh.gaussians.mixture import GaussianMixture
from skh.models.robot_sensors.grid_map import GridMap
from skh.rules.sampling import scrambled_sobol

NARROW = 1e-3  # standard deviation of a component, in cells and in radians


def free_space(grid: GridMap, n: int, *, rng: RNG = None) -> GaussianMixture:
    """Return n poses that cover the free cells and all headings evenly, as narrow components.

    The free cells are taken along a Hilbert curve, so that a Sobol sequence in (place on the curve,
    heading) is even in the plane as well.

    >>> cells = np.zeros((20, 30), dtype=bool)
    >>> cells[:, :10] = True  # the first metre is a wall
    >>> prior = free_space(GridMap(cells, resolution=0.1, origin=(0.0, 0.0)), 100, rng=0)
    >>> len(prior), bool((prior.means[:, 0] >= 1.0).all())
    (100, True)
    """
    if not isinstance(grid, GridMap):
        raise TypeError(f"grid must be a GridMap, got {grid!r}")
    n, rng = _checks.positive_int("n", n), _checks.generator(rng)
    u = scrambled_sobol(n, 2, rng)
    cells = cells_along_curve(grid)
    chosen = cells[np.minimum((u[:, 0] * len(cells)).astype(np.intp), len(cells) - 1)]
    places = np.asarray(grid.origin) + grid.resolution * (chosen + rng.random((n, 2)))
    poses = np.column_stack([places, (2 * u[:, 1] - 1) * np.pi])
    spread = np.diag([NARROW * grid.resolution, NARROW * grid.resolution, NARROW]) ** 2
    return GaussianMixture(np.full(n, 1 / n), poses, spread)


def cells_along_curve(grid: GridMap) -> Array:
    """Free cells (k, 2) as (column, row), in the order of a Hilbert curve."""
    free = np.logical_not(grid.occupied) if grid.free is None else grid.free
    cells = np.argwhere(free)[:, ::-1].astype(np.float64)
    if len(cells) == 0:
        raise ValueError("grid must have a free cell to start from, got none")
    return cells[hilbert_order(cells)] if len(cells) > 1 else cells
