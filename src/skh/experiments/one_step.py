"""How well a rule does one step of a filter: error of the filtered mean from the same mixture.

Over many steps the errors of a filter mix with those of its past.  Here every rule gets the same
predictive mixture at some moments of one filter's life, and its filtered mean is compared with that
of very many random points of the mixture: what is left is the quadrature alone.  A rule that learns
from likelihoods is at a disadvantage: it is told those of the moments before, and no others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.carried_records import move_records
from skh.filtering.likelihood_information import LearnedInformation
from skh.filtering.model_protocols import CarryingModel
from skh.filtering.particle_filter import ParticleFilter
from skh.gaussians.predictive import Predictive
from skh.rules.base import Rule, WeightedPoints
from skh.rules.sampling import Stratified


def one_step_errors(
    model: CarryingModel,
    ys: Sequence[Any],
    rules: Mapping[str, Rule],
    n: int,
    moments: Collection[int],
    many: int,
    seed: int,
) -> dict[str, float]:
    """Root mean square error of each rule, in standard deviations of the filtered distribution."""
    pf, known = ParticleFilter(model, Stratified(), n, rng=seed), None
    squares: dict[str, list[Array]] = {name: [] for name in rules}
    for t, y in enumerate(ys[: max(moments) + 1]):
        if t in moments and pf.belief is not None:
            belief = pf.belief
            known = _learned(known, belief.information)
            p = pf.predict().with_information(None if known is None else known.matrix)
            exact, sd = filtered(model, belief, y, p, Stratified()(p, many, rng=seed + t))
            for name, rule in rules.items():
                mean, _ = filtered(model, belief, y, p, rule(p, n, rng=seed + t))
                squares[name].append(((mean - exact) / sd) ** 2)
        pf.step(y)
    return {name: float(np.sqrt(np.mean(found))) for name, found in squares.items()}


def _learned(
    known: LearnedInformation | None, last: LearnedInformation | None
) -> LearnedInformation | None:
    """Pool the last step with the moments so far: the filter's own rule learns nothing."""
    if known is None or last is None:
        return last
    return known.then(last.x, last.w, last.log_likelihood, known.matrix)


def filtered(
    model: CarryingModel, belief: Belief, y: Any, p: Predictive, points: WeightedPoints
) -> tuple[Array, Array]:
    """Steps 3 and 4 of Algorithm 2 with given points: mean and standard deviations."""
    carry = move_records(model, belief.t, belief, points, p)
    log_l, _ = model.log_likelihood(belief.t + 1, points.x, y, carry)
    w = points.w * np.exp(log_l - log_l.max())
    w /= w.sum()
    mean = w @ points.x
    return mean, np.sqrt(w @ (points.x - mean) ** 2)
