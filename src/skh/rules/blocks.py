"""Place many points of a mixture block by block, at a cost that grows like their number.

Components are taken along a Hilbert curve and cut into blocks of equal mass per point; a component
at a cut belongs to two blocks in part.  Each block is placed on its own, for its share of the
mixture.  The result is a start for joint refinement, which is what the blocks need from each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from skh._typing import Array, Indices
from skh.gaussians.mixture import GaussianMixture
from skh.rules.base import Rule, WeightedPoints

POINTS_PER_BLOCK = 100  # points that are placed together


def place_in_blocks(
    rule: Rule, p: GaussianMixture, n: int, rng: np.random.Generator
) -> WeightedPoints:
    """Return ``n`` points of ``rule``, at most `POINTS_PER_BLOCK` at a time, of unknown MMD.

    Points of all blocks are taken in turn, so that the first half of them represents all.
    """
    blocks = -(-n // POINTS_PER_BLOCK)
    ends = np.arange(blocks + 1) * n // blocks
    x, w, component, turn = [], [], [], []
    for (index, share), m in zip(cut(p, ends / n), np.diff(ends), strict=True):
        q = p.selected(index, share)
        points = rule(q, int(m), rng=rng)
        x.append(points.x)
        w.append(points.w * m / n)
        component.append(index[points.component])
        turn.append((np.arange(len(points)) + 0.5) / len(points))
    order = np.argsort(np.concatenate(turn), kind="stable")
    joined = [np.concatenate(parts)[order] for parts in (x, w, component)]
    return WeightedPoints(joined[0], joined[1], joined[2])


def cut(p: GaussianMixture, levels: Array) -> Iterator[tuple[Indices, Array]]:
    """Yield the components between consecutive levels of mass, with their mass there.

    >>> p = GaussianMixture([0.5, 0.25, 0.25], [[0.0], [2.0], [1.0]], 1.0)
    >>> [(index.tolist(), mass.tolist()) for index, mass in cut(p, np.array([0.0, 0.6, 1.0]))]
    [([0, 2], [0.5, 0.1]), ([2, 1], [0.15, 0.25])]
    """
    order = p.curve
    end = np.cumsum(p.weights[order])
    end /= end[-1]
    start = np.append(0.0, end[:-1])
    for low, high in pairwise(levels):
        mass = np.minimum(end, high) - np.maximum(start, low)
        inside = np.flatnonzero(mass > 0.0)
        yield order[inside], mass[inside].round(15)
