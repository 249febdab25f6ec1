r"""KLD-sampling: as many random points as the occupied boxes of the predictive require.

Fox (2003), *Adapting the sample size in particle filters through KLD-sampling*: draw points of the
mixture until their number n reaches

.. math:: n \ge \frac{k - 1}{2 \varepsilon}
          \Bigl(1 - \frac{2}{9 (k - 1)} + \sqrt{\frac{2}{9 (k - 1)}}\, z_{1 - \delta}\Bigr)^3,

where k is the number of boxes that hold a point so far.  With probability :math:`1 - \delta` the
Kullback-Leibler distance of the histogram to the distribution is then below :math:`\varepsilon`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import scipy  # imports its submodules on first use

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture
from skh.robotics.localiser.bins import Bins
from skh.rules.base import WeightedPoints, check_call
from skh.rules.sampling import MonteCarlo


@dataclass(frozen=True)
class KLDSampling:
    """Random points of poses in the plane, at most the n that are asked for.

    >>> import skh
    >>> p = skh.GaussianMixture([1.0], [[0.25, 0.25, 0.1]], 1e-4)
    >>> len(KLDSampling()(p, 10_000, rng=0))
    100
    """

    error: float = 0.05  # Kullback-Leibler distance
    missed: float = 0.01  # probability of a larger one
    least: int = 100
    bins: Bins = field(default_factory=Bins)
    uses_information: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _checks.positive("error", self.error)
        if not 0 < self.missed < 1:
            raise ValueError(f"missed must be between 0 and 1, got {self.missed}")
        _checks.positive_int("least", self.least)

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """Draw points of ``p`` one by one until they are enough, n at most."""
        n, rng = check_call(p, n, rng)
        if p.d != 3:
            raise ValueError(f"p must be a mixture of poses (x, y, heading), got dimension {p.d}")
        drawn = MonteCarlo()(p, n, rng=rng)
        m = self.enough(drawn.x)
        return WeightedPoints(drawn.x[:m], np.full(m, 1 / m), drawn.component[:m])

    def enough(self, x: Array) -> int:
        """How many of the poses, taken in their order, are enough; all if they are not."""
        _, first = np.unique(self.bins.boxes(x), axis=0, return_index=True)
        new = np.zeros(len(x), dtype=np.intp)
        new[first] = 1
        reached = np.arange(1, len(x) + 1) >= np.maximum(self.needed(np.cumsum(new)), self.least)
        return int(reached.argmax()) + 1 if reached.any() else len(x)

    def needed(self, k: Array) -> Array:
        """Number of points for k occupied boxes.

        >>> KLDSampling().needed(np.array([1, 2, 100])).round()
        array([   0.,   66., 1347.])
        """
        more = np.maximum(np.asarray(k, dtype=np.float64) - 1, 1e-9)
        part = 2 / (9 * more)
        z = float(scipy.special.ndtri(1 - self.missed))
        needed = more / (2 * self.error) * (1 - part + np.sqrt(part) * z) ** 3
        return np.where(np.asarray(k) > 1, needed, 0.0)
