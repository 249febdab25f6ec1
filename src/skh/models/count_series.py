r"""Counts whose log-rate is an autoregressive process.

.. math::

    x_{t+1} = 0.95 x_t + 0.3 v_t, \qquad y_t \sim \mathrm{Poisson}(r\, e^{x_t}),
    \qquad v_t \sim \mathcal N(0, 1).

With a low rate r a count says little, and a zero is skewed information; with a high rate the
likelihood is nearly Gaussian in x.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
import scipy  # loads scipy.special on first use

from skh import _checks
from skh._typing import RNG, Array
from skh.models.autoregression import Autoregression
from skh.models.simulation import simulate


@dataclass(frozen=True)
class Counts(Autoregression):
    """Poisson counts whose log-rate is autoregressive, starting from its stationary law."""

    rate: float = 4.0  # of the counts where x = 0
    persistence: float = 0.95
    noise: float = 0.3  # standard deviation of the state's innovation

    def __post_init__(self) -> None:
        self.check_autoregression()
        _checks.positive("rate", self.rate)

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log Poisson(y | rate exp(x))``."""
        count = float(np.asarray(y, dtype=np.float64).reshape(()))
        log_rate = x[:, 0] + log(self.rate)
        with np.errstate(over="ignore"):  # the probability is zero where the rate overflows
            return np.asarray(count * log_rate - np.exp(log_rate) - _log_factorial(count))

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return rng.poisson(self.rate * np.exp(x)).astype(np.float64)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 1) and observations (T, 1)."""
        return simulate(self, T, rng)


def _log_factorial(count: float) -> float:
    return float(scipy.special.gammaln(count + 1))


def counts(rate: float = 4.0, persistence: float = 0.95, noise: float = 0.3) -> Counts:
    """Return the Poisson counts model."""
    return Counts(rate, persistence, noise)
