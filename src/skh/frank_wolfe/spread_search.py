"""Search points on a line, where many points need some in the tails and in light modes.

On a line some hundred points lower the MMD so far that what is left is up to points of tiny weight,
which a sample of the mixture offers few places for.  Search points need not represent the mixture:
half of them are from components chosen by the roots of their weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skh._typing import Array, Indices
from skh.gaussians.mixture import GaussianMixture
from skh.rules.sampling import QuasiMonteCarlo, Sampling

EVEN = QuasiMonteCarlo()
SPREAD_FROM = 75  # points from which on half of the search points are in the tails
FEW = 512, 25, 1_000  # search points for fewer: at least, per point, at most
MORE = 100, 10  # for so many: some, and some per point,
DENSER = 100, 200  # which grow in proportion to the number of points between these


@dataclass(frozen=True)
class SpreadSearch(Sampling):
    """Sobol points, half of them from components in proportion to the roots of their weights.

    >>> p = GaussianMixture([0.99, 0.01], [[0.0], [9.0]], 1.0)
    >>> x, component = SpreadSearch().draw(p, 1024, np.random.default_rng(0))
    >>> float((component == 1).mean().round(2))
    0.05
    """

    def draw(self, p: GaussianMixture, n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
        """Draw points, most evenly if n is a power of two."""
        roots = np.sqrt(p.weights)
        spread = GaussianMixture._known(
            0.5 * (p.weights + roots / roots.sum()), p._means, p.covariances
        )
        spread.__dict__.update(_factors=p._factors, curve=p.curve)
        return EVEN.draw(spread, n, rng)


SPREAD = SpreadSearch()


def search_on_line(n: int) -> Sampling:
    """Return the rule that draws the search points of ``n`` points."""
    return EVEN if n < SPREAD_FROM else SPREAD


def search_points_on_line(n: int) -> int:
    """Return their number.

    >>> [search_points_on_line(n) for n in (20, 50, 75, 100, 200, 300)]
    [512, 1000, 850, 1100, 4100, 6100]
    """
    if n < SPREAD_FROM:
        least, each, most = FEW
        return min(max(least, each * n), most)
    (some, each), (first, last) = MORE, DENSER
    return some + each * n * min(max(n, first), last) // first
