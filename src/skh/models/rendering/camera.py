r"""A depth camera whose images are compared with images rendered from a map.

A stereo camera measures disparities, which are proportional to the *inverse* depth, with errors of
the same size near and far.  It finds them for windows of several pixels.  Hence edges are blurred,
and the errors of neighbouring pixels are not independent.  Here an image is the inverse depth of
each pixel's ray, averaged twice over square windows, plus noise that is white before it is averaged
by the same windows.  Errors have heavy tails, a Student-t distribution, because matches are
sometimes wrong.

So many dependent heavy tails have no density in closed form.  The likelihood is a composite one:
the product of the pixels' densities to the power of one over the area of a correlated patch, the
integral of the correlation.  Pixels beyond one per patch make the image smoother, but not sharper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log, pi, tan

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.geometry.charts import SE3, Pose
from skh.models.rendering import kernels
from skh.models.rendering.scene import VoxelMap


@dataclass(frozen=True)
class InverseDepthCamera:
    """A camera that looks along the first axis of its body, the second to the left, the third up.

    >>> camera = InverseDepthCamera()
    >>> camera.rays.shape, camera.window, round(camera.patches)
    ((3888, 3), 5, 72)
    """

    pixels: tuple[int, int] = (72, 54)  # across and down
    width: float = 1.4  # angle of view across, radians
    noise: float = 0.01  # scale of the errors of inverse depths, 1 / metres
    freedom: int = 4  # degrees of freedom of their t distribution
    blur: float = 0.08  # width of the windows relative to that of the image
    nearest: float = 0.2  # metres
    farthest: float = 20.0  # metres

    def __post_init__(self) -> None:
        for name in ("width", "noise", "blur", "nearest", "farthest"):
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
    def window(self) -> int:
        """Width of the windows in pixels, an odd number."""
        return 2 * round((self.blur * self.pixels[0] - 1) / 2) + 1

    @property
    def patches(self) -> float:
        """Number of independent pixels that an image is worth.

        Averaging white noise twice over m pixels leaves (2 m^2 + 1) / (3 m^3) of its variance, in
        each direction: the inverse of the integral of the correlation.
        """
        m = self.window
        return len(self.rays) * ((2 * m**2 + 1) / (3 * m**3)) ** 2

    def images(self, scene: VoxelMap, poses: Pose) -> Array:
        """Render images without errors (n, rows, columns) at ``poses``."""
        images = np.empty((len(poses.position), *self.pixels[::-1]))
        kernels.render_all(
            *(images, scene.cells, scene.places(poses.position)),
            *(np.ascontiguousarray(poses.rotation), self.rays, self.rays[:, 0] * scene.spacing),
            *(self.nearest / scene.spacing, self.farthest / scene.spacing, self.window // 2),
        )
        return images

    def log_likelihood(self, scene: VoxelMap, poses: Pose, image: Array) -> Array:
        """Composite log-likelihoods (n,) of an image; its NaN pixels are left out."""
        image, shape = _checks.floats("y", image), self.pixels[::-1]
        if image.shape != shape:
            raise ValueError(f"y must have shape {shape}, got {image.shape}")
        total, nu = np.empty(len(poses.position)), self.freedom
        kernels.image_errors(total, self.images(scene, poses), image, self.noise, float(nu))
        norm = lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(nu * pi) - log(self.noise)
        seen = np.count_nonzero(~np.isnan(image))
        share = self.patches / len(self.rays)
        return np.asarray(share * (seen * norm - (nu + 1) / 2 * total))

    def residuals(self, scene: VoxelMap, poses: Pose, image: Array) -> Array:
        r"""Signed roots r of the pixels' terms, (n, pixels): log p = ``const - r @ r / 2`` by row.

        A Student-t term is :math:`(\nu + 1) / 2 \cdot \log(1 + r^2 / (\nu s^2))`.
        """
        share, nu = self.patches / len(self.rays), self.freedom
        error = ((image - self.images(scene, poses)) / self.noise).reshape(len(poses.position), -1)
        error = np.nan_to_num(error, nan=0.0)
        return np.asarray(np.sign(error) * np.sqrt(share * (nu + 1) * np.log1p(error**2 / nu)))

    def errors(self, rng: np.random.Generator) -> Array:
        """Draw the errors (rows, columns) of an image: a correlated Student-t field."""
        white = rng.standard_normal((1 + self.freedom, *self.pixels[::-1]))
        across, down = (_averaging(pixels, self.window // 2) for pixels in self.pixels)
        smooth = down @ white @ across.T
        smooth /= np.outer(*(np.linalg.norm(rows, axis=1) for rows in (down, across)))
        return np.asarray(self.noise * smooth[0] / np.sqrt((smooth[1:] ** 2).mean(axis=0)))

    def information(self, scene: VoxelMap, pose: Pose, deviations: Array) -> Array:
        r"""Expected information (6, 6) of an image about the increments of one pose.

        Images at ``deviations`` (6,) to both sides in each direction give the derivatives J, edges
        included; this takes twelve images.  The weight of a pixel is that of iteratively reweighted
        least squares, :math:`(\nu + 1) / (\nu s^2 + r^2)`, at the error r that is expected with
        these deviations.
        """
        steps = np.concatenate([np.diag(deviations), -np.diag(deviations)])
        around = Pose(np.tile(pose.position, (12, 1)), np.tile(pose.rotation, (12, 1, 1)))
        images = self.images(scene, SE3().plus(around, steps)).reshape(2, 6, -1)
        J = (images[0] - images[1]) / 2  # per deviation
        square = self.noise**2 + (J**2).sum(axis=0)
        weights = (self.freedom + 1) / (self.freedom * self.noise**2 + square)
        F = self.patches / len(self.rays) * (J * weights) @ J.T
        return np.asarray(F / np.outer(deviations, deviations))


def _averaging(pixels: int, half: int) -> Array:
    """The matrix that averages a line of pixels twice over 2 half + 1 of them."""
    once = np.empty((pixels, pixels))
    kernels.average_lines(once, np.eye(pixels), half)
    return np.asarray((once @ once).T)
