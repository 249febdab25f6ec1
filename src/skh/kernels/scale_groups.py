"""Scales of a kernel in groups, whose Gaussians need one exponential for all.

In a group each scale has a tenth of the variance of the one before; see `_numba.nested_scales`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from skh._numba.nested_scales import GROUP
from skh._typing import Array

SAME_RATE = 1e-12  # relative difference of rates that are the same


def scale_groups(scales: Array, precision: type[np.floating] = np.float64) -> NDArray[np.floating]:
    """Return a row for each group: the rate of its widest scale, and weights from there on.

    ``scales`` (2, S) are rates and weights; sums are in the ``precision`` of the groups.

    >>> scale_groups(np.array([[5.0, 1.0, 0.5], [0.1, 0.3, 0.6]]))
    array([[0.5, 0.6, 0.1, 0. , 0. ],
           [1. , 0.3, 0. , 0. , 0. ]])
    """
    return _groups(scales.tobytes(), precision is np.float32)


@lru_cache(maxsize=64)
def _groups(scales: bytes, single: bool) -> NDArray[np.floating]:
    groups: list[list[float]] = []
    rates, weights = np.frombuffer(scales).reshape(2, -1).tolist()
    for rate, weight in sorted(zip(rates, weights, strict=True)):
        for group in groups:
            if (
                len(group) <= GROUP
                and abs(rate / (group[0] * 10.0 ** (len(group) - 1)) - 1) < SAME_RATE
            ):
                group.append(weight)
                break
        else:
            groups.append([rate, weight])
    filled = [group + [0.0] * (GROUP + 1 - len(group)) for group in groups]
    return np.array(filled, np.float32 if single else np.float64)
