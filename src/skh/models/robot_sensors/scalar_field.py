r"""A map of a scalar field, magnetic or terrain height: a position in the plane, one number of it.

The field is a smooth random one, a sum of a few waves:

.. math:: m(x) = \sqrt{2 / K} \sum_{k=1}^K \cos(\omega_k^\top x + \varphi_k), \qquad
          y_t = m(x_t) + e_t .

One number confines the position to a contour line of the map, a thin and curved set; the track
makes it unique over time.  The position circles the origin as in `Localisation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture
from skh.models.beacon_localisation import TRANSITION
from skh.models.robot_sensors.noise import log_normal_density
from skh.models.simulation import simulate


@dataclass(frozen=True)
class FieldMap:
    """A position that circles the origin, observed by the value of a known field."""

    noise: float = 0.05  # standard deviation of a measurement; that of the field is 1
    length: float = 1.0  # correlation length of the field, metres
    step_noise: float = 0.2  # standard deviation of a step in each direction, metres
    waves: int = 24
    seed: int = 0  # of the map

    def __post_init__(self) -> None:
        for name in ("noise", "length", "step_noise"):
            _checks.positive(name, getattr(self, name))
        _checks.positive_int("waves", self.waves)
        _checks.generator(self.seed, "seed")

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Wave vectors (2, waves) and phases (waves,)."""
        rng = np.random.default_rng(self.seed)
        vectors = rng.standard_normal((2, self.waves)) / self.length
        return vectors, rng.uniform(0, 2 * np.pi, self.waves)

    def field(self, x: Array) -> Array:
        """Value of the map at positions (..., 2)."""
        vectors, phases = self.spectrum
        return np.asarray(np.cos(x @ vectors + phases).sum(axis=-1) * (2 / self.waves) ** 0.5)

    def prior(self) -> GaussianMixture:
        """N((2, 0), 0.25 I)."""
        return GaussianMixture([1.0], [[2.0, 0.0]], 0.25)

    def transition(self, t: int, x: Array) -> tuple[Array, float]:
        """One Gaussian per particle."""
        return x @ TRANSITION.T, self.step_noise**2

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log N(y | field(x), noise^2)``."""
        return log_normal_density(y - self.field(x), self.noise)

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return self.field(x) + self.noise * rng.standard_normal(1)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 2) and observations (T, 1)."""
        return simulate(self, T, rng)


def field_map() -> FieldMap:
    """Return the model with a map of a magnetic field."""
    return FieldMap()
