"""Poses in boxes of place and heading: how large a belief is, and which boxes touch."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from skh import _checks
from skh._typing import Array, Indices

SIDE, ANGLE = 0.5, pi / 12  # metres and radians, as in Fox (2003)


@dataclass(frozen=True)
class Bins:
    """Boxes of ``side`` metres and about ``angle`` radians: a whole number of them is a turn."""

    side: float = SIDE
    angle: float = ANGLE

    def __post_init__(self) -> None:
        _checks.positive("side", self.side)
        _checks.positive("angle", self.angle)

    @property
    def headings(self) -> int:
        """Number of boxes in a turn."""
        return max(round(2 * pi / self.angle), 1)

    @property
    def widths(self) -> Array:
        """Sides of a box: metres, metres, radians."""
        return np.array([self.side, self.side, 2 * pi / self.headings])

    def boxes(self, poses: Array) -> Indices:
        """Indices (n, 3) of the boxes of poses (n, 3); headings wrap."""
        boxes = np.floor(poses / self.widths).astype(np.int64)
        boxes[:, 2] %= self.headings
        return boxes

    def masses(self, poses: Array, w: Array) -> Array:
        """Weights of the boxes that are not empty."""
        _, box = np.unique(self.boxes(poses), axis=0, return_inverse=True)
        return np.bincount(box.ravel(), w).astype(np.float64)

    def perplexity(self, poses: Array, w: Array) -> float:
        """Number of boxes that matter, the exponential of the entropy of their weights.

        >>> poses = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [9.1, 0.1, 0.1]])
        >>> Bins().perplexity(poses, np.array([0.5, 0.25, 0.25]))
        2.0
        """
        mass = self.masses(poses, w)
        mass = mass[mass > 0] / mass.sum()
        return float(np.exp(-(mass @ np.log(mass))))
