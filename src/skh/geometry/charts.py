r"""Charts: coordinates in R^d of states with rotations or angles.

Quadrature rules and kernels work in R^d.  At each step of a filter, all particles are written in
one chart, the tangent space at a nearby reference state:

.. math:: x = (p,\ \mathrm{Log}(R_{ref}^\top R)) \in \mathbb R^6 \quad\text{for a pose } (p, R).

A *chart* has ``coordinates`` and the inverse, ``states``; ``plus``, which moves a state by a small
increment :math:`\xi` to :math:`(p + \xi_p, R\, \mathrm{Exp}\, \xi_R)`, the position along the
world's axes, the rotation in the body's frame, and the inverse, ``minus``; the ``jacobian`` D of
coordinates with respect to increments, so that a covariance S of increments becomes D S D'; and the
``mean`` of weighted states.  Optional methods are ``covariances(x, S)``, a faster D S D', and
``checked(name, states, *rows)``, which validates one state or, with ``rows`` = n, a stack of n.

===========  =======================  ==================================================
chart        state                    coordinates
===========  =======================  ==================================================
`SE3()`      `Pose`                   position, Log(R_ref' R)
`SE2()`      rows (x, y, heading)     the same, heading within pi of the reference's
`Angles`     rows of d numbers        the same, each angle within pi of the reference's
===========  =======================  ==================================================

``Angles(d)`` without angles is plain R^d.  All functions take stacks of states; integers become
float64.
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


class Pose(NamedTuple):
    """Positions (..., 3) and rotations (..., 3, 3) from body to world coordinates.

    >>> level = Pose(np.zeros(3), np.eye(3))
    >>> ahead = SE3().plus(level, [2.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2])  # 2 m along x, then left
    >>> ahead.position, ahead.rotation.round(12) @ [1.0, 0.0, 0.0]
    (array([2., 0., 0.]), array([0., 1., 0.]))
    """

    position: Array
    rotation: Array


class Chart(Protocol):
    """Protocol of charts; see the module docstring."""

    @property
    def d(self) -> int:
        """Dimension."""
        ...

    def coordinates(self, reference: State, states: State) -> Array:
        """Coordinates (n, d) of states in the chart at ``reference``."""
        ...

    def states(self, reference: State, x: Array) -> State:
        """States with the coordinates ``x``."""
        ...

    def jacobian(self, x: Array) -> Array:
        """Derivative D (n, d, d) of coordinates with respect to increments, at ``x``."""
        ...

    def plus(self, states: State, increments: Array) -> State:
        """Move states by increments: along the world's axes, rotated in the body's frame."""
        ...

    def minus(self, states: State, origins: State) -> Array:
        """Increments from ``origins`` to ``states``."""
        ...

    def mean(self, states: State, w: Array | None = None) -> State:
        """Weighted mean of states: increments from it average to zero."""
        ...


@dataclass(frozen=True)
class SE3:
    """Chart of poses in space.

    >>> chart, level = SE3(), Pose(np.zeros(3), np.eye(3))
    >>> pose = chart.states(level, np.array([1.0, 2.0, 3.0, 0.0, 0.0, 3.0]))
    >>> chart.coordinates(level, pose).round(12)
    array([1., 2., 3., 0., 0., 3.])
    """

    @property
    def d(self) -> int:
        """Dimension."""
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
        """D S D' for S of shape (6, 6) or (n, 6, 6), skipping the zero blocks of D."""
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
        """Mean position and mean rotation."""
        p, R = _pose("states", states)
        p = _checks.points("the positions of states", p, 3)
        if w is None and len(p):
            return Pose(p.mean(axis=0), rotation.mean(R))
        _probabilities(w, len(p))
        w = np.asarray(w, dtype=np.float64)
        return Pose(np.average(p, axis=0, weights=w), rotation.mean(R, w))

    def checked(self, name: str, states: Any, *rows: int) -> Pose:
        """Validate one pose, or a stack of ``rows`` poses."""
        p, R = _pose(name, states)
        p = _checks.shaped(f"the position of {name}", p, *rows, 3)
        where = f"the rotation of {name}"
        return Pose(p, rotation.rotations(where, _checks.shaped(where, R, *rows, 3, 3), "particle"))


