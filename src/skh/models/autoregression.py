"""A stationary autoregressive state in one dimension, for models to observe in their own way."""

from __future__ import annotations

from skh import _checks
from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture


class Autoregression:
    """Prior and transition of ``x_{t+1} = persistence x_t + noise v_t``, to inherit from."""

    persistence: float
    noise: float  # standard deviation of the state's innovation

    def check_autoregression(self) -> None:
        """Validate both parameters."""
        if not _checks.is_number(self.persistence) or not -1 < self.persistence < 1:
            raise ValueError(f"persistence must be a number in (-1, 1), got {self.persistence!r}")
        _checks.positive("noise", self.noise)

    def prior(self) -> GaussianMixture:
        """The stationary law of the state."""
        return GaussianMixture([1.0], [[0.0]], self.noise**2 / (1 - self.persistence**2))

    def transition(self, t: int, x: Array) -> tuple[Array, float]:
        """One Gaussian per particle."""
        return self.persistence * x, self.noise**2
