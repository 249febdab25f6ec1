"""The error of a rule in a single step of a filter.

Over many steps, the errors of a filter accumulate.  Here every rule gets the same predictive
mixture at some steps of one filter, and its filtered mean is compared with that of very many
random points, so that only the error of the quadrature remains.  A rule that learns from
likelihoods is at a disadvantage: it only gets what that one filter has learned.
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
            known = pooled(known, belief.information)
            p = pf.predict().with_information(None if known is None else known.matrix)
            exact, sd = filtered(model, belief, y, p, Stratified()(p, many, rng=seed + t))
            for name, rule in rules.items():
                mean, _ = filtered(model, belief, y, p, rule(p, n, rng=seed + t))
                squares[name].append(((mean - exact) / sd) ** 2)
        pf.step(y)
    return {name: float(np.sqrt(np.mean(found))) for name, found in squares.items()}


def pooled(
    known: LearnedInformation | None, last: LearnedInformation | None
) -> LearnedInformation | None:
    """Pool the last step with the moments so far: the filter's own rule learns nothing."""
    if known is None or last is None:
        return last
    return known.then(last.x, last.w, last.log_likelihood, known.matrix)


def filtered(
    model: CarryingModel, belief: Belief, y: Any, p: Predictive, points: WeightedPoints
) -> tuple[Array, Array]:
    """Mean and standard deviations after steps 3 and 4 of Algorithm 2 with the given points."""
    carry = move_records(model, belief.t, belief, points, p)
    log_l, _ = model.log_likelihood(belief.t + 1, points.x, y, carry)
    w = points.w * np.exp(log_l - log_l.max())
    w /= w.sum()
    mean = w @ points.x
    return mean, np.sqrt(w @ (points.x - mean) ** 2)
