r"""A depth camera in a simple scene: the position of a drone from images of 16 by 12 pixels.

The scene is a room with boxes and spheres, rendered for each particle; the camera's attitude is
known, and it looks along the first axis.  The depth of a pixel has Gaussian noise, or is random
with a small probability: without this floor one pixel at an edge would decide everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.gaussians.mixture import GaussianMixture
from skh.models.robot_sensors.kernels import render
from skh.models.robot_sensors.noise import log_floored_density
from skh.models.simulation import simulate

ROOM = np.array([-2.0, -4.0, 0.0, 8.0, 4.0, 4.0])  # two corners, metres
BOXES = np.array([[4.0, -2.5, 0.0, 5.0, -1.0, 2.5], [5.5, 1.0, 0.0, 6.5, 3.0, 1.0]])
SPHERES = np.array([[4.0, 1.5, 2.8, 0.6], [3.5, -0.2, 0.8, 0.5], [6.0, -0.3, 3.0, 0.7]])
DEEPEST = 12.0  # metres; random depths are uniform up to it
PULL = 0.9  # share of the distance from the middle that is left after one step
MIDDLE = np.array([0.0, 0.0, 1.8])


@dataclass(frozen=True)
class DepthCamera:
    """The position of a drone that hovers in a room, observed by depth images."""

    noise: float = 0.2  # standard deviation of a depth, metres
    outliers: float = 0.1  # share of random depths
    step_noise: float = 0.15  # standard deviation of a step in each direction, metres
    pixels: tuple[int, int] = (16, 12)  # across and down
    width: float = pi / 3  # angle of view across

    def __post_init__(self) -> None:
        for name in ("noise", "step_noise", "width"):
            _checks.positive(name, getattr(self, name))
        _checks.fraction("outliers", self.outliers)
        for pixels in self.pixels:
            _checks.positive_int("pixels", pixels)

    @cached_property
    def rays(self) -> Array:
        """Directions of the pixels, unit vectors (pixels, 3)."""
        across, down = self.pixels
        size = 2 * np.tan(self.width / 2) / across
        left = (np.arange(across) - (across - 1) / 2) * size
        up = (np.arange(down) - (down - 1) / 2) * size
        y, z = (side.ravel() for side in np.meshgrid(left, up))
        directions = np.stack([np.ones_like(y), y, z], axis=1)
        return np.asarray(directions / np.linalg.norm(directions, axis=1, keepdims=True))

    def depths(self, x: Array) -> Array:
        """Depths (n, pixels) along the rays from positions ``x`` (n, 3)."""
        images = np.empty((len(x), len(self.rays)))
        render(images, np.ascontiguousarray(x), self.rays, ROOM, BOXES, SPHERES)
        return images

    def prior(self) -> GaussianMixture:
        """Standard deviations of 0.3 m about the middle."""
        return GaussianMixture([1.0], [MIDDLE], 0.09)

    def transition(self, t: int, x: Array) -> tuple[Array, float]:
        """One Gaussian per particle: the drone returns to the middle."""
        return MIDDLE + PULL * (x - MIDDLE), self.step_noise**2

    def log_likelihood(self, t: int, x: Array, y: Array) -> Array:
        """Sum over pixels of the log-density of the depth, with its floor."""
        y = _checks.shaped("y", y, len(self.rays))
        residual = y - self.depths(x)
        return np.asarray(
            log_floored_density(residual, self.noise, self.outliers, DEEPEST).sum(axis=-1)
        )

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t, an image as a vector."""
        noisy = self.depths(x[None])[0] + self.noise * rng.standard_normal(len(self.rays))
        random = rng.uniform(0, DEEPEST, len(noisy))
        return np.where(rng.random(len(noisy)) < self.outliers, random, noisy)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, 3) and observations (T, pixels)."""
        return simulate(self, T, rng)


def depth_camera() -> DepthCamera:
    """Return the model with a depth camera."""
    return DepthCamera()
