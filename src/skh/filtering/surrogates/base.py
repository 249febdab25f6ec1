"""What a surrogate of a likelihood must offer."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from skh._typing import Array
from skh.filtering.surrogates.parabola import Whitening
from skh.filtering.surrogates.target import Target
from skh.gaussians.mixture import GaussianMixture


class Surrogate(Protocol):
    """A function fitted to log-likelihoods at points, relative to the best of them."""

    @property
    def floor(self) -> bool:
        """Whether the likelihood has more than one peak, or a floor, as far as seen."""

    @property
    def left_out(self) -> Array | None:
        """The fit at each point without its value; None if it was only guessed."""

    def __call__(self, z: Array) -> Array:
        """Values at the rows of z, in whitened coordinates."""

    def target(
        self, p: GaussianMixture, frame: Whitening, m: int, sure: bool, rng: np.random.Generator
    ) -> Target:
        """What a look of ``m`` points is placed for; more boldly if not ``sure``."""
