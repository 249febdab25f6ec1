r"""Motion in the plane: poses (x, y, heading) after a control, and the covariance of the errors.

The models are those of Thrun, Burgard and Fox, *Probabilistic Robotics* (2005), sections 5.3 and
5.4, with the alpha parameters of the ROS node AMCL: variances of the errors are

===================  ===========================================================================
`DifferentialDrive`  turns :math:`\alpha_1 \mathrm{turn}^2 + \alpha_2 \mathrm{way}^2`, way
                     :math:`\alpha_3 \mathrm{way}^2 + \alpha_4 (\mathrm{turn}_1^2 +
                     \mathrm{turn}_2^2)`
`OmniDrive`          along :math:`\alpha_3 \mathrm{way}^2 + \alpha_1 \mathrm{turn}^2`, across
                     :math:`\alpha_5 \mathrm{way}^2 + \alpha_1 \mathrm{turn}^2`, turn
                     :math:`\alpha_4 \mathrm{turn}^2 + \alpha_2 \mathrm{way}^2`
`VelocityMotion`     speed :math:`\alpha_1 v^2 + \alpha_2 \omega^2`, turn rate
                     :math:`\alpha_3 v^2 + \alpha_4 \omega^2`, final turn rate
                     :math:`\alpha_5 v^2 + \alpha_6 \omega^2`
===================  ===========================================================================

``move(states, control)`` returns the next states (n, 3) and covariances (n, 3, 3) in the world's
axes, as `skh.geometry.Charted` wants them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import cos, exp, expm1, pi, sin

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.gaussians.linear_algebra import symmetric
from skh.robotics.controls import BodyStep, OdometryStep, VelocitySteps

SMALL_TURN = 1e-4  # radians; below, series replace quotients
Step = OdometryStep | BodyStep


@dataclass(frozen=True)
class DifferentialDrive:
    """Odometry of two driven wheels: turn, drive, turn again.

    Mean and covariance are the exact ones of AMCL's samples, not those of a linearisation.

    >>> drive = DifferentialDrive(alpha1=0.2, alpha2=0.2, alpha3=0.2, alpha4=0.2)
    >>> states, covariances = drive.move(np.zeros((1, 3)), OdometryStep(0.0, 1.0, 0.0))
    >>> covariances[0].round(3)
    array([[0.183, 0.   , 0.   ],
           [0.   , 0.198, 0.181],
           [0.   , 0.181, 0.4  ]])
    """

    alpha1: float = 0.2  # turns, by turns
    alpha2: float = 0.2  # turns, by the way
    alpha3: float = 0.2  # way, by the way
    alpha4: float = 0.2  # way, by turns

    def __post_init__(self) -> None:
        _check_alphas(self)

    def move(self, states: Array, control: Step) -> tuple[Array, Array]:
        """Next states and covariances after a step of the odometry."""
        step = _step(control).as_odometry()
        first, second = _least_turn(step.turn1) ** 2, _least_turn(step.turn2) ** 2
        way2 = step.way**2
        turn1 = self.alpha1 * first + self.alpha2 * way2
        turn2 = self.alpha1 * second + self.alpha2 * way2
        way = self.alpha3 * way2 + self.alpha4 * (first + second)
        direction = _poses(states)[:, 2] + step.turn1
        # Moments of (w + e) (cos, sin) of a Gaussian angle; differences in forms without cancelling
        S = np.zeros((3, 3))
        S[0, 0] = way * (1 + exp(-2 * turn1)) / 2 + way2 * expm1(-turn1) ** 2 / 2
        S[1, 1] = -(way2 + way) * expm1(-2 * turn1) / 2
        S[1, 2] = S[2, 1] = step.way * turn1 * exp(-turn1 / 2)
        S[2, 2] = turn1 + turn2
        along = step.way * exp(-turn1 / 2)
        return _moved(states, direction, (along, 0.0, step.turn1 + step.turn2), S)


@dataclass(frozen=True)
class OmniDrive:
    """Odometry of wheels that drive in any direction.

    >>> states, _ = OmniDrive().move(np.zeros((1, 3)), BodyStep(0.0, 1.0, 0.5))
    >>> states.round(6)
    array([[0. , 1. , 0.5]])
    """

    alpha1: float = 0.2  # displacement, by the turn
    alpha2: float = 0.2  # turn, by the way
    alpha3: float = 0.2  # along the way, by the way
    alpha4: float = 0.2  # turn, by the turn
    alpha5: float = 0.2  # across the way, by the way

    def __post_init__(self) -> None:
        _check_alphas(self)

    def move(self, states: Array, control: Step) -> tuple[Array, Array]:
        """Next states and covariances after a step of the odometry."""
        step = _step(control).as_body()
        way2, turn2 = step.x**2 + step.y**2, step.turn**2
        along, across = (a * way2 + self.alpha1 * turn2 for a in (self.alpha3, self.alpha5))
        S = np.diag([along, across, self.alpha4 * turn2 + self.alpha2 * way2])
        bearing = np.arctan2(step.y, step.x)
        direction = _poses(states)[:, 2] + bearing
        return _moved(states, direction, (way2**0.5, 0.0, step.turn), S)


@dataclass(frozen=True)
class VelocityMotion:
    """Speeds kept for a time: an arc of a circle.

    ``noise`` are standard deviations of the forward, left and turning speed besides the alphas.
    Errors of speeds that follow each other are independent; covariances are linear in them.

    >>> motion = VelocityMotion(noise=(0.1, 0.0, 0.05))
    >>> states, _ = motion.move(np.zeros((1, 3)), VelocitySteps(2.0, 1.0, np.pi / 2))
    >>> states.round(6)  # half a circle
    array([[0.      , 1.27324 , 3.141593]])
    """

    alpha1: float = 0.0
    alpha2: float = 0.0
    alpha3: float = 0.0
    alpha4: float = 0.0
    alpha5: float = 0.0
    alpha6: float = 0.0
    noise: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check_alphas(self)
        for value in _checks.shaped("noise", self.noise, 3):
            _checks.non_negative("noise", value)

    def move(self, states: Array, control: VelocitySteps) -> tuple[Array, Array]:
        """Next states and covariances after speeds that were kept for their times."""
        if not isinstance(control, VelocitySteps):
            raise TypeError(f"control must be VelocitySteps, got {control!r}")
        pose, P = np.zeros(3), np.zeros((3, 3))
        steps = zip(control.durations, control.forward, control.turning, strict=True)
        for dt, v, w in steps:
            step, G = _arc(float(dt), float(v), float(w))
            (after,), (S,) = _moved(pose[None], pose[2:], step, (G * self._variances(v, w)) @ G.T)
            F = transport(pose, after)
            pose, P = after, symmetric(F @ P @ F.T + S)
        return _moved(states, _poses(states)[:, 2], pose.tolist(), P)

    def _variances(self, v: float, w: float) -> Array:
        """Variances of the forward, left, turning and final turning speed."""
        forward, left, turn = np.square(np.asarray(self.noise, dtype=np.float64))
        return np.array(
            [
                forward + self.alpha1 * v**2 + self.alpha2 * w**2,
                left,
                turn + self.alpha3 * v**2 + self.alpha4 * w**2,
                self.alpha5 * v**2 + self.alpha6 * w**2,
            ]
        )


@dataclass(frozen=True)
class DeadReckoning:
    """Steps that know their own covariance, such as pre-integrated odometry.

    ``scale`` multiplies the covariances, for odometry that is worse than it claims.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        _checks.non_negative("scale", self.scale)

    def move(self, states: Array, control: BodyStep) -> tuple[Array, Array]:
        """Next states and covariances after a step with its covariance."""
        if not isinstance(control, BodyStep) or control.covariance is None:
            raise TypeError(f"control must be a BodyStep with its covariance, got {control!r}")
        step = control.x, control.y, control.turn
        return _moved(states, _poses(states)[:, 2], step, self.scale * control.covariance)


