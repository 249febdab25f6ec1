r"""A depth camera whose images are compared with images rendered from a map.

A stereo camera measures disparities, which are proportional to the *inverse* depth, with errors of
the same size near and far.  Errors have heavy tails (wrong matches, edges), a Student-t
distribution, and are not independent: a stereo matcher works with windows.  Images are simulated
with errors whose correlation is :math:`e^{-r^2 / 4 s^2}` at a distance of r pixels.

The likelihood cannot have that many dependent heavy tails in closed form.  It is a composite one:
the product of the pixels' densities to the power of one over the area of a correlated patch,
:math:`\int e^{-r^2 / 4 s^2} = 4 \pi s^2` pixels.  An image of 64 by 48 pixels is then worth
65 independent ones; more pixels of the same view cost more and tell the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log, pi, tan

import numpy as np
import scipy  # its submodules load on first use

from skh import _checks
from skh._typing import Array
from skh.geometry.charts import Pose
from skh.models.rendering import kernels
from skh.models.rendering.scene import VoxelMap


@dataclass(frozen=True)
class InverseDepthCamera:
    """A camera that looks along the first axis of its body, the second to the left, the third up.

    >>> camera = InverseDepthCamera(pixels=(16, 12))
    >>> camera.rays.shape, round(camera.patches, 1)
    ((192, 3), 66.3)
    """

    pixels: tuple[int, int] = (64, 48)  # across and down
    width: float = 1.4  # angle of view across, radians
    noise: float = 0.01  # scale of the errors of inverse depths, 1 / metres
    freedom: int = 4  # degrees of freedom of their t distribution
    correlation: float = 0.03  # s of the errors' correlation, relative to the width of the image
    jitter: float = 0.01  # of the pixels' directions, relative to the width of the image
    nearest: float = 0.2  # metres
    farthest: float = 20.0  # metres

    def __post_init__(self) -> None:
        for name in ("width", "noise", "correlation", "nearest", "farthest"):
            _checks.positive(name, getattr(self, name))
        if self.width >= pi:
            raise ValueError(f"width must be an angle of view below pi, got {self.width}")
        for pixels in self.pixels:
            _checks.positive_int("pixels", pixels)
        _checks.positive_int("freedom", self.freedom)

    @cached_property
    def rays(self) -> Array:
        """Directions of the pixels in the body's axes, unit vectors (pixels, 3), rows downwards."""
        across, down = self.pixels
        size = 2 * tan(self.width / 2) / across
        left = ((across - 1) / 2 - np.arange(across)) * size
        up = ((down - 1) / 2 - np.arange(down)) * size
        y, z = (side.ravel() for side in np.meshgrid(left, up))
        directions = np.stack([np.ones_like(y), y, z], axis=1)
        return np.asarray(directions / np.linalg.norm(directions, axis=1, keepdims=True))

    @property
    def blur(self) -> float:
        """Standard deviation s of the correlated errors' smoothing, in pixels."""
        return self.correlation * self.pixels[0]

    @property
    def patches(self) -> float:
        """Number of independent pixels that an image is worth."""
        return len(self.rays) / max(4 * pi * self.blur**2, 1.0)

    def inverse_depths(self, scene: VoxelMap, poses: Pose) -> Array:
        """Render images (n, pixels) at ``poses``."""
        ways = np.empty((len(poses.position), len(self.rays)))
        far, (places, R) = self.farthest / scene.spacing, _in_voxels(scene, poses)
        kernels.trace_all(ways, scene.cells, places, R, self.rays, far)
        ways = np.maximum(ways * scene.spacing, self.nearest)
        return np.asarray(1.0 / (self.rays[:, 0] * ways))

    def log_likelihood(self, scene: VoxelMap, poses: Pose, image: Array) -> Array:
        """Composite log-likelihoods (n,) of an image; its NaN pixels are left out."""
        image = _checks.shaped("y", image, len(self.rays))
        scales = self.scales(image)
        total, (places, R) = np.empty(len(poses.position)), _in_voxels(scene, poses)
        kernels.image_errors(
            *(total, scene.cells, places, R, self.rays, self.rays[:, 0] * scene.spacing, image),
            *(scales, self.nearest / scene.spacing, self.farthest / scene.spacing),
            float(self.freedom),
        )
        norm = np.nansum(self._log_norm - np.log(scales) + 0.0 * image)
        share = self.patches / len(self.rays)
        return np.asarray(share * (norm - (self.freedom + 1) / 2 * total))

    def scales(self, image: Array) -> Array:
        """Scales of the errors of pixels (pixels,): larger where the image is steep."""
        across, down = self.pixels
        slopes = np.gradient(image.reshape(down, across))
        steep = np.hypot(*slopes).ravel() * self.jitter * across
        return np.asarray(np.hypot(self.noise, np.nan_to_num(steep)))

    @property
    def _log_norm(self) -> float:
        """Log-density of an error of zero."""
        nu = self.freedom
        return lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(nu * pi)

    def errors(self, rng: np.random.Generator) -> Array:
        """Draw the errors (pixels,) of an image: a correlated Student-t field."""
        white = rng.standard_normal((1 + self.freedom, *self.pixels[::-1]))
        smooth = np.array([self._smooth(field) for field in white])
        chi2 = (smooth[1:] ** 2).mean(axis=0)
        return np.asarray(self.noise * smooth[0] / np.sqrt(chi2)).ravel()

    def _smooth(self, white: Array) -> Array:
        """Smooth a field periodically, and scale it to unit variance again."""
        impulse = np.zeros_like(white)
        impulse[0, 0] = 1.0
        blurred, response = (
            scipy.ndimage.gaussian_filter(field, self.blur, mode="wrap")
            for field in (white, impulse)
        )
        return np.asarray(blurred / np.linalg.norm(response))

    def information(self, scene: VoxelMap, pose: Pose) -> Array:
        r"""Expected information (6, 6) of an image about the increments of one pose.

        A ray u that hits a plane of normal n after the way s has :math:`ds/dp = -n / (n'Ru)` and
        :math:`ds/d\theta = -s (u \times R'n) / (n'Ru)`; edges are neglected, and so are rays that
        graze a surface.
        """
        p, R = pose.position, pose.rotation
        depth = 1.0 / self.inverse_depths(scene, Pose(p[None], R[None]))[0]
        way, u = depth / self.rays[:, 0], self.rays
        points, normals = p + way[:, None] * (u @ R.T), np.empty_like(u)
        kernels.normals_at(normals, scene.cells, scene.places(points))
        facing = np.minimum((normals * (u @ R.T)).sum(axis=1), -0.1)
        turning = way[:, None] * np.cross(u, normals @ R)
        J = np.concatenate([-normals, -turning], axis=1) / facing[:, None]
        J *= (-self.rays[:, 0] / depth**2)[:, None]
        fisher = (self.freedom + 1) / (self.freedom + 3) / self.noise**2
        return np.asarray(self.patches / len(u) * fisher * J.T @ J)


def _in_voxels(scene: VoxelMap, poses: Pose) -> tuple[Array, Array]:
    return scene.places(poses.position), np.ascontiguousarray(poses.rotation)
