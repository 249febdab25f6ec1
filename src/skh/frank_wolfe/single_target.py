r"""Search points and a kernel in single precision.

*Error of a kernel value.*  With :math:`\epsilon = 2^{-24}`, centred and rounded coordinates are off
by :math:`\epsilon |X|`, and :math:`|e| \exp(-r e^2)` is at most :math:`0.43 / \sqrt r`: that makes
:math:`1.72\, \epsilon |X| \sqrt r` for the two points.  Each of d + 5 operations on the squared
distance adds :math:`u e^{-u} \epsilon \le 0.37\, \epsilon`; the exponential, its weight and their
product are accurate to :math:`4 \epsilon`, and the sum over S scales to :math:`S \epsilon`.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from skh._numba.extrema import bounds
from skh._numba.quantized_rows import LEVELS
from skh._numba.single_precision import SINGLE, to_single
from skh._runtime.threads import in_threads
from skh._typing import Array
from skh.frank_wolfe.search_mean_map import SearchMeanMap, Single

MIN_SCALE_RATIO = 1e-12  # of rates; below it they leave the range of single precision
MAX_KERNEL_ERROR = 1e-3  # of a kernel value; with more, hardly any point is ruled out


class SingleTarget(NamedTuple):
    """Search points and a kernel in single precision, in units of the kernel's smallest length."""

    X: Single
    mu: Single
    scales: Single
    error: float  # bound on the error of a kernel value
    mu_error: float  # and of a value of the mean map

    @property
    def reach(self) -> float:
        """Distance beyond which a kernel value is less than half a level."""
        return sqrt(log(2 * LEVELS) / self.scales[0].min())

    @classmethod
    def of(cls, X: Array, mean_map: SearchMeanMap, scales: Array) -> SingleTarget | None:
        """Convert a target; return None if single precision is too coarse."""
        rates, weights = scales
        low, high = in_threads(bounds, X.size)(X)
        unit = rates.max()
        with np.errstate(over="ignore"):
            extent = np.sqrt(unit) * np.linalg.norm(0.5 * (high - low))
        reach = extent * (weights @ np.sqrt(rates / unit))
        error = float(1.72 * reach + 0.37 * (len(X) + 5) + 4 + rates.size) * SINGLE
        if not (error < MAX_KERNEL_ERROR and rates.min() > MIN_SCALE_RATIO * unit):
            return None
        single, centre = np.empty(X.shape, np.float32), low + 0.5 * (high - low)
        in_threads(to_single, X.size)(single, X, centre, np.sqrt(unit))
        mu, mu_error = mean_map.in_single_precision()
        return cls(single, mu, np.array([rates / unit, weights], np.float32), error, mu_error)
