"""The mean map at the few search points where it is asked for.

A mean map is a sum of bumps ``heights[i] exp(-rates[i] |Y[:, m] - centres[:, i]|^2)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skh._numba.compiling import compiled, full_vectors
from skh._numba.exponential import exp
from skh._numba.kernel_rows import squared_distances
from skh._typing import Array


class PartialMeanMap(NamedTuple):
    """Values at search points, NaN where none has been asked for yet, and the bumps they sum."""

    values: Array  # (M,)
    Y: Array  # (d, M)
    centres: Array  # (d, m)
    heights: Array  # (m,)
    rates: Array  # (m,)


@compiled
def set_exps(q, rates):  # pragma: no cover - intrinsic
    """``q <- exp(-rates * q)``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        q[i] = exp(-rates[i] * q[i])


@compiled
def mean_map_at(mean_map, m):
    """The mean map at search point ``m``, to the bits of `add_gaussians`: the same operations."""
    if np.isnan(mean_map.values[m]):
        q, total = np.empty(mean_map.rates.size), 0.0
        squared_distances(q, mean_map.centres, 0, q.size, mean_map.Y[:, m])
        set_exps(q, mean_map.rates)
        for i in range(q.size):
            total += mean_map.heights[i] * q[i]
        mean_map.values[m] = total
    return mean_map.values[m]