def transport(before: Array, after: Array) -> Array:
    """Derivative (3, 3) of the pose after a step by that before: a heading turns the step."""
    F = np.eye(3)
    F[0, 2], F[1, 2] = before[1] - after[1], after[0] - before[0]
    return F


def _arc(dt: float, v: float, w: float) -> tuple[tuple[float, float, float], Array]:
    """Step of an arc, and its derivative (3, 4) by forward, left, turn and final turn rate."""
    phi = w * dt
    if abs(phi) < SMALL_TURN:
        S, C, dS, dC = 1 - phi**2 / 6, phi / 2, -phi / 3, 0.5 - phi**2 / 8
    else:
        S, C = sin(phi) / phi, 2 * sin(phi / 2) ** 2 / phi
        dS, dC = (cos(phi) - S) / phi, (sin(phi) - C) / phi
    G = [
        [dt * S, -dt * C, dt**2 * dS * v, 0.0],
        [dt * C, dt * S, dt**2 * dC * v, 0.0],
        [0.0, 0.0, dt, dt],
    ]
    return (dt * S * v, dt * C * v, phi), np.array(G)


def _moved(states: Array, direction: Array, step: Sequence[float], S: Array) -> tuple[Array, Array]:
    """Poses after a step (along, across, turn) and its covariance S in axes at ``direction``."""
    G = np.zeros((len(direction), 3, 3))
    G[:, 0, 0] = G[:, 1, 1] = np.cos(direction)
    G[:, 1, 0] = np.sin(direction)
    G[:, 0, 1] = -G[:, 1, 0]
    G[:, 2, 2] = 1.0
    return np.asarray(states + G @ np.array(step)), np.asarray(G @ S @ G.swapaxes(1, 2))


def _least_turn(turn: float) -> float:
    """Size of a turn, or of the one that drives backwards instead, if that is less."""
    turn = abs((turn + pi) % (2 * pi) - pi)
    return min(turn, pi - turn)


def _step(control: Step) -> Step:
    if not isinstance(control, OdometryStep | BodyStep):
        raise TypeError(f"control must be an OdometryStep or a BodyStep, got {control!r}")
    return control


def _poses(states: Array) -> Array:
    return _checks.points("states", states, 3)


def _check_alphas(motion: DifferentialDrive | OmniDrive | VelocityMotion) -> None:
    for each in fields(motion):
        if each.name.startswith("alpha"):
            _checks.non_negative(each.name, getattr(motion, each.name))
