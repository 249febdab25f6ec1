"""Search points on a line, where points of tiny weight matter: half of them are in the tails.

On a line n points lower the MMD so far that it is up to search points in the tails and in light
modes, of which a sample of the mixture has few.  Search points need not represent the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skh._typing import Array, Indices
from skh.gaussians.mixture import GaussianMixture
from skh.rules.sampling import QuasiMonteCarlo, Sampling

EVEN = QuasiMonteCarlo()


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
