"""Forecasts of observations, and what consoles and notebooks show of a filter."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.carried_records import move_records
from skh.filtering.clock import Time, as_time
from skh.rules.base import Rule, checked_points
from skh.rules.sampling import Stratified
from skh.views.html import filter_html, filter_text
from skh.views.text import described, numbers

SEED_WORDS = 4  # of 64 bits, for random numbers that do not follow those of the filter


@dataclass(frozen=True, eq=False, repr=False)
class ObservationForecast:
    """Draws ``y`` (draws, ...) of the observation of time ``t``, with equal weights.

    >>> import skh
    >>> pf = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 100, rng=0)
    >>> forecast = pf.predict_observation(2, draws=50)
    >>> forecast.t, forecast.y.shape, forecast.quantile([0.1, 0.9]).shape
    (1, (50, 1), (2, 1))
    """

    t: int
    y: Array

    @cached_property
    def mean(self) -> Array:
        """Mean of each entry of the observation."""
        return np.asarray(self.y.mean(axis=0))

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the entries, (m, m)."""
        flat = self.y.reshape(len(self.y), -1)
        return np.atleast_2d(np.cov(flat, rowvar=False, bias=True))

    def quantile(self, q: ArrayLike) -> Array:
        """Quantiles of each entry, ``(..., m)``."""
        levels = _checks.levels("q", q)
        return np.asarray(np.quantile(self.y, levels, axis=0))

    def __repr__(self) -> str:
        return (
            f"ObservationForecast(t={self.t}, {len(self.y)} draws, "
            f"mean={numbers(self.mean.ravel())})"
        )


class StatesAhead(NamedTuple):
    """States of time ``t``, one per row, that represent a prediction, with equal weights."""

    t: int
    states: Any

    def __len__(self) -> int:
        return len(self.states[0] if isinstance(self.states, tuple) else self.states)


class Forecasts:
    """The part of a `ParticleFilter` that forecasts observations."""

    def predict_observation(
        self: Any, h: int = 1, *, draws: int = 1000, rng: RNG = None, t: Any = None
    ) -> ObservationForecast:
        """Draw from the distribution of the observation ``h`` steps after the last one.

        Needs a model with ``observe(t, x, rng)``, which draws y_t given one state, as those of
        `skh.models` have.  Does not change the filter or its random state, from which the draws
        follow unless ``rng`` is given.  For models that take dt, ``t`` is the time of the last of h
        equal steps, as in `predict`.
        """
        observe = model_function(self._model, "observe")
        if observe is None:
            raise TypeError(
                "predict_observation needs a model with observe(t, x, rng), which draws y_t given "
                f"one state, got {described(inner_model(self._model))}"
            )
        rng = random_numbers(self, rng)
        ahead = states_ahead(self, h, draws, Stratified(), rng, as_time(t))
        rows = [observe(ahead.t, row_of(ahead.states, i), rng) for i in range(draws)]
        return ObservationForecast(ahead.t, stacked_draws(rows, ahead.t))

    def __repr__(self: Any) -> str:
        model, rule = inner_model(self._model), shown_rule(self._plan)
        return filter_text(type(self).__name__, model, rule, self.n, self.t)

    def _repr_html_(self: Any) -> str:
        model, rule = inner_model(self._model), shown_rule(self._plan)
        return filter_html(type(self).__name__, model, rule, self.n, self.belief)


def shown_rule(plan: Any) -> Any:
    """Return the rule of a plan that has one look, else the plan."""
    return plan.rule if type(plan).__name__ == "OneLook" else plan


def inner_model(model: Any) -> Any:
    """Return the model that a user gave, without the adapter of the filter."""
    return getattr(model, "model", model) if type(model).__name__ == "WithoutCarry" else model


def model_function(model: Any, name: str) -> Any:
    """Return a function of the model or, in charts and adapters, of the model within; or None."""
    while model is not None:
        if callable(getattr(model, name, None)):
            return getattr(model, name)
        model = getattr(model, "model", None)
    return None


def random_numbers(pf: Any, rng: RNG) -> np.random.Generator:
    """Return a generator from ``rng``; from the filter's random state, left as it is, for None.

    Its numbers differ from those that the filter will draw next.
    """
    if rng is not None:
        return _checks.generator(rng)
    return np.random.default_rng(copied_generator(pf).integers(2**63, size=SEED_WORDS))


def copied_generator(pf: Any) -> np.random.Generator:
    """Return a copy of the filter's random numbers, as they were before a step under way."""
    copy: np.random.Generator = deepcopy(pf._rng)
    if pf._dialogue.question is not None:
        copy.bit_generator.state = pf._dialogue.random_state
    return copy


def states_ahead(
    pf: Any, h: int, draws: int, rule: Rule, rng: np.random.Generator, time: Time | None = None
) -> StatesAhead:
    """Return states that represent the prediction of ``h`` steps, by a rule with equal weights."""
    h, draws = _checks.positive_int("h", h), _checks.positive_int("draws", draws)
    model, t = pf._models.ahead(pf.belief, time, h), pf.t + h - 1  # of one of the steps
    states_of = getattr(model, "states_of", None)
    before = pf if states_of is None else continued(pf, model, h - 1)
    p = pf.predict(h, t=time) if states_of is None else before.predict()
    points = checked_points(rule(p, draws, rng=rng), p).sealed()
    if states_of is None:
        return StatesAhead(t, points.x)
    old = before.belief
    if old is None:
        return StatesAhead(t, states_of(model.initial_carry(points.x)))
    return StatesAhead(t, states_of(move_records(model, t - 1, old, points, p)))


def continued(pf: Any, model: Any, steps: int) -> Any:
    """Return a filter that went on for some steps without an observation, as `predict` does.

    ``model`` is that of one of these steps: it does not need to know the time.
    """
    from skh.filtering.particle_filter import ParticleFilter  # of which this is a part

    first = pf.t if pf.belief is None else None
    last = None if pf.belief is None else replace(pf.belief, time=None)
    ahead = ParticleFilter(model, pf._plan, pf.n, rng=copied_generator(pf), t=first, belief=last)
    for _ in range(steps):
        ahead.step(None)
    return ahead


def row_of(states: Any, i: int) -> Any:
    """Return one of the states in the rows of an array or of a tuple of arrays."""
    if not isinstance(states, tuple):
        return states[i]
    parts = [row_of(part, i) for part in states]
    return type(states)(*parts) if hasattr(states, "_fields") else tuple(parts)


def stacked_draws(rows: list[Any], t: int) -> Array:
    """Validate draws of an observation: arrays of numbers of one shape."""
    try:
        y = _checks.floats("y", np.stack([np.asarray(row) for row in rows]))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"model.observe at t={t} must return numbers, in arrays of one shape, got {rows[0]!r}"
        ) from error
    return y if y.ndim > 1 else y[:, None]
