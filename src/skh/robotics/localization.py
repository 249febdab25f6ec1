"""Localisation on a known map: a motion model and a sensor as a model of poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture
from skh.geometry.charted import Charted
from skh.geometry.charts import SE2, SE3, Pose
from skh.geometry.stack import rows_of


class Motion(Protocol):
    """A motion model."""

    def move(self, states: Any, control: Any) -> tuple[Any, Array]:
        """Next states, and covariances (n, d, d) of their errors in the world's axes."""
        ...


class Sensor(Protocol):
    """A sensor; ``observe(state, rng)`` besides, where simulation makes sense."""

    def log_likelihood(self, states: Any, y: Any) -> Array:
        """``log p(y | state)`` of each state, (n,)."""
        ...

    def information(self, states: Any, y: Any) -> Array:
        """Information of y about increments of each state, (n, d, d)."""
        ...


class Localization:
    """A model of poses for `skh.geometry.Charted`; see `localization_model`.

    ``controls[t]`` is the control between the observations of t and t + 1, None where the robot
    stood still.  A list may grow while the filter runs.
    """

    def __init__(self, prior: Any, motion: Motion, sensor: Sensor, controls: Sequence[Any]) -> None:
        for name, value, method in (
            ("motion", motion, "move"),
            ("sensor", sensor, "log_likelihood"),
            ("controls", controls, "__getitem__"),
        ):
            if isinstance(value, type) or not callable(getattr(value, method, None)):
                raise TypeError(f"{name} must have a method {method}, got {value!r}")
        self._prior = prior
        self.motion, self.sensor, self.controls = motion, sensor, controls
        if getattr(sensor, "information", None) is None:
            self.information = None  # type: ignore[assignment] # it is learned

    def prior(self) -> Any:
        """The distribution of the first pose."""
        return self._prior

    def transition(self, t: int, states: Any) -> tuple[Any, Array]:
        """Next poses after the control of step t, and covariances."""
        if not 0 <= t < len(self.controls):
            raise ValueError(
                f"controls must reach from t={t} to the next observation, got {len(self.controls)}"
            )
        control = self.controls[t]
        if control is None:
            d = 6 if isinstance(states, Pose) else 3
            return states, np.zeros((rows_of(states), d, d))
        return self.motion.move(states, control)

    def log_likelihood(self, t: int, states: Any, y: Any) -> Array:
        """The sensor's log-likelihoods."""
        return self.sensor.log_likelihood(states, y)

    def information(self, t: int, states: Any, y: Any) -> Array:
        """The sensor's information of y."""
        return self.sensor.information(states, y)

    def observe(self, t: int, state: Any, rng: np.random.Generator) -> Any:
        """Draw an observation."""
        return self.sensor.observe(state, rng)  # type: ignore[attr-defined] # optional


def localization_model(
    prior: Any, motion: Motion, sensor: Sensor, controls: Sequence[Any]
) -> Charted:
    """Return a model for `skh.particle_filter`: a pose, driven and observed.

    Parameters
    ----------
    prior : (state, covariance) or GaussianMixture
        A row (x, y, heading) or a `skh.geometry.Pose`, with the covariance of the increments around
        it; or, in the plane, a mixture of possible starts.
    motion : object with ``move(states, control)``
        `DifferentialDrive`, `OmniDrive`, `VelocityMotion`, `DeadReckoning`, `ImuRates`, ...
    sensor : object with ``log_likelihood(states, y)``
        `RangeBearing`, `BeamModel`, `LikelihoodFieldModel`, `StereoCamera`, ...
    controls : sequence
        ``controls[t]`` between the observations of t and t + 1; None: the robot stood still.

    Examples
    --------
    >>> import skh
    >>> from skh.robotics import DifferentialDrive, OdometryStep, RangeBearing, localization_model
    >>> model = localization_model(
    ...     prior=([0.0, 0.0, 0.0], np.diag([0.1, 0.1, 0.05]) ** 2),
    ...     motion=DifferentialDrive(0.01, 0.01, 0.01, 0.01),
    ...     sensor=RangeBearing([[5.0, 1.0], [5.0, -2.0]], range_noise=0.1, bearing_noise=0.02),
    ...     controls=[OdometryStep(0.0, 1.0, 0.0)],
    ... )
    >>> ys = [[[0, 5.1, 0.2]], [[0, 4.12, 0.25], [1, 4.47, -0.46]]]
    >>> skh.particle_filter(model, ys, n=50, rng=0).mean_states.shape
    (2, 3)
    """
    model = Localization(prior, motion, sensor, controls)
    return Charted(model, SE3() if is_in_space(prior) else SE2())


def is_in_space(prior: Any) -> bool:
    """Whether a prior is that of poses in space."""
    if isinstance(prior, GaussianMixture):
        return False
    if not isinstance(prior, tuple | list) or len(prior) != 2:
        raise TypeError(f"prior must be (state, covariance) or a GaussianMixture, got {prior!r}")
    return isinstance(prior[0], Pose)
