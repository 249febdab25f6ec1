r"""Place points of a mixture part by part, where its parts are far apart (`gaussians.separation`).

Each part gets points in proportion to its mass, with random rounding, and its exact mass as their
total weight.  A part that deserves less than `MIN_SHARE` of a point gets one of weight 1/n with
probability n times its mass, else none, and the MMD then leaves it out.  Fewer than `MIN_PLACED`
points are drawn at random: placed, they would represent the mean of the part but not its spread.

The MMD of the whole is that of the kernel which is zero between parts and equal to each part's own
kernel inside: :math:`\mathrm{MMD}^2 = \sum_g a_g^2\, \mathrm{MMD}_g^2` for parts of mass a_g.
"""

from __future__ import annotations

from math import hypot

import numpy as np

from skh._typing import Array, Indices
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.separation import split
from skh.rules.base import Rule, WeightedPoints, checked_points
from skh.rules.sampling import Stratified

MIN_SHARE = 0.1  # of a point, for a part that is always represented
MIN_PLACED = 3


def place_in_parts(
    rule: Rule,
    p: GaussianMixture,
    n: int,
    rng: np.random.Generator,
    resolution: Array,
    least: float = 0.0,
) -> WeightedPoints | None:
    """Return ``n`` points of ``rule`` for the two parts of ``p``, or None if it has no parts.

    A rule that calls this at its start splits parts again where necessary.  For ``resolution`` and
    ``least`` see `gaussians.separation`.
    """
    if (parts := split(p, n, resolution, least)) is None:
        return None
    part, rest = parts
    mass, other = (float(p.weights[index].sum()) for index in parts)
    share = n * other / (mass + other)
    n_rest = min(max(int(share + rng.random()), int(share >= MIN_SHARE)), n - 1)
    first = _points_of(rule, p, part, n - n_rest, rng)
    if n_rest == 0:
        return first
    weight = max(share, 1.0 if share < MIN_SHARE else 0.0) / n
    return join(first, _points_of(rule, p, rest, n_rest, rng), weight)


def _points_of(
    rule: Rule, p: GaussianMixture, index: Indices, n: int, rng: np.random.Generator
) -> WeightedPoints:
    q = p.selected(index)
    place = rule if n >= MIN_PLACED else Stratified()
    points = checked_points(place(q, n, rng=rng), q)
    return WeightedPoints(points.x, points.w, index[points.component], points.mmd)


def join(a: WeightedPoints, b: WeightedPoints, share: float) -> WeightedPoints:
    """Return the points of both in turn, those of ``b`` with a total weight of ``share``.

    In turn, so that the first half of the points represents both.
    """
    turns = [(np.arange(len(points)) + 0.5) / len(points) for points in (a, b)]
    order = np.argsort(np.concatenate(turns), kind="stable")
    return WeightedPoints(
        np.concatenate([a.x, b.x])[order],
        np.concatenate([(1.0 - share) * a.w, share * b.w])[order],
        np.concatenate([a.component, b.component])[order],
        hypot((1.0 - share) * a.mmd, share * b.mmd),
    )