def _pose(name: str, pose: Any) -> tuple[Array, Array]:
    """Validate a pose; return its parts as float64 arrays."""
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
    array = _checks.floats(name, value)
    if array.shape[-1:] != (d,):
        raise ValueError(f"{name} must have shape (..., {d}), got {array.shape}")
    return array


def _probabilities(w: ArrayLike | None, n: int) -> Array:
    """Validate the weights of n states; None means equal weights."""
    if n == 0:
        raise ValueError("states must have at least one row to have a mean, got none")
    if w is None:
        return np.full(n, 1 / n)
    w = _checks.probabilities("w", w)
    _checks.same_length("w", w, "states", n)
    return w


@dataclass(frozen=True)
class Angles:
    """Chart of R^d where some coordinates are angles.

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
        """The states, with each angle shifted by whole turns to within pi of the reference."""
        return np.asarray(reference + self.minus(states, reference))

    def states(self, reference: Array, x: Array) -> Array:
        """Return a copy of ``x``."""
        return _vectors("x", x, self.d).copy()

    def jacobian(self, x: Array) -> Array:
        """The identity."""
        x = _vectors("x", x, self.d)
        return np.broadcast_to(np.eye(self.d), (*x.shape, self.d))

    def covariances(self, x: Array, S: Array) -> Array:
        """Return ``S``, as D is the identity."""
        return S

    def plus(self, states: ArrayLike, increments: ArrayLike) -> Array:
        """Sum, with angles in (-pi, pi]."""
        xi = _vectors("increments", increments, self.d)
        return self._wrapped(_vectors("states", states, self.d) + xi)

    def minus(self, states: ArrayLike, origins: ArrayLike) -> Array:
        """Difference, with angles in (-pi, pi]."""
        origins = _vectors("origins", origins, self.d)
        return self._wrapped(_vectors("states", states, self.d) - origins)

    def mean(self, states: ArrayLike, w: ArrayLike | None = None) -> Array:
        """Weighted mean; for angles see `_numba.rotations.mean_angle`."""
        states = _checks.points("states", states, self.d)
        w = _probabilities(w, len(states))
        mean = w @ states
        mean += w @ (states - mean)  # less rounding
        for j in self.angles:
            mean[j] = compiled.mean_angle(states[:, j].copy(), w)
        return self._wrapped(mean)

    def checked(self, name: str, states: Any, *rows: int) -> Array:
        """Validate one row of d numbers, or ``rows`` of them."""
        return _checks.shaped(name, states, *rows, self.d)

    def _wrapped(self, x: Array) -> Array:
        turning = list(self.angles)
        x[..., turning] = wrap(x[..., turning])
        return x


def SE2() -> Angles:  # noqa: N802 - a chart like the others
    """Chart of poses in the plane, rows (x, y, heading).

    >>> chart = SE2()
    >>> chart.plus([1.0, 2.0, 3.0], [0.5, 0.0, 0.5]).round(4)  # the heading goes on at -pi
    array([ 1.5   ,  2.    , -2.7832])
    >>> chart.minus([1.0, 2.0, -3.0], [1.0, 2.0, 3.0]).round(4)  # and the short way round
    array([0.    , 0.    , 0.2832])
    """
    return Angles(3, angles=(2,))


def in_space(states: ArrayLike) -> Pose:
    """Convert states of `SE2` to poses in space: height zero, rotated about the vertical.

    >>> in_space([1.0, 2.0, np.pi / 2]).position
    array([1., 2., 0.])
    """
    states = _vectors("states", states, 3)
    return Pose(states * [1.0, 1.0, 0.0], rotation.exp(states * [0.0, 0.0, 1.0]))


def wrap(angle: ArrayLike) -> Array:
    """Wrap angles to (-pi, pi], however many turns they are; NaN stays NaN.

    >>> wrap([3.0, 4.0, -np.pi]).round(4)
    array([ 3.    , -2.2832,  3.1416])
    """
    given = _checks.floats("angle", angle)
    angle = np.array(given, order="C")  # a copy
    if compiled.wrap_angles(angle.reshape(-1)) >= 0:
        raise ValueError(f"angle must be finite, got {given}")
    return angle
