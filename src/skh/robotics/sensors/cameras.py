r"""Cameras on a moving body: pixels of known landmarks, seen from poses in space.

With the camera at ``position`` in the body, and ``rotation`` from the body's to the camera's axes
(right, down, ahead), a landmark l has the coordinates

.. math:: (x, y, z) = C\, \bigl(R^\top (l - p) - \rho\bigr), \qquad
          (u, v) = (f_u x / z + c_u,\ f_v y / z + c_v) ,

and the right image of a stereo camera those of :math:`x - b`.  Errors of the pixels of a landmark
have a full covariance; those of different landmarks are independent.

An observation is an array (landmarks, 2 or 4) of pixels, NaN rows for landmarks not in view.  A
sighting is false with probability ``outliers``: uniform over the images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, pi
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array, Indices
from skh.geometry import rotation
from skh.geometry.charts import Pose
from skh.robotics.sensors.outliers import floored, information_factor


@dataclass(frozen=True, eq=False)
class PinholeCamera:
    """Pixels (u, v) of landmarks (M, 3) in one image.

    >>> camera = PinholeCamera([[0.0, 0.0, 5.0]], 100.0, 100.0, 50.0, 50.0, covariance=np.eye(2))
    >>> level = Pose(np.zeros((1, 3)), np.eye(3)[None])
    >>> camera.project(level, camera.landmarks)
    array([[[50., 50.]]])
    """

    landmarks: Array
    fu: float
    fv: float
    cu: float
    cv: float
    covariance: Array
    position: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Array = field(default_factory=lambda: np.eye(3))
    outliers: float = 0.0
    image: tuple[float, float] | None = None  # width and height; by default twice the centre
    nearest: float = 0.05  # metres in front of the camera; nearer points are put there

    width = 2  # numbers per landmark

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "landmarks", _checks.points("landmarks", self.landmarks, 3).copy())
        put(self, "position", _checks.copied("position", self.position, 3))
        R = _checks.copied("rotation", self.rotation, 3, 3)
        put(self, "rotation", rotation.rotations("rotation", R))
        for name in ("fu", "fv", "nearest"):
            _checks.positive(name, getattr(self, name))
        for name in ("cu", "cv"):
            _checks.shaped(name, getattr(self, name))
        _checks.fraction("outliers", self.outliers)
        for side in self._image:
            _checks.positive("image", side)
        S = _checks.copied("covariance", self.covariance, self.width, self.width)
        put(self, "covariance", S)
        if not np.allclose(S, S.T) or np.linalg.eigvalsh(S)[0] <= 0:
            raise ValueError(f"covariance must be symmetric and positive definite, got {S}")

    @property
    def _image(self) -> tuple[float, float]:
        return (2 * self.cu, 2 * self.cv) if self.image is None else self.image

    def log_likelihood(self, states: Pose, y: Any) -> Array:
        """``log p(y | pose)`` at each pose."""
        seen, pixels = self.pixels(y)
        error = (pixels - self.project(states, self.landmarks[seen])) @ self._whitening.T
        log_g = -0.5 * (error**2).sum(axis=-1) + self._log_norm
        return np.asarray(floored(log_g, self.outliers, self.log_uniform).sum(axis=1))

    def information(self, states: Pose, y: Any) -> Array:
        """Information (n, 6, 6) of y about increments of each pose."""
        seen, _ = self.pixels(y)
        H = self._whitening @ self.jacobian(states, self.landmarks[seen])
        H = H.reshape(len(H), -1, 6)
        return np.asarray(self._factor * H.swapaxes(1, 2) @ H)

    def observe(self, state: Pose, rng: np.random.Generator) -> Array:
        """Draw the pixels of all landmarks in the image, NaN for the others; some are false."""
        one = Pose(np.asarray(state.position)[None], np.asarray(state.rotation)[None])
        exact, ahead = self.project(one, self.landmarks)[0], self.camera_points(one)[0, :, 2]
        size = np.tile(self._image, self.width // 2)
        inside = (exact >= 0).all(axis=1) & (exact <= size).all(axis=1) & (ahead > self.nearest)
        noisy = exact + rng.standard_normal(exact.shape) @ np.linalg.cholesky(self.covariance).T
        false = rng.random(len(exact)) < self.outliers
        noisy = np.where(false[:, None], rng.uniform(0.0, size, exact.shape), noisy)
        return np.where(inside[:, None], noisy, np.nan)

    def camera_points(self, states: Pose, landmarks: Array | None = None) -> Array:
        """Coordinates (n, m, 3) of landmarks (m, 3) or (n, m, 3) in the camera's axes."""
        points = self.landmarks if landmarks is None else landmarks
        body = (points - states.position[:, None, :]) @ states.rotation
        return np.asarray((body - self.position) @ np.asarray(self.rotation).T)

    def project(self, states: Pose, landmarks: Array) -> Array:
        """Pixels (n, m, 2 or 4) of landmarks (m, 3) or (n, m, 3) seen from n poses."""
        return self._pixels(self.camera_points(states, landmarks))

    def difference(self, values: Array, predicted: Array) -> Array:
        """Errors of pixels."""
        return np.asarray(values - predicted)

    def _pixels(self, points: Array) -> Array:
        x, y, z = np.moveaxis(points, -1, 0)
        z = np.maximum(z, self.nearest)
        return np.stack([self.fu * x / z + self.cu, self.fv * y / z + self.cv], axis=-1)

    def _pixel_derivatives(self, points: Array) -> Array:
        """Derivatives (..., 2 or 4, 3) of pixels by coordinates in the camera's axes."""
        x, y, z = np.moveaxis(points, -1, 0)
        by_depth = z > self.nearest
        z = np.maximum(z, self.nearest)
        G = np.zeros((*points.shape[:-1], 2, 3))
        G[..., 0, 0], G[..., 1, 1] = self.fu / z, self.fv / z
        G[..., 0, 2] = np.where(by_depth, -self.fu * x / z**2, 0.0)
        G[..., 1, 2] = np.where(by_depth, -self.fv * y / z**2, 0.0)
        return G

    def jacobian(self, states: Pose, landmarks: Array) -> Array:
        """Derivatives (n, m, 2 or 4, 6) of pixels by increments of the poses."""
        body = (landmarks - states.position[:, None, :]) @ states.rotation
        n, m = body.shape[:2]
        inner = np.empty((n, m, 3, 6))  # of coordinates in the body's axes
        inner[..., :3] = -states.rotation.swapaxes(1, 2)[:, None]
        inner[..., 3:] = rotation.hat(body)
        C = np.asarray(self.rotation)
        return np.asarray(self._pixel_derivatives((body - self.position) @ C.T) @ C @ inner)

    def landmark_jacobian(self, states: Pose, landmarks: Array) -> Array:
        """Derivatives (n, m, 2 or 4, 3) of pixels by the positions of the landmarks."""
        G = self._pixel_derivatives(self.camera_points(states, landmarks))
        return np.asarray(G @ self.rotation @ states.rotation.swapaxes(1, 2)[:, None])

    def pixels(self, y: Any) -> tuple[Indices, Array]:
        """Validate an observation; return the landmarks in view, and their pixels (m, width)."""
        y = _checks.floats("y", y)
        if y.shape != (len(self.landmarks), self.width):
            raise ValueError(
                f"y must have shape ({len(self.landmarks)}, {self.width}), one row per landmark, "
                f"got {y.shape}"
            )
        seen = np.flatnonzero(~np.isnan(y).any(axis=1))
        return seen, _checks.real_array("y", y[seen])

    def features(self, y: Any) -> tuple[Indices, Array]:
        """Ids and pixels of what is seen, for a map that is being made.

        An observation has rows (id, pixels), or rows of pixels whose ids are 0, 1, 2 ...
        """
        y = _checks.floats("y", y)
        if y.size == 0:
            return np.empty(0, dtype=np.intp), np.empty((0, self.width))
        if y.ndim != 2 or y.shape[1] not in (self.width, self.width + 1):
            raise ValueError(
                f"y must have rows of {self.width} pixels, perhaps after an id, got {y.shape}"
            )
        ids = np.arange(len(y)) if y.shape[1] == self.width else y[:, 0]
        seen = ~np.isnan(y).any(axis=1)
        whole = np.asarray(ids[seen], dtype=np.intp)
        if (whole != ids[seen]).any() or len(np.unique(whole)) < len(whole):
            raise ValueError(f"y must have ids that are integers, each once, got {ids[seen]}")
        return whole, _checks.real_array("y", y[seen, -self.width :])

    @cached_property
    def _whitening(self) -> Array:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.covariance)))

    @cached_property
    def _log_norm(self) -> float:
        return float(np.log(self._whitening.diagonal()).sum() - self.width / 2 * log(2 * pi))

    @property
    def log_uniform(self) -> float:
        """Log-density of an outlier."""
        return -self.width / 2 * log(self._image[0] * self._image[1])

    @cached_property
    def _factor(self) -> float:
        """Share of the Gaussian's information that outliers leave."""
        whitened = self.log_uniform - float(np.log(self._whitening.diagonal()).sum())
        return information_factor(self.width, self.outliers, whitened)


