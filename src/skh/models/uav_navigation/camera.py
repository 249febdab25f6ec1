"""Simulated camera: projection of landmarks, and a tracker that follows, loses and finds them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skh._typing import Array, Integers
from skh.geometry.charts import Pose
from skh.models.uav_navigation.parameters import Parameters

STEEP = 0.6  # landmarks are found only on rays that descend at least this much per metre
FLIP = np.array([1.0, -1.0, -1.0])  # from body to camera axes; the camera looks down

Find = Callable[[Pose, Array, Generator], "Array | None"]


def project(pose: Pose, points: Array, focal: float) -> tuple[Array, Array]:
    """Pixels (k, 2) of points (k, 3), NaN where the depth is not positive, and the depths (k,)."""
    x, y, z = (FLIP * ((points - pose.position) @ pose.rotation)).T
    ahead = np.where(z > 0, z, np.nan)
    return focal * np.stack([x / ahead, y / ahead], axis=1), z


def in_image(pixels: Array, q: Parameters) -> NDArray[np.bool_]:
    """Whether pixels (k, 2) are inside the image, (k,); False for NaN."""
    return np.asarray((np.abs(pixels) <= [q.width / 2, q.height / 2]).all(axis=1))


class Tracker:
    """Simulated tracker that follows points from image to image; ``find`` supplies new ones."""

    def __init__(self, q: Parameters, find: Find, rng: Generator) -> None:
        self._q, self._find, self._rng = q, find, rng
        self._tracks: dict[int, Array] = {}
        self.found: list[Array] = []

    def image(self, pose: Pose) -> tuple[Integers, Array]:
        """Track numbers (k,) and noisy pixels (k, 2) of the image taken at a pose."""
        self._drop(pose)
        while len(self._tracks) < self._q.tracks:
            point = self._find(pose, self._points(), self._rng)
            if point is None:
                break
            self._tracks[len(self.found)] = point
            self.found.append(point)
        pixels, _ = project(pose, self._points(), self._q.focal)
        noise = self._q.pixel * self._rng.standard_normal(pixels.shape)
        return np.array(list(self._tracks), dtype=np.int64), pixels + noise

    def _drop(self, pose: Pose) -> None:
        pixels, _ = project(pose, self._points(), self._q.focal)
        kept = in_image(pixels, self._q) & (self._rng.random(len(pixels)) >= self._q.track_loss)
        items = zip(self._tracks.items(), kept, strict=True)
        self._tracks = {track: point for (track, point), keep in items if keep}

    def _points(self) -> Array:
        return np.array(list(self._tracks.values())).reshape(-1, 3)


def mapped(field: Array, q: Parameters) -> Find:
    """Return a `Find` that picks landmarks of a field that are in view and not yet followed."""

    def find(pose: Pose, followed: Array, rng: Generator) -> Array | None:
        seen = field[in_image(project(pose, field, q.focal)[0], q)]
        free = seen[~np.isin(seen[:, 0], followed[:, 0])]
        return free[rng.integers(len(free))] if len(free) else None

    return find


def on_the_ray(q: Parameters) -> Find:
    """Return a `Find` that draws points as the model does: any pixel, height N(0, ground^2)."""

    def find(pose: Pose, followed: Array, rng: Generator) -> Array | None:
        for _ in range(100):
            u, v = rng.uniform(-0.5, 0.5, 2) * [q.width, q.height] / q.focal
            ray = pose.rotation @ (FLIP * [u, v, 1.0])
            height = q.ground * rng.standard_normal()
            if ray[2] < -STEEP * np.linalg.norm(ray) and height < pose.position[2]:
                return np.asarray(pose.position + (height - pose.position[2]) / ray[2] * ray)
        return None

    return find
