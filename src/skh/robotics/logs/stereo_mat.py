"""MATLAB logs of a stereo camera with rate sensors, such as "Starry Night".

Fields: ``t`` times, ``v_vk_vk_i`` and ``w_vk_vk_i`` velocities and turn rates in the axes of the
body, ``y_k_j`` pixels (u, v of the left and of the right image; -1: a landmark was not seen),
``rho_i_pj_i`` landmarks, ``C_c_v`` and ``rho_v_c_v`` rotation and position of the camera on the
body, ``fu``, ``fv``, ``cu``, ``cv``, ``b`` its parameters, ``r_i_vk_i`` and ``theta_vk_i`` true
positions and rotation vectors, and the variances ``v_var``, ``w_var`` and ``y_var``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skh._typing import Array
from skh.geometry import rotation
from skh.geometry.charts import Pose
from skh.robotics.logs.mat_fields import MatFields
from skh.robotics.logs.readings import Landmarks
from skh.trajectory import Trajectory

CAMERA_FIELDS = ("C_c_v", "rho_v_c_v", "fu", "fv", "cu", "cv", "b")
STEREO_FIELDS = ("t", "v_vk_vk_i", "w_vk_vk_i", "y_k_j", "rho_i_pj_i", "v_var", "w_var", "y_var")


@dataclass(frozen=True, eq=False)
class StereoRig:
    """Two cameras side by side on a body: their parameters in pixels, and their place."""

    fu: float
    fv: float
    cu: float
    cv: float
    baseline: float  # metres
    rotation: Array  # (3, 3), from the body's axes to the camera's
    position: Array  # (3,), of the camera in the body's axes

    def project(self, poses: Pose, landmarks: Array) -> Array:
        """Pixels (n, m, 4) of landmarks (m, 3) seen from n poses; NaN behind the camera."""
        body = (landmarks - poses.position[:, None, :]) @ poses.rotation
        x, y, z = np.moveaxis((body - self.position) @ self.rotation.T, -1, 0)
        z = np.where(z > 0, z, np.nan)
        v = self.fv * y / z + self.cv
        left, right = self.fu * x / z + self.cu, self.fu * (x - self.baseline) / z + self.cu
        return np.stack([left, v, right, v], axis=-1)


@dataclass(frozen=True, eq=False)
class StereoLog:
    """Rates and images, one row per time, with the variances that the log states."""

    times: Array  # (T,), seconds
    velocities: Array  # (T, 3), metres per second in the body's axes
    turn_rates: Array  # (T, 3), radians per second in the body's axes
    pixels: Array  # (T, L, 4): u and v of the left and of the right image; NaN: not seen
    landmarks: Landmarks  # L positions (3,); ids are 1, 2, ...
    rig: StereoRig
    velocity_variances: Array  # (3,)
    turn_rate_variances: Array  # (3,)
    pixel_variances: Array  # (4,)
    truth: Trajectory | None
    notes: tuple[str, ...] = ()

    def pixel_covariance(self) -> Array:
        """Covariance (4, 4) of the pixels' errors at the true poses: left and right are correlated.

        Without a truth the diagonal of the variances that the log states.
        """
        if self.truth is None:
            return np.diag(self.pixel_variances)
        poses = Pose(self.truth.positions, self.truth.rotations)
        errors = self.pixels - self.rig.project(poses, self.landmarks.positions)
        rows = errors[np.isfinite(errors).all(axis=2)]
        return np.cov(rows.T) if len(rows) > 4 else np.diag(self.pixel_variances)


def read_stereo_log(path: str | Path) -> StereoLog:
    """Read a MATLAB file with these fields.

    Two versions of "Starry Night" circulate, one with turn rates of the wrong sign: where the true
    rotations say so, the sign is changed, and the notes say it.
    """
    mat = MatFields(path, (*STEREO_FIELDS, *CAMERA_FIELDS), "a log of stereo images")
    times = mat.times("t")
    T = len(times)
    marks = mat.array("rho_i_pj_i", 3, "L").T
    truth = _true_trajectory(mat, times)
    rates = mat.array("w_vk_vk_i", 3, T).T
    notes: tuple[str, ...] = ()
    if truth is not None and _is_negated(times, rates, truth.rotations):
        rates, notes = -rates, ("the turn rates had the wrong sign, by the true rotations",)
    return StereoLog(
        times,
        mat.array("v_vk_vk_i", 3, T).T,
        rates,
        _pixels(mat, T, len(marks)),
        Landmarks(np.arange(1, len(marks) + 1), marks),
        _rig(mat),
        mat.variances("v_var", 3),
        mat.variances("w_var", 3),
        mat.variances("y_var", 4),
        truth,
        notes,
    )


def _pixels(mat: MatFields, T: int, L: int) -> Array:
    pixels = mat.array("y_k_j", 4, T, L).transpose(1, 2, 0).copy()
    pixels[(pixels == -1).any(axis=2)] = np.nan
    return pixels


def _rig(mat: MatFields) -> StereoRig:
    turn = mat.array("C_c_v", 3, 3)
    try:
        turn = rotation.rotations("C_c_v", turn)
    except ValueError as error:
        raise mat.error("C_c_v", f"be a rotation: {error}") from error
    focal = (mat.positive("fu"), mat.positive("fv"))
    centre = (mat.number("cu"), mat.number("cv"))
    return StereoRig(*focal, *centre, mat.positive("b"), turn, mat.vector("rho_v_c_v", 3))


def _true_trajectory(mat: MatFields, times: Array) -> Trajectory | None:
    if not (mat.has("r_i_vk_i") and mat.has("theta_vk_i")):
        return None
    T = len(times)
    turns = rotation.exp(mat.array("theta_vk_i", 3, T).T)
    return Trajectory(times, mat.array("r_i_vk_i", 3, T).T, turns)


def _is_negated(times: Array, rates: Array, rotations: Array) -> bool:
    """Whether turns between true rotations are opposite to the rates."""
    if len(times) < 2:
        return False
    turned = rotation.log(rotations[:-1].swapaxes(1, 2) @ rotations[1:])
    expected = np.diff(times)[:, None] * rates[:-1]
    size = np.sqrt((turned**2).sum() * (expected**2).sum())
    return bool((turned * expected).sum() < -0.5 * size)
