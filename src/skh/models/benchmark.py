r"""The nonlinear benchmark of Gordon, Salmond and Smith (1993), as in the paper's section 4.2.

.. math::

    x_{t+1} = 0.5 x_t + 25 \frac{x_t}{1 + x_t^2} + 8 \cos(1.2 t) + v_t, \qquad
    y_t = 0.05 x_t^2 + e_t, \qquad v_t, e_t \sim \mathcal N(0, 1).

The observation does not determine the sign of the state, so the filter often has two modes.  The
paper counts time from 1, this library from 0.  It does not give the law of the first state, which
is N(0, 5) here as is usual for this model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi

import numpy as np

from skh._typing import RNG, Array
from skh.filtering.observations import measured_vector
from skh.gaussians.mixture import GaussianMixture
from skh.models.simulation import simulate


@dataclass(frozen=True)
class NonlinearBenchmark:
    """x_{t+1} = x_t / 2 + 25 x_t / (1 + x_t^2) + 8 cos(1.2 t) + v_t, and y_t = x_t^2 / 20 + e_t."""

    def prior(self) -> GaussianMixture:
        """N(0, 5)."""
        return GaussianMixture([1.0], [[0.0]], 5.0)

    def transition(self, t: int, x: Array) -> tuple[Array, float]:
        """One Gaussian of variance 1 per particle."""
        means = x * x
        means += 1
        np.divide(25, means, out=means)
        means += 0.5
        means *= x  # x / 2 + 25 x / (1 + x^2), without a copy per operation
        means += 8 * np.cos(1.2 * (t + 1))
        return means, 1.0

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log N(y | 0.05 x^2, 1)``."""
        residual: Array = x[:, 0] * x[:, 0]
        residual *= -0.05
        residual += measured_vector(y, 1)
        with np.errstate(over="ignore"):  # the density is zero where the square overflows
            residual *= residual
        residual *= -0.5
        residual -= 0.5 * log(2 * pi)
        return residual

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return 0.05 * x**2 + rng.standard_normal(1)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 1) and observations (T, 1)."""
        return simulate(self, T, rng)


def nonlinear_benchmark() -> NonlinearBenchmark:
    """Return the nonlinear benchmark model."""
    return NonlinearBenchmark()
