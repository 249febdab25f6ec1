r"""Charts: a state that turns, written as a vector near a common reference.

Quadrature rules and kernels live in R^d and never see a manifold.  At each step of a filter all
particles are written in one chart, the tangent space at a reference state near them:

.. math:: x = (p,\ \mathrm{Log}(R_{ref}^\top R)) \in \mathbb R^6 \quad\text{for a pose } (p, R).

A *chart* knows how to go there (``coordinates``) and back (``states``); how a state moves by a
small increment :math:`\xi`, :math:`(p + \xi_p, R\, \mathrm{Exp}\, \xi_R)`: the position along the
axes of the world, the turn in the frame of the body (``plus``), and which increment leads from one
state to another (``minus``); what an increment does to the coordinates (``jacobian``, so that a
covariance of increments becomes D S D'); and the mean of weighted states.  Two methods are
optional: ``covariances(x, S)``, a shorter way to all D S D', and ``checked(name, states, *rows)``,
which refuses what is no state (or no stack of n, with ``rows`` = n) before a filter works with it.
There are three charts:

===========  =======================  ==================================================
chart        state                    coordinates
===========  =======================  ==================================================
`SE3()`      `Pose`                   position, Log(R_ref' R)
`SE2()`      rows (x, y, heading)     the same, heading within pi of the reference's
`Angles`     rows of d numbers        the same, each angle within pi of the reference's
===========  =======================  ==================================================

``Angles(d)`` without angles is plain R^d.  All functions take stacks of states; whole numbers
become float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._numba import rotations as compiled
from skh._typing import Array
from skh.geometry import rotation
from skh.geometry.stack import State, described

ANGLE_ROUNDING = 1e-12  # radians: a step of the mean that is none
MOST_STEPS = 1_000  # of the mean; two nearly always, more where weights go round the circle evenly


class Pose(NamedTuple):
    """Positions (..., 3) and orientations (..., 3, 3), which turn body into world coordinates.

    >>> level = Pose(np.zeros(3), np.eye(3))
    >>> ahead = SE3().plus(level, [2.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2])  # 2 m along x, then left
    >>> ahead.position, ahead.rotation.round(12) @ [1.0, 0.0, 0.0]
    (array([2., 0., 0.]), array([0., 1., 0.]))
    """

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
        """States moved by increments: along the world's axes, and turned in their own frame."""
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
        p, R = _pose("states", states)
        return np.concatenate([p, rotation.between(_pose("reference", reference)[1], R)], axis=-1)

    def states(self, reference: Pose, x: Array) -> Pose:
        """(x_p, R_ref Exp(x_R))."""
        x = _vectors("x", x, 6)
        return Pose(
            x[..., :3].copy(), rotation.turned(_pose("reference", reference)[1], x[..., 3:])
        )

    def jacobian(self, x: Array) -> Array:
        """blkdiag(I, J_r^-1)."""
        x = _vectors("x", x, 6)
        D = np.zeros((*x.shape, 6))
        D[..., :3, :3] = np.eye(3)
        D[..., 3:, 3:] = rotation.right_jacobian_inverse(x[..., 3:])
        return D

    def covariances(self, x: Array, S: Array) -> Array:
        """D S D', of which only what is not zero in D is worked out; S is (6, 6) or (n, 6, 6)."""
        S, out = S.reshape(-1, 6, 6), np.empty((len(x), 6, 6))
        compiled.pose_covariances(out, np.ascontiguousarray(x), np.ascontiguousarray(S))
        return out

    def plus(self, states: Pose, increments: ArrayLike) -> Pose:
        """(p + xi_p, R Exp(xi_R))."""
        (p, R), xi = _pose("states", states), _vectors("increments", increments, 6)
        return Pose(p + xi[..., :3], rotation.turned(R, xi[..., 3:]))

    def minus(self, states: Pose, origins: Pose) -> Array:
        """(p - p_0, Log(R_0' R))."""
        (p, R), (p_0, R_0) = _pose("states", states), _pose("origins", origins)
        return np.concatenate([p - p_0, rotation.between(R_0, R)], axis=-1)

    def mean(self, states: Pose, w: ArrayLike | None = None) -> Pose:
        """The mean position and the mean rotation."""
        p, R = _pose("states", states)
        p = _checks.points("the positions of states", p, 3)
        if w is None and len(p):
            return Pose(p.mean(axis=0), rotation.mean(R))
        _probabilities(w, len(p))
        w = np.asarray(w, dtype=np.float64)
        return Pose(np.average(p, axis=0, weights=w), rotation.mean(R, w))

    def checked(self, name: str, states: Any, *rows: int) -> Pose:
        """The states, if they are poses: one, or a stack of as many as ``rows`` says."""
        p, R = _pose(name, states)
        p = _checks.shaped(f"the position of {name}", p, *rows, 3)
        where = f"the rotation of {name}"
        return Pose(p, rotation.rotations(where, _checks.shaped(where, R, *rows, 3, 3), "particle"))


