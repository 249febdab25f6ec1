"""A rule in units of the mixture's own spread."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skh._typing import RNG
from skh.gaussians.mixture import GaussianMixture
from skh.rules.base import Rule, Shift, WeightedPoints


@dataclass(frozen=True)
class Whitened:
    """``rule`` in coordinates in which the mixture has unit covariance.

    For Frank-Wolfe rules the same as a kernel whose metric is the covariance of each mixture: one
    sigma^2 then means the same at every step, whatever the units of the coordinates.
    """

    rule: Rule

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """The points of the rule, back in the mixture's own coordinates."""
        if not p.covariance.any():  # a known state has no spread
            return self.rule(p, n, rng=rng)
        L = np.linalg.cholesky(p.covariance)
        points = self.rule(p.linear_map(np.linalg.inv(L)), n, rng=rng)
        shift = points.shift and Shift(points.shift.mean @ L.T, L @ points.shift.root)
        return replace(points, x=points.x @ L.T, shift=shift)
