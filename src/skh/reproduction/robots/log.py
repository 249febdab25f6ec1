"""A log that is ready to be filtered, and the scores of estimated positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh._typing import Array, Indices

SHARPEST = 1e-4  # metres: standard deviations below it count as this when errors are normalised


@dataclass(frozen=True, eq=False)
class Log:
    """A model in a chart with its observations, and what is known of the true path.

    Positions are the first k coordinates of the chart: k = 2 in the plane, 3 in space.
    """

    model: Any  # as the filter takes it
    observations: Sequence[Any]
    times: Array  # (T,), seconds
    truth: Array | None = None  # (T, k), NaN where unknown; None: there is no truth
    landmarks: Array | None = None  # (m, k), for figures
    first: int = 1  # the first step that is scored: at the start the pose is given
    dimension: int = 2  # k

    def scored(self) -> Indices:
        """The steps whose errors count."""
        steps = np.arange(self.first, len(self.times))
        if self.truth is None:
            return steps
        return np.asarray(steps[np.isfinite(self.truth[steps]).all(axis=1)])

    def moments(self, number: int) -> Indices:
        """About as many steps with known truth, evenly spaced up to the last."""
        steps = self.scored()
        chosen = np.linspace(0, len(steps), min(number, len(steps)) + 1)[1:] - 1
        return np.asarray(steps[chosen.round().astype(int)])


def positions_of(states: Any, k: int) -> Array:
    """Positions (T, k) of poses in the plane, which are rows, or in space."""
    positions = getattr(states, "position", states)
    return np.asarray(positions)[:, :k]


def normalised_squares(errors: Array, covariances: Array) -> Array:
    """Squared errors e' S^-1 e of the positions (T, k), S having no direction below `SHARPEST`.

    The cloud of a filter that lost all but one particle has no spread: its error is then measured
    in units of `SHARPEST`, instead of being infinite.

    >>> normalised_squares(np.array([[0.0, 2.0]]), np.diag([1.0, 4.0])[None])
    array([1.])
    """
    values, axes = np.linalg.eigh(covariances)
    along = np.einsum("tij,ti->tj", axes, errors)
    return np.asarray((along**2 / np.maximum(values, SHARPEST**2)).sum(axis=1))