@dataclass(frozen=True, eq=False)
class StereoCamera(PinholeCamera):
    """Pixels (u, v) of landmarks in the left, then in the right image, ``baseline`` metres apart.

    >>> camera = StereoCamera(
    ...     [[0.0, 0.0, 5.0]], 100.0, 100.0, 50.0, 50.0, covariance=np.eye(4), baseline=0.5
    ... )
    >>> level = Pose(np.zeros((1, 3)), np.eye(3)[None])
    >>> camera.project(level, camera.landmarks)
    array([[[50., 50., 40., 50.]]])
    """

    baseline: float = 0.0

    width = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.positive("baseline", self.baseline)

    def _pixels(self, points: Array) -> Array:
        left = super()._pixels(points)
        disparity = self.fu * self.baseline / np.maximum(points[..., 2], self.nearest)
        right = left.copy()
        right[..., 0] -= disparity
        return np.concatenate([left, right], axis=-1)

    def _pixel_derivatives(self, points: Array) -> Array:
        left = super()._pixel_derivatives(points)
        z, right = points[..., 2], left.copy()
        far = np.maximum(z, self.nearest)
        right[..., 0, 2] += np.where(z > self.nearest, self.fu * self.baseline / far**2, 0.0)
        return np.concatenate([left, right], axis=-2)

    def triangulate(self, states: Pose, pixels: Array) -> Array:
        """Positions (n, m, 3) of landmarks with these pixels (m, 4), seen from n poses."""
        disparity = np.maximum(pixels[:, 0] - pixels[:, 2], np.finfo(float).eps)
        z = np.maximum(self.fu * self.baseline / disparity, self.nearest)
        x = (pixels[:, 0] - self.cu) * z / self.fu
        y = (pixels[:, 1::2].mean(axis=1) - self.cv) * z / self.fv
        body = np.stack([x, y, z], axis=1) @ np.asarray(self.rotation) + self.position
        return np.asarray(states.position[:, None] + body @ states.rotation.swapaxes(1, 2))
