r"""The mean map at the search points: in single precision to search, in double where it decides.

*Error in single precision.*  A bump is a Gaussian like a kernel value, whose error
`single_precision_search` derives.  Here the centre may be further from the origin than all points,
each bump has its own rate and height, and each addition rounds a sum that is at most the mean map.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skh._numba.extrema import bounds
from skh._numba.partial_mean_map import PartialMeanMap, mean_map_at
from skh._numba.rough_mean_map import rough_mean_map
from skh._numba.single_precision import SINGLE, to_single
from skh._runtime.lazy import lazy
from skh._runtime.threads import in_threads
from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.base import Kernel
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.kernels.mean_map import Bumps, spherical_bumps

Single = NDArray[np.float32]
MIN_LAZY_POINTS = 2_048  # with fewer, double precision takes no longer
MAX_ERROR = 1e-4  # of the mean map; with more, hardly any point is ruled out
FUTILE_SHARE = 0.1  # of values asked for one by one, above which all at once take less time
NO_BUMPS = Bumps(np.empty((1, 0)), np.empty((1, 0)), np.empty(0), np.empty(0))


class SearchMeanMap:
    """Values at search points in double precision, NaN until they are asked for."""

    def __init__(self, values: Array, bumps: Bumps = NO_BUMPS) -> None:
        """``bumps`` give the values that are NaN."""
        self._values, self._bumps, self.is_known = values, bumps, bumps is NO_BUMPS

    @lazy
    def partial(self) -> PartialMeanMap:
        """The values as compiled code asks for them one by one."""
        return PartialMeanMap(self._values, *self._bumps)

    @classmethod
    def of(cls, kernel: Kernel, p: GaussianMixture, X: Array) -> SearchMeanMap:
        """The mean map of ``p`` at the columns of ``X``, in the kernel's coordinates."""
        M = X.shape[1]
        if M >= MIN_LAZY_POINTS and isinstance(kernel, GaussianKernel) and kernel.metric is None:
            bumps = spherical_bumps(p, X, kernel.variances, kernel.scales[1])
            if bumps is not None and len(bumps) == 1:
                return cls(np.full(M, np.nan), bumps[0])
        return cls(kernel.mean_map_at(p, X))

    def everywhere(self) -> Array:
        """All values."""
        values = self._values
        if not self.is_known:
            values[:] = 0.0
            self._bumps.add_to(values)
            self.is_known = True
        return values

    def at(self, j: int) -> float:
        """Value at search point ``j``."""
        return float(mean_map_at(self.partial, j))

    def in_single_precision(self) -> tuple[Single, float]:
        """All values, and a bound on their error."""
        rough = None if self.is_known else self._rough()
        if rough is None:
            rough = self.everywhere().astype(np.float32), 0.0
        values, error = rough
        return values, error + 2 * SINGLE * float(values.max())

    def _rough(self) -> tuple[Single, float] | None:
        X, centres, heights, rates = self._bumps
        (d, M), unit, (low, high) = X.shape, rates.max(), in_threads(bounds, X.size)(X)
        middle, scale, rates = low + 0.5 * (high - low), np.sqrt(unit), rates / unit
        with np.errstate(over="ignore", invalid="ignore"):
            centres = scale * (centres.T - middle)
            apart = scale * np.linalg.norm(0.5 * (high - low)) + np.linalg.norm(centres, axis=1)
            errors = 0.86 * np.sqrt(rates) * apart + 0.37 * (d + 5) + 4
            error = SINGLE * float(heights @ errors)
        if not error < MAX_ERROR:
            return None
        Y, out = np.empty((d, M), np.float32), np.empty(M, np.float32)
        in_threads(to_single, X.size)(Y, X, middle, scale)
        bumps = (a.astype(np.float32) for a in (centres, heights, rates))
        in_threads(rough_mean_map, M)(out, Y, *bumps)
        return out, error + rates.size * SINGLE * float(out.max())

    def highest(self, rough: Single, error: float) -> int:
        """Index of the highest value, the first one in case of a tie; ``rough`` has the error."""
        likely = np.flatnonzero(rough >= rough.max() - 2.0 * error)
        if self.is_known or likely.size > FUTILE_SHARE * rough.size:
            return int(self.everywhere().argmax())
        return int(likely[np.argmax([self.at(j) for j in likely.tolist()])])
