r"""Charts: a state that turns, written as a vector near a common reference.

Quadrature rules and kernels live in R^d and never see a manifold.  At each step of a filter all
particles are written in one chart, the tangent space at a reference state near them:

.. math:: x = (p,\ \mathrm{Log}(R_{ref}^\top R)) \in \mathbb R^6 \quad\text{for a pose } (p, R).

A *chart* knows how to go there (``coordinates``) and back (``states``); how a state moves by a
small increment :math:`\xi` in its own frame, :math:`(p + \xi_p, R\, \mathrm{Exp}\, \xi_R)`
(``plus``), and which increment leads from one state to another (``minus``); what an increment does
to the coordinates (``jacobian``, so that a covariance of increments becomes D S D'; a chart that
knows a shorter way to all of these has ``covariances(x, S)`` too); and the mean of weighted states.
There are three:

===========  =======================  ==================================================
chart        state                    coordinates
===========  =======================  ==================================================
`SE3()`      `Pose`                   position, Log(R_ref' R)
`SE2()`      rows (x, y, heading)     the same, heading within pi of the reference's
`Angles`     rows of d numbers        the same, each angle within pi of the reference's
===========  =======================  ==================================================

``Angles(d)`` without angles is plain R^d.  All functions take stacks of states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks, _compiled_rotation
from skh._checks import Array
from skh.geometry import rotation

State = Any  # a stack of states: an array or a tuple of arrays, one row per state


class Pose(NamedTuple):
    """Positions (..., 3) and orientations (..., 3, 3), which turn body into world coordinates."""

    position: Array
    rotation: Array


class Chart(Protocol):
    """What a filter on a manifold asks of it; see the module's text."""

    @property
    def d(self) -> int:
        """Dimension."""
        ...

    def coordinates(self, reference: State, states: State) -> Array:
        """The vectors (n, d) of states in the chart at a reference."""
        ...

    def states(self, reference: State, x: Array) -> State:
        """The states that have the coordinates ``x``."""
        ...

    def jacobian(self, x: Array) -> Array:
        """D (n, d, d): how coordinates ``x`` change with a small increment of the state."""
        ...

    def plus(self, states: State, increments: Array) -> State:
        """States moved by increments in their own frame."""
        ...

    def minus(self, states: State, origins: State) -> Array:
        """The increments that lead from ``origins`` to ``states``."""
        ...

    def mean(self, states: State, w: Array | None = None) -> State:
        """The mean of weighted states: increments from it average to zero."""
        ...


@dataclass(frozen=True)
class SE3:
    """Poses in space.

    >>> chart, level = SE3(), Pose(np.zeros(3), np.eye(3))
    >>> pose = chart.states(level, np.array([1.0, 2.0, 3.0, 0.0, 0.0, 3.0]))
    >>> chart.coordinates(level, pose).round(12)
    array([1., 2., 3., 0., 0., 3.])
    """

    @property
    def d(self) -> int:
        """Six."""
        return 6

    def coordinates(self, reference: Pose, states: Pose) -> Array:
        """(p, Log(R_ref' R))."""
        turn = rotation.between(reference.rotation, states.rotation)
        return np.concatenate([states.position, turn], axis=-1)

    def states(self, reference: Pose, x: Array) -> Pose:
        """(x_p, R_ref Exp(x_R))."""
        return Pose(x[..., :3].copy(), rotation.turned(reference.rotation, x[..., 3:]))

    def jacobian(self, x: Array) -> Array:
        """blkdiag(I, J_r^-1)."""
        D = np.zeros((*x.shape, 6))
        D[..., :3, :3] = np.eye(3)
        D[..., 3:, 3:] = rotation.right_jacobian_inverse(x[..., 3:])
        return D

    def covariances(self, x: Array, S: Array) -> Array:
        """D S D', of which only what is not zero in D is worked out; S is (6, 6) or (n, 6, 6)."""
        S, out = S.reshape(-1, 6, 6), np.empty((len(x), 6, 6))
        _compiled_rotation.pose_covariances(out, np.ascontiguousarray(x), np.ascontiguousarray(S))
        return out

    def plus(self, states: Pose, increments: Array) -> Pose:
        """(p + xi_p, R Exp(xi_R))."""
        turned = rotation.turned(states.rotation, increments[..., 3:])
        return Pose(states.position + increments[..., :3], turned)

    def minus(self, states: Pose, origins: Pose) -> Array:
        """(p - p_0, Log(R_0' R))."""
        turn = rotation.between(origins.rotation, states.rotation)
        return np.concatenate([states.position - origins.position, turn], axis=-1)

    def mean(self, states: Pose, w: Array | None = None) -> Pose:
        """The mean position and the mean rotation."""
        position = np.average(states.position, axis=0, weights=w)
        return Pose(position, rotation.mean(states.rotation, w))


