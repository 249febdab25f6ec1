r"""What a guided look is placed for: :math:`q = p\, \hat o / Z` as a mixture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture
from skh.rules.ancestor_sampling import sample_ancestors
from skh.rules.base import Rule, WeightedPoints, checked_points


@dataclass(frozen=True, eq=False)
class Target:
    """The mixture q, and how much denser than p it is."""

    q: GaussianMixture
    log_surrogate: Callable[[Array], Array]  # of the rows of x
    log_norm: float  # logarithm of Z
    p: GaussianMixture | None = None  # if components of q are not those of p

    def log_ratio(self, x: Array) -> Array:
        """``log(q / p)`` at the rows of x."""
        return self.log_surrogate(x) - self.log_norm

    def points(self, rule: Rule, m: int, rng: np.random.Generator) -> WeightedPoints:
        """Return m points for q, with components of p."""
        points = checked_points(rule(self.q, m, rng=rng), self.q)
        if self.p is None:
            return points
        return WeightedPoints(points.x, points.w, sample_ancestors(self.p, points.x, rng))
