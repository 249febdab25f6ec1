"""Pre-integration: many fast controls between two sightings as one step with its covariance.

A filter then has as many steps as there are sightings, and not as many as the wheels have ticks.
The errors of the controls are independent; those of the heading turn all later displacements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skh._typing import Array
from skh.gaussians.linear_algebra import symmetric
from skh.geometry.charts import Pose
from skh.geometry.rotation import hat
from skh.robotics.controls import BodyStep, PoseStep
from skh.robotics.motion.planar import transport


def preintegrate(motion: Any, controls: Iterable[Any]) -> BodyStep:
    """Put controls of a motion in the plane together: one step for `DeadReckoning`.

    >>> from skh.robotics import OmniDrive
    >>> step = preintegrate(OmniDrive(), [BodyStep(0.1, 0.0, 0.0)] * 10)
    >>> round(step.x, 6), step.covariance.diagonal().round(3)
    (1.0, array([0.02 , 0.026, 0.02 ]))
    """
    pose, P, dt = np.zeros(3), np.zeros((3, 3)), 0.0
    for control in controls:
        (after,), (S,) = motion.move(pose[None], control)
        F = transport(pose, after)
        pose, P, dt = after, symmetric(F @ P @ F.T + S), dt + getattr(control, "dt", 0.0)
    x, y, turn = pose.tolist()
    return BodyStep(x, y, turn, dt, P)


def preintegrate_rates(motion: Any, controls: Iterable[Any]) -> PoseStep:
    """Put controls of a motion in space together: one step for `PoseReckoning`."""
    pose, P = Pose(np.zeros((1, 3)), np.eye(3)[None]), np.zeros((6, 6))
    for control in controls:
        after, S = motion.move(pose, control)
        F = _transport(pose, after)
        pose, P = after, symmetric(F @ P @ F.T + S[0])
    return PoseStep(pose.position[0], pose.rotation[0], P)


def _transport(before: Pose, after: Pose) -> Array:
    """Derivative (6, 6) of the increments after a step by those before it."""
    R, turned = before.rotation[0], before.rotation[0].T @ after.rotation[0]
    step = R.T @ (after.position[0] - before.position[0])
    F = np.eye(6)
    F[:3, 3:] = -R @ hat(step)
    F[3:, 3:] = turned.T
    return F
