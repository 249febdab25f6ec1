"""A simulated flight of a stereo camera over landmarks, drawn by `drawings.py`."""

import numpy as np

from skh.geometry import Pose
from skh.robotics import BodyRates, ImuRates, StereoCamera, localization_model


def stereo_flight(steps=150):
    """A simulated camera over landmarks: model, observations and true positions."""
    rng = np.random.default_rng(0)
    landmarks = rng.uniform([-2, -2, 2], [4, 4, 4], (20, 3))
    camera = StereoCamera(
        landmarks, 480.0, 480.0, 320.0, 240.0, covariance=40 * np.eye(4), baseline=0.24
    )
    motion = ImuRates(velocity_variance=0.002, turn_rate_variance=0.02)
    start, turn = Pose(np.zeros(3), np.eye(3)), 2 * np.pi / steps / 0.1
    controls = [BodyRates(0.1, [0.3, 0.0, 0.0], [0.0, 0.0, turn])] * (steps - 1)
    pose, truth = Pose(np.zeros((1, 3)), np.eye(3)[None]), [np.zeros(3)]
    ys = [camera.observe(start, rng)]
    for control in controls:
        pose, _ = motion.move(pose, control)
        truth.append(pose.position[0])
        ys.append(camera.observe(Pose(pose.position[0], pose.rotation[0]), rng))
    model = localization_model((start, 0.05**2 * np.eye(6)), motion, camera, controls)
    return model, ys, np.array(truth), landmarks
