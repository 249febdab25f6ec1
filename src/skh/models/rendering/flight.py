"""A flight through a hall: the pose of a drone from depth images and visual odometry."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import pi

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.geometry import rotation
from skh.geometry.charted import Charted
from skh.geometry.charts import SE3, Pose
from skh.models.rendering.camera import InverseDepthCamera
from skh.models.rendering.scene import Scene, VoxelMap

CHART = SE3()
STEPS_PER_ROUND = 60  # of the path, an ellipse of about 13 m
MIDDLE, RADII, RISE = (5.0, 4.0), (2.6, 2.0), (1.5, 0.3)  # metres; mean height and its change
TILT = 0.1  # radians of pitch and roll


def path(steps: int) -> Pose:
    """Poses of the planned flight, round the hall with wobbling pitch and roll."""
    a = 2 * pi * np.arange(steps) / STEPS_PER_ROUND
    (x, y), (across, along), (height, change) = MIDDLE, RADII, RISE
    position = np.stack(
        [x + across * np.cos(a), y + along * np.sin(a), height + change * np.sin(2 * a)], axis=1
    )
    heading = np.arctan2(along * np.cos(a), -across * np.sin(a))
    level = np.zeros_like(a)
    yaw = rotation.exp(np.stack([level, level, heading], axis=1))
    tilt = TILT * np.stack([np.sin(3 * a), np.cos(2 * a), level], axis=1)
    return Pose(position, yaw @ rotation.exp(tilt))


def odometry(poses: Pose) -> Array:
    """Way and rotation vector (T - 1, 6) from each pose to the next, in the body's axes."""
    R, way = poses.rotation[:-1], np.diff(poses.position, axis=0)
    body = np.einsum("tji,tj->ti", R, way)
    return np.concatenate([body, rotation.between(R, poses.rotation[1:])], axis=1)


@lru_cache(maxsize=1)
def map_of_hall() -> VoxelMap:
    """The map of the hall with its furniture, made once."""
    return Scene().voxels()


@dataclass(frozen=True, eq=False)
class RenderedFlight:
    """Poses of a drone with visual odometry and a depth camera, up to its chart.

    ``controls`` (T - 1, 6) are the readings of the odometry: ways and rotation vectors in the
    body's axes.

    >>> flight = RenderedFlight(camera=InverseDepthCamera(pixels=(16, 12)))
    >>> poses, images = flight.simulate(3, rng=0)
    >>> images.shape, flight.log_likelihood(0, poses, images[0]).argmax()
    ((3, 12, 16), np.int64(0))
    """

    scene: VoxelMap = field(default_factory=map_of_hall)
    camera: InverseDepthCamera = InverseDepthCamera()
    start: Pose = field(default_factory=lambda: Pose(*(part[0] for part in path(1))))
    controls: Array = field(default_factory=lambda: odometry(path(STEPS_PER_ROUND)))
    start_noise: tuple[float, float] = (0.1, 0.05)  # standard deviations, metres and radians
    way_noise: float = 0.03  # of the odometry's way in each direction and step, metres
    turn_noise: float = 0.02  # of its rotation about each axis, radians

    def __post_init__(self) -> None:
        CHART.checked("start", self.start)
        controls = _checks.points("controls", self.controls, 6)
        object.__setattr__(self, "controls", controls)
        for name in ("way_noise", "turn_noise"):
            _checks.positive(name, getattr(self, name))
        for noise in self.start_noise:
            _checks.positive("start_noise", noise)

    @cached_property
    def step_covariance(self) -> Array:
        """Covariance (6, 6) of the increments around the odometry's pose."""
        return _covariance(self.way_noise, self.turn_noise)

    def prior(self) -> tuple[Pose, Array]:
        """The planned start and its uncertainty."""
        return self.start, _covariance(*self.start_noise)

    def transition(self, t: int, states: Pose) -> tuple[Pose, Array]:
        """Poses after the reading of the odometry, and the covariance of its errors."""
        known = len(self.controls)
        if not t < known:
            raise ValueError(f"t must be below the number of controls, {known}, got {t}")
        way, turn = self.controls[t, :3], self.controls[t, 3:]
        turned = rotation.turned(states.rotation, np.broadcast_to(turn, states.position.shape))
        return Pose(states.position + states.rotation @ way, turned), self.step_covariance

    def log_likelihood(self, t: int, states: Pose, y: Array) -> Array:
        """Compare an image with those rendered at the poses."""
        return self.camera.log_likelihood(self.scene, states, y)

    def observe(self, t: int, state: Pose, rng: np.random.Generator) -> Array:
        """Draw the image at one pose."""
        poses = Pose(state.position[None], state.rotation[None])
        image = self.camera.images(self.scene, poses)[0]
        return np.asarray(image + self.camera.errors(rng))

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Pose, Array]:
        """Draw poses (a stacked `Pose`) and images (T, pixels), at most one more than controls."""
        rng, T = _checks.generator(rng), _checks.positive_int("T", T)
        poses, images = [], []
        state, covariance = self.prior()
        for t in range(T):
            xi = np.linalg.cholesky(covariance) @ rng.standard_normal(6)
            state = CHART.plus(state, xi)
            poses.append(state)
            images.append(self.observe(t, state, rng))
            if t + 1 < T:
                state, covariance = self._moved(t, state)
        position, turned = (np.array(part) for part in zip(*poses, strict=True))
        return Pose(position, turned), np.array(images)

    def _moved(self, t: int, state: Pose) -> tuple[Pose, Array]:
        after, covariance = self.transition(t, Pose(state.position[None], state.rotation[None]))
        return Pose(after.position[0], after.rotation[0]), covariance

    def charted(self) -> Charted:
        """The model as filters take it."""
        return Charted(self, CHART)


class TellingFlight(RenderedFlight):
    """The same flight, telling the filter the expected information of its images.

    This takes twelve more images per step.
    """

    def information(self, t: int, states: Pose, y: Array) -> Array:
        """The information (6, 6) of an image at the mean of the poses."""
        noise = self.start_noise if t == 0 else (self.way_noise, self.turn_noise)
        return self.camera.information(self.scene, CHART.mean(states), np.repeat(noise, 3))


class ResidualFlight(RenderedFlight):
    """The same flight in residual form: an image is as many residuals as it has pixels."""

    def residuals(self, t: int, states: Pose, y: Array) -> Array:
        """Residuals (n, pixels) of an image; see `skh.filtering.residual_form`."""
        return self.camera.residuals(self.scene, states, y)


def _covariance(way: float, turn: float) -> Array:
    return np.diag([way**2] * 3 + [turn**2] * 3)
