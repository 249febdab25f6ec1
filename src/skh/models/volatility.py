r"""Stochastic volatility: returns whose log-variance is an autoregressive process.

.. math::

    x_{t+1} = 0.98 x_t + 0.15 v_t, \qquad y_t = 0.6 \, e^{x_t / 2} e_t,
    \qquad v_t, e_t \sim \mathcal N(0, 1).

One return carries little information about the state: the likelihood is wide and skewed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.observations import measured_vector
from skh.models.autoregression import Autoregression
from skh.models.simulation import simulate


@dataclass(frozen=True)
class StochasticVolatility(Autoregression):
    """Returns y whose log-variance x is autoregressive, starting from its stationary law."""

    persistence: float = 0.98
    noise: float = 0.15  # standard deviation of the state's innovation
    scale: float = 0.6  # standard deviation of y where x = 0

    def __post_init__(self) -> None:
        self.check_autoregression()
        _checks.positive("scale", self.scale)

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log N(y | 0, scale^2 exp(x))``."""
        log_variance = x[:, 0] + 2 * log(self.scale)
        with np.errstate(over="ignore"):  # the density is zero where the square overflows
            squared: Array = np.square(measured_vector(y, 1)) * np.exp(-log_variance)
        return -0.5 * (squared + log_variance + log(2 * pi))

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return self.scale * np.exp(x / 2) * rng.standard_normal(1)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 1) and observations (T, 1)."""
        return simulate(self, T, rng)


def stochastic_volatility(
    persistence: float = 0.98, noise: float = 0.15, scale: float = 0.6
) -> StochasticVolatility:
    """Return the stochastic volatility model."""
    return StochasticVolatility(persistence, noise, scale)
