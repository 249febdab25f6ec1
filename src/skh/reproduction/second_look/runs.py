"""One run of a filter, with its time without the likelihood, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.particle_filter import ParticleFilter
from skh.filtering.plans import Plan
from skh.rules.base import Rule


class Timed:
    """A model that notes the seconds of its likelihood."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        """Everything else is the model's."""
        return getattr(self._model, name)

    def log_likelihood(self, *args: Any) -> Any:
        """The model's, timed."""
        begin = perf_counter()
        try:
            return self._model.log_likelihood(*args)
        finally:
            self.seconds += perf_counter() - begin


@dataclass
class Run:
    """A filter that is stepped through its data."""

    model: Any
    rule: Rule | Plan
    n: int
    seed: int
    means: list[Array] = field(default_factory=list)
    log_evidence: float = 0.0
    ess: list[float] = field(default_factory=list)
    evaluations: int = 0
    guided: list[bool] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    own_seconds: list[float] = field(default_factory=list)  # without the likelihood

    def __post_init__(self) -> None:
        self._timed = Timed(self.model)
        self._filter = ParticleFilter(self._timed, self.rule, self.n, rng=self.seed)

    def step(self, y: Array) -> None:
        """Filter one observation."""
        before, begin = self._timed.seconds, perf_counter()
        belief = self._filter.step(y)
        seconds = perf_counter() - begin
        self.seconds.append(seconds)
        self.own_seconds.append(seconds - (self._timed.seconds - before))
        self._note(belief)

    def _note(self, belief: Belief) -> None:
        mean = getattr(self.model, "mean_state", lambda belief: belief.mean)
        self.means.append(np.asarray(mean(belief)))
        self.log_evidence += belief.log_evidence_increment
        self.ess.append(belief.ess)
        self.evaluations += belief.n_likelihood_evaluations
        self.guided.append(len(belief.looks) > 1)

    def through(self, ys: Array) -> Run:
        """Filter all observations."""
        for y in ys:
            self.step(y)
        return self
