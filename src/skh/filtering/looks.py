"""Looks that a plan has taken at a likelihood, and their weights when combined.

Multiple importance sampling (Veach and Guibas, 1995) with shares alpha of the looks; the formula is
in `second_look`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skh._numba.log_sums import log_sum_of_rows
from skh._numba.reweighting import weighted_ess
from skh._typing import Array, Indices
from skh.filtering.plans import Look, Placement
from skh.filtering.surrogates.target import Target
from skh.rules.base import WeightedPoints

PILOT_SHARES = (0.005, 0.2)  # least and largest share alpha of the pilot; between: 1 - efficiency
SHARE_POWER = 4  # of the ESS, that the shares of guided looks are proportional to
TRIAL_VALUE = 0.6  # ESS of a trial's points that one of the rule's points is worth
LEAST_SHARE = 1e-12  # of another look, relative to the best


@dataclass(frozen=True, eq=False)
class Taken:
    """A look: points, their log-likelihoods, and what they were placed for (None: p)."""

    points: WeightedPoints
    log_likelihood: Array
    target: Target | None = None
    trial: bool = False  # points by the fast rule

    def log_ratio(self, x: Array) -> Array:
        """``log(q / p)`` at the rows of x."""
        return np.zeros(len(x)) if self.target is None else self.target.log_ratio(x)

    @cached_property
    def ess(self) -> float:
        """Effective sample size after weighting by o p / q; 0 if all weights are zero."""
        log_ratio = self.log_ratio(self.points.x)
        return float(weighted_ess(self.points.w, self.log_likelihood - log_ratio))

    @property
    def efficiency(self) -> float:
        """The ESS relative to that of the quadrature weights."""
        return self.ess * float(self.points.w @ self.points.w)


def combine(looks: Sequence[Taken], reason: str, error: float) -> Placement:
    """Weigh the points of all looks together; ``reason`` and ``error`` are for the record."""
    shares = look_shares(looks)
    x = np.concatenate([look.points.x for look in looks])
    component = np.concatenate([look.points.component for look in looks])
    w = np.concatenate([a * look.points.w for a, look in zip(shares, looks, strict=True)])
    logs = np.stack([look.log_ratio(x) for look in looks], axis=1) + np.log(shares)
    points = WeightedPoints(x, w / w.sum(), component)
    described = tuple(Look(len(look.points), look.ess, reason, error) for look in looks)
    return Placement(points, None, -log_sum_of_rows(logs), described)


def look_shares(looks: Sequence[Taken]) -> Array:
    """Shares alpha: those of guided looks grow with their ESS; the pilot has the rest.

    Where the surrogate was right, the pilot only bounds the weights.
    """
    ess = np.array([look.ess * (TRIAL_VALUE if look.trial else 1.0) for look in looks[1:]])
    shares = (ess / max(float(ess.max()), LEAST_SHARE)) ** SHARE_POWER + LEAST_SHARE
    shares /= shares.sum()
    efficiency = float(shares @ np.array([look.efficiency for look in looks[1:]]))
    pilot = float(np.clip(1.0 - efficiency, *PILOT_SHARES))
    return np.concatenate([[pilot], (1.0 - pilot) * shares])


def subset(points: WeightedPoints, rows: Indices) -> WeightedPoints:
    """Return some of the points, with weights that sum to one."""
    w = points.w[rows]
    return WeightedPoints(points.x[rows], w / w.sum(), points.component[rows])
