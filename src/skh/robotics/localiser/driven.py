"""The model of a localiser: a pose that is driven by one control at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture


class Driven:
    """A motion and a sensor as a model of poses; ``control`` is that of the step to come.

    ``spread`` are standard deviations (x, y, heading) to add to the step: of points that are too
    few for their target, about the distance between them.  A share ``injection`` of the mixture
    is wide components, ``wide`` metres, metres and radians about each pose: injected particles.
    """

    def __init__(
        self, prior: Any, motion: Any, sensor: Any, injection: float, wide: tuple[float, float]
    ) -> None:
        self._prior, self.motion, self.sensor = prior, motion, sensor
        self.injection, self.wide = injection, np.diag([wide[0], wide[0], wide[1]]) ** 2
        self.control: Any = None
        self.spread = np.zeros(3)
        if not hasattr(sensor, "information"):
            self.information = None  # type: ignore[assignment] # it is learned

    def prior(self) -> Any:
        """The distribution of the first pose."""
        return self._prior

    def transition(self, t: int, states: Array) -> Any:
        """Poses after the control and their covariances, or their mixture with wide ones."""
        if self.control is None:
            means, S = states, np.zeros((len(states), 3, 3))
        else:
            means, S = self.motion.move(states, self.control)
        S = S + np.diag(self.spread**2)
        if self.injection == 0.0:
            return means, S
        weights = np.tile([1 - self.injection, self.injection], len(means)) / len(means)
        both = np.stack([S, np.broadcast_to(self.wide, S.shape)], axis=1).reshape(-1, 3, 3)
        return GaussianMixture(weights, np.repeat(means, 2, axis=0), both)

    def log_likelihood(self, t: int, states: Array, y: Any) -> Array:
        """The sensor's log-likelihoods."""
        return np.asarray(self.sensor.log_likelihood(states, y))

    def information(self, t: int, states: Array, y: Any) -> Array:
        """The sensor's information of y."""
        return np.asarray(self.sensor.information(states, y))
