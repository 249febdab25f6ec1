r"""Motion in space: poses after velocities and turn rates in the body's axes.

.. math::

    p' = p + R (v + e_v)\, dt, \qquad R' = R\, \mathrm{Exp}((\omega + e_\omega)\, dt) .

Positions move along the world's axes and rotations turn in the body's frame, as the increments of
`skh.geometry.SE3` do; so the covariance of the position's error is rotated with each pose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.geometry import rotation
from skh.geometry.charts import Pose
from skh.robotics.controls import BodyRates, PoseStep


@dataclass(frozen=True, eq=False)
class ImuRates:
    """Measured velocities and turn rates with independent errors.

    ``velocity_variance`` and ``turn_rate_variance`` are numbers or one per axis of the body.

    >>> motion = ImuRates(0.01, 0.001)
    >>> level = Pose(np.zeros((1, 3)), np.eye(3)[None])
    >>> poses, S = motion.move(level, BodyRates(0.1, [1.0, 0.0, 0.0], [0.0, 0.0, 0.5]))
    >>> poses.position, S[0].diagonal().round(6)
    (array([[0.1, 0. , 0. ]]), array([1.e-04, 1.e-04, 1.e-04, 1.e-05, 1.e-05, 1.e-05]))
    """

    velocity_variance: Array | float
    turn_rate_variance: Array | float

    def __post_init__(self) -> None:
        for name in ("velocity_variance", "turn_rate_variance"):
            value = np.broadcast_to(_checks.real_array(name, getattr(self, name)), 3).copy()
            for v in value:
                _checks.non_negative(name, v)
            object.__setattr__(self, name, value)

    def move(self, states: Pose, control: BodyRates) -> tuple[Pose, Array]:
        """Next poses and covariances (n, 6, 6) after the rates were kept for their time."""
        if not isinstance(control, BodyRates):
            raise TypeError(f"control must be BodyRates(dt, velocity, turn_rate), got {control!r}")
        turn, dt = control.dt * control.turn_rate, control.dt
        J = rotation.right_jacobian(turn)
        S = np.zeros((6, 6))
        S[:3, :3] = np.diag(dt**2 * np.asarray(self.velocity_variance))
        S[3:, 3:] = dt**2 * (J * self.turn_rate_variance) @ J.T
        return moved(states, dt * control.velocity, rotation.exp(turn), S)


@dataclass(frozen=True)
class PoseReckoning:
    """Steps in space that know their own covariance, such as pre-integrated rates."""

    scale: float = 1.0  # of the covariances

    def __post_init__(self) -> None:
        _checks.non_negative("scale", self.scale)

    def move(self, states: Pose, control: PoseStep) -> tuple[Pose, Array]:
        """Next poses and covariances after a step with its covariance."""
        if not isinstance(control, PoseStep):
            raise TypeError(f"control must be a PoseStep, got {control!r}")
        S = self.scale * control.covariance
        return moved(states, control.position, control.rotation, S)


def moved(states: Pose, step: Array, turn: Array, S: Array) -> tuple[Pose, Array]:
    """Poses after a displacement, then a rotation, in their axes; covariances in the world's."""
    p, R = states
    C = np.broadcast_to(S, (len(p), 6, 6)).copy()
    C[:, :3, :3] = R @ S[:3, :3] @ R.swapaxes(1, 2)
    C[:, :3, 3:] = R @ S[:3, 3:]
    C[:, 3:, :3] = C[:, :3, 3:].swapaxes(1, 2)
    return Pose(p + R @ step, R @ turn), C
