"""Simulation of states and observations from a model."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.model_protocols import Model, predictive
from skh.gaussians.mixture import GaussianMixture


class Observable(Model, Protocol):
    """A model that can also draw observations."""

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t given one state ``x`` of shape (d,)."""
        ...


def simulate(model: Observable, T: int, rng: RNG) -> tuple[Array, Array]:
    """Draw states (T, d) and observations (T, m) from a model without carried records."""
    T = _checks.positive_int("T", T)
    rng = _checks.generator(rng)
    states, ys = [], []
    mixture: GaussianMixture = model.prior()
    for t in range(T):
        x, _ = mixture.sample(1, rng=rng)
        states.append(x[0])
        ys.append(model.observe(t, x[0], rng))
        mixture = predictive(model.transition(t, x), np.ones(1))
    return np.array(states), np.array(ys)
