"""A plan for a smoothed mixture: its looks are at points of displaced components.

Smoothing comes first, so that a plan that multiplies the mixture by a surrogate of the likelihood
(`second_look`) multiplies the smoothed one, q.  Its points are those of q; relative to the
components of p, and so to the ancestors, they are displaced (`rules.smoothing`).
"""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any, cast

import numpy as np

from skh.filtering.plans import Looks, Plan
from skh.gaussians.predictive import Predictive
from skh.rules.base import Rule
from skh.rules.smoothing import Smoothing, SmoothingRule


def smoothed_looks(
    plan: Plan, smoothing: Smoothing | None, p: Predictive, n: int, rng: np.random.Generator
) -> Looks:
    """The looks of ``plan`` at ``p``, or at the smoothed mixture with displaced components."""
    if smoothing is None:
        return (yield from plan.plan(p, n, rng=rng))
    looks = plan.plan(cast(Predictive, smoothing.q), n, rng=rng)
    answer: Any = None  # starts it
    while True:
        try:
            given = looks.send(answer)
        except StopIteration as end:
            points = replace(end.value.points, mmd=nan)
            return end.value._replace(points=points)  # type: ignore[no-any-return]
        answer = yield smoothing.displaced(given)


def unsmoothed(rule: Rule) -> Rule:
    """Return the rule inside one that smooths, any other as it is."""
    return rule.rule if isinstance(rule, SmoothingRule) else rule