@dataclass(frozen=True)
class Angles:
    """R^d, some of whose coordinates are angles.

    >>> chart = Angles(2, angles=[1])
    >>> chart.mean(np.array([[0.0, 3.1], [1.0, -3.1]])).round(6)
    array([0.5     , 3.141593])
    """

    d: int
    angles: Sequence[int] = ()

    def __post_init__(self) -> None:
        _checks.positive_int("d", self.d)
        angles = tuple(self.angles)
        whole = all(isinstance(angle, int | np.integer) for angle in angles)
        if not whole or len(set(angles)) < len(angles) or not set(angles) <= set(range(self.d)):
            raise ValueError(f"angles must be some of 0..{self.d - 1}, got {self.angles!r}")
        object.__setattr__(self, "angles", angles)

    def coordinates(self, reference: Array, states: Array) -> Array:
        """The states, each angle moved by whole turns to within pi of the reference's."""
        return reference + self.minus(states, reference)

    def states(self, reference: Array, x: Array) -> Array:
        """``x``."""
        return np.array(x)

    def jacobian(self, x: Array) -> Array:
        """The identity."""
        return np.broadcast_to(np.eye(self.d), (*x.shape, self.d))

    def covariances(self, x: Array, S: Array) -> Array:
        """``S``, one for all where it is."""
        return S

    def plus(self, states: Array, increments: Array) -> Array:
        """The sum, with angles in (-pi, pi]."""
        return self._wrapped(states + increments)

    def minus(self, states: Array, origins: Array) -> Array:
        """The difference, with angles in (-pi, pi]."""
        return self._wrapped(np.asarray(states - origins))

    def mean(self, states: Array, w: Array | None = None) -> Array:
        """The mean; that of an angle starts from the direction of the mean vector."""
        states = _checks.points("states", states, self.d)
        w = np.full(len(states), 1 / len(states)) if w is None else _checks.probabilities("w", w)
        guess, turning = w @ states, list(self.angles)
        guess[turning] = np.angle(w @ np.exp(1j * states[:, turning]))
        for _ in range(3):  # after the first, only if a state changes sides
            guess = guess + w @ self.minus(states, guess)
        return self._wrapped(guess)

    def _wrapped(self, x: Array) -> Array:
        x, turning = np.array(x), list(self.angles)
        x[..., turning] = wrap(x[..., turning])
        return x


def SE2() -> Angles:  # noqa: N802 - a chart like the others
    """Poses in the plane, rows (x, y, heading)."""
    return Angles(3, angles=(2,))


def wrap(angle: ArrayLike) -> Array:
    """The same angle in (-pi, pi].

    >>> wrap([3.0, 4.0, -np.pi]).round(4)
    array([ 3.    , -2.2832,  3.1416])
    """
    angle = np.asarray(angle, dtype=np.float64)
    return np.asarray(angle - 2 * np.pi * np.ceil((angle - np.pi) / (2 * np.pi)))
