"""Errors of estimated trajectories, and consistency of their covariances.

As in the package `evo`, the absolute trajectory error compares positions, the relative pose error
motions over a number of frames; `skh.trajectory.associate` pairs poses by time.  Normalised squared
errors of states (NEES) and innovations (NIS) average one per dimension if covariances are right.

>>> t, R = np.arange(3.0), np.tile(np.eye(3), (3, 1, 1))
>>> truth = Trajectory(t, [[0, 0, 0], [1, 0, 0], [2, 1, 0]], R)
>>> estimate = Trajectory(t, [[0, 0, 0], [1, 0, 0], [2, 1, 0.3]], R)
>>> round(ate(truth, estimate).max, 6), rpe(truth, estimate).values.round(6)
(0.3, array([0. , 0.3]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from skh import _checks
from skh._typing import Array, Indices
from skh.gaussians.linear_algebra import apply, check_covariance, positive_root, transpose
from skh.gaussians.units import divide_lower
from skh.geometry import rotation
from skh.geometry.charts import SE3, Pose
from skh.trajectory import Trajectory, align, check_paired


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors along a trajectory, and their statistics under the names of `evo`."""

    values: Array

    @property
    def rmse(self) -> float:
        """Root mean square."""
        return float(np.sqrt(np.mean(self.values**2)))

    @property
    def mean(self) -> float:
        """Mean."""
        return float(self.values.mean())

    @property
    def median(self) -> float:
        """Median."""
        return float(np.median(self.values))

    @property
    def std(self) -> float:
        """Standard deviation."""
        return float(self.values.std())

    @property
    def max(self) -> float:
        """Maximum."""
        return float(self.values.max())


def ate(
    reference: Trajectory, estimate: Trajectory, *, aligned: bool = False, scale: bool = False
) -> Errors:
    """Absolute trajectory error: distances of positions in metres, after `align` if ``aligned``."""
    estimate = _prepared(reference, estimate, aligned, scale)
    return Errors(np.linalg.norm(estimate.positions - reference.positions, axis=1))


def rpe(
    reference: Trajectory,
    estimate: Trajectory,
    *,
    delta: int = 1,
    part: Literal["translation", "rotation"] = "translation",
    all_pairs: bool = False,
    aligned: bool = False,
    scale: bool = False,
) -> Errors:
    """Relative pose error: differences of motions over ``delta`` frames, in metres or radians.

    Motions are consecutive (0 to delta, delta to 2 delta, ...), or start at every frame with
    ``all_pairs``.  Alignment without scale does not change the errors.
    """
    delta = _checks.positive_int("delta", delta)
    estimate = _prepared(reference, estimate, aligned, scale)
    if delta >= len(reference):
        raise ValueError(f"delta must be below the number of poses, {len(reference)}, got {delta}")
    every = 1 if _checks.boolean("all_pairs", all_pairs) else delta
    start = np.arange(0, len(reference) - delta, every)
    Rq, tq = _motion(reference, start, delta)
    Rp, tp = _motion(estimate, start, delta)
    if part == "translation":
        return Errors(np.linalg.norm(tp - tq, axis=1))
    if part == "rotation":
        return Errors(np.linalg.norm(rotation.log(transpose(Rq) @ Rp), axis=1))
    raise ValueError(f"part must be 'translation' or 'rotation', got {part!r}")


def _prepared(
    reference: Trajectory, estimate: Trajectory, aligned: bool, scale: bool
) -> Trajectory:
    check_paired(reference, estimate)
    aligned, scale = _checks.boolean("aligned", aligned), _checks.boolean("scale", scale)
    if scale and not aligned:
        raise ValueError("scale=True needs aligned=True")
    return align(reference, estimate, scale=scale) if aligned else estimate


def _motion(path: Trajectory, start: Indices, delta: int) -> tuple[Array, Array]:
    """Rotations and translations over ``delta`` frames, in the earlier pose's frame."""
    back = transpose(path.rotations[start])
    moved = path.positions[start + delta] - path.positions[start]
    return back @ path.rotations[start + delta], apply(back, moved)