def _pose(name: str, pose: Any) -> tuple[Array, Array]:
    """The parts of a pose, as float64 and of shapes that end as they must."""
    if not isinstance(pose, Pose):
        raise TypeError(f"{name} must be a Pose(position, rotation), got {described(pose)}")
    p, R = pose
    p, R = _checks.floats(name, p), _checks.floats(name, R)
    if p.shape[-1:] != (3,) or R.shape[-2:] != (3, 3):
        raise ValueError(
            f"{name} must have a position of shape (..., 3) and a rotation of shape (..., 3, 3), "
            f"got {p.shape} and {R.shape}"
        )
    return p, R


def _vectors(name: str, value: ArrayLike, d: int) -> Array:
    """``value`` as float64 vectors of d numbers."""
    array = _checks.floats(name, value)
    if array.shape[-1:] != (d,):
        raise ValueError(f"{name} must have shape (..., {d}), got {array.shape}")
    return array


def _probabilities(w: ArrayLike | None, n: int) -> Array:
    """The weights of n states; None is all alike."""
    if n == 0:
        raise ValueError("states must have at least one row to have a mean, got none")
    if w is None:
        return np.full(n, 1 / n)
    w = _checks.probabilities("w", w)
    _checks.same_length("w", w, "states", n)
    return w


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
        return np.asarray(reference + self.minus(states, reference))

    def states(self, reference: Array, x: Array) -> Array:
        """``x``."""
        return _vectors("x", x, self.d).copy()

    def jacobian(self, x: Array) -> Array:
        """The identity."""
        x = _vectors("x", x, self.d)
        return np.broadcast_to(np.eye(self.d), (*x.shape, self.d))

    def covariances(self, x: Array, S: Array) -> Array:
        """``S``, one for all where it is."""
        return S

    def plus(self, states: ArrayLike, increments: ArrayLike) -> Array:
        """The sum, with angles in (-pi, pi]."""
        xi = _vectors("increments", increments, self.d)
        return self._wrapped(_vectors("states", states, self.d) + xi)

    def minus(self, states: ArrayLike, origins: ArrayLike) -> Array:
        """The difference, with angles in (-pi, pi]."""
        origins = _vectors("origins", origins, self.d)
        return self._wrapped(_vectors("states", states, self.d) - origins)

    def mean(self, states: ArrayLike, w: ArrayLike | None = None) -> Array:
        """The mean; that of an angle starts from the direction of the mean vector.

        Each step goes to the mean of the angles as seen from the guess.  It is the last one unless
        an angle changes sides, and then the sum of squares has become smaller.
        """
        states = _checks.points("states", states, self.d)
        w = _probabilities(w, len(states))
        guess, turning = w @ states, list(self.angles)
        guess[turning] = np.angle(w @ np.exp(1j * states[:, turning]))
        for _ in range(MOST_STEPS):
            step = w @ self.minus(states, guess)
            guess = guess + step
            if np.abs(step[turning]).max(initial=0.0) < ANGLE_ROUNDING:
                break
        return self._wrapped(guess)

    def checked(self, name: str, states: Any, *rows: int) -> Array:
        """The states, if they are rows of d numbers: one, or as many as ``rows`` says."""
        return _checks.shaped(name, states, *rows, self.d)

    def _wrapped(self, x: Array) -> Array:
        """``x``, whose angles are wrapped in place."""
        turning = list(self.angles)
        x[..., turning] = wrap(x[..., turning])
        return x


def SE2() -> Angles:  # noqa: N802 - a chart like the others
    """Poses in the plane, rows (x, y, heading).

    >>> chart = SE2()
    >>> chart.plus([1.0, 2.0, 3.0], [0.5, 0.0, 0.5]).round(4)  # the heading goes on at -pi
    array([ 1.5   ,  2.    , -2.7832])
    >>> chart.minus([1.0, 2.0, -3.0], [1.0, 2.0, 3.0]).round(4)  # and the short way round
    array([0.    , 0.    , 0.2832])
    """
    return Angles(3, angles=(2,))


def in_space(states: ArrayLike) -> Pose:
    """States of `SE2` as poses in space: at height zero, turned about the vertical.

    >>> in_space([1.0, 2.0, np.pi / 2]).position
    array([1., 2., 0.])
    """
    states = _vectors("states", states, 3)
    return Pose(states * [1.0, 1.0, 0.0], rotation.exp(states * [0.0, 0.0, 1.0]))


def wrap(angle: ArrayLike) -> Array:
    """The same angle in (-pi, pi].

    >>> wrap([3.0, 4.0, -np.pi]).round(4)
    array([ 3.    , -2.2832,  3.1416])
    """
    angle = np.asarray(angle, dtype=np.float64)
    return np.asarray(angle - 2 * np.pi * np.ceil((angle - np.pi) / (2 * np.pi)))