@dataclass(frozen=True, eq=False)
class Consistency:
    """Normalised squared errors: chi-square with ``d`` degrees of freedom if consistent."""

    values: Array  # (T,)
    d: int

    @property
    def mean(self) -> float:
        """Mean per dimension: one if the covariances are right, more if they are too small."""
        return float(self.values.mean() / self.d)

    @property
    def median(self) -> float:
        """Median over that of the chi-square: one if consistent, robust to outliers."""
        return float(np.median(self.values) / stats.chi2.median(self.d))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Interval of the mean with this probability, if consistent and independent."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}")
        n = len(self.values) * self.d
        tail = (1 - level) / 2
        return float(stats.chi2.ppf(tail, n) / n), float(stats.chi2.ppf(1 - tail, n) / n)


def nees(errors: ArrayLike, covariances: ArrayLike) -> Consistency:
    """Normalised squared errors e' P^-1 e, for errors (T, d) and one or T covariances.

    >>> nees([[1.0, 0.0], [0.0, 2.0]], np.eye(2)).values
    array([1., 4.])
    """
    e = _checks.points("errors", errors)
    P = _checks.real_array("covariances", covariances)
    if len(e) == 0:
        raise ValueError("errors must hold at least one row, got none")
    if P.shape not in ((e.shape[1],) * 2, (*e.shape, e.shape[1])):
        raise ValueError(
            f"covariances must have shape {(e.shape[1],) * 2} or {(*e.shape, e.shape[1])}, "
            f"got {P.shape}"
        )
    check_covariance("covariances", P)
    L = np.broadcast_to(positive_root("covariances", P), (*e.shape, e.shape[1]))
    u = divide_lower(L, e)
    return Consistency(np.einsum("ti,ti->t", u, u), e.shape[1])


def nis(innovations: ArrayLike, covariances: ArrayLike) -> Consistency:
    """`nees` of innovations (y minus its prediction) and their covariances."""
    return nees(_checks.points("innovations", innovations), covariances)


@dataclass(frozen=True, eq=False)
class PoseEstimate:
    """A pose and its covariance of x, y, z and rotations about fixed axes X, Y, Z, as in ROS."""

    position: Array
    rotation: Array
    covariance: Array

    @property
    def quaternion(self) -> Array:
        """Unit quaternion (x, y, z, w)."""
        return rotation.quaternion(self.rotation)

    def error(self, truth: Pose) -> Array:
        """Increment (6,) from the estimate to the truth, for `nees` with the covariance."""
        return _in_fixed_axes(truth, Pose(self.position, self.rotation))


def pose_estimate(poses: Pose, w: ArrayLike) -> PoseEstimate:
    """Return the mean and covariance of weighted poses; for `SE2`, see `skh.geometry.in_space`.

    >>> poses = Pose(np.array([[0.0, 0, 0], [2, 0, 0]]), np.tile(np.eye(3), (2, 1, 1)))
    >>> estimate = pose_estimate(poses, [0.5, 0.5])
    >>> estimate.position, estimate.quaternion, estimate.covariance[0, 0]
    (array([1., 0., 0.]), array([0., 0., 0., 1.]), np.float64(1.0))
    """
    if not isinstance(poses, Pose):
        raise TypeError(
            "poses must be a Pose, such as skh.geometry.states_of(belief) of SE3, or "
            f"skh.geometry.in_space of rows (x, y, heading), got {poses!r}"
        )
    w = _checks.probabilities("w", w)
    _checks.same_length("w", w, "poses", len(poses.position))
    mean = SE3().mean(poses, w)
    increments = _in_fixed_axes(poses, mean)
    return PoseEstimate(*mean, (w * increments.T) @ increments)


def _in_fixed_axes(poses: Pose, origin: Pose) -> Array:
    """Increments from ``origin``, with rotations about the fixed axes, not the body's."""
    increments = SE3().minus(poses, origin)
    increments[..., 3:] = increments[..., 3:] @ origin.rotation.T
    return increments
