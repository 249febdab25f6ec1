"""A real log: a hand-moved stereo camera over 20 known landmarks, filtered in SE(3).

    SKH_DATA=<folder of data sets> python benchmarks/starry_night.py [--n 50] [--runs 5]

"Starry Night" (T. Barfoot, University of Toronto; see Clement et al., CRV 2015) has measured
velocities and turn rates, stereo images of landmarks, and Vicon positions, the truth here.
Prints the RMSE of the filtered position over steps 1 to 1700, the median and all runs of each rule.
The file dataset3.mat is looked for in the folder starry_night of SKH_DATA, or of ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.spatial.transform import Rotation

import skh
from skh.geometry import SE3, Charted, Pose

STEPS = 1_701  # the last 200 have few landmarks
NEAREST = 0.05  # metres of depth in front of the camera; nearer points are put there
START = np.diag([0.05**2] * 6)  # about the true pose: metres and radians
RULES = {
    "PF": skh.Stratified(),
    "default": skh.default_rule(),
    "second look": skh.SecondLook(),
    "default plan": skh.default_plan(),
}


def data_file() -> Path:
    """Where the log should be."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("SKH_DATA", beside)) / "starry_night" / "dataset3.mat"


@dataclass(frozen=True)
class Log:
    """The log, one row per step."""

    times: np.ndarray  # (T,)
    truth: Pose  # (T, 3), (T, 3, 3)
    velocity: np.ndarray  # (T, 3), metres per second in the body's axes
    turn_rate: np.ndarray  # (T, 3), radians per second in the body's axes
    pixels: np.ndarray  # (T, 20, 4): u and v of the left and of the right image; NaN: not seen
    landmarks: np.ndarray  # (20, 3)
    velocity_variance: np.ndarray
    turn_rate_variance: np.ndarray
    camera: dict[str, np.ndarray]

    @classmethod
    def read(cls, path: Path, steps: int = STEPS) -> Log:
        """Read the first steps of the file."""
        raw = loadmat(path)
        rotations = Rotation.from_rotvec(raw["theta_vk_i"].T[:steps]).as_matrix()
        pixels = raw["y_k_j"].transpose(1, 2, 0)[:steps].astype(float)
        pixels[pixels[..., 0] == -1] = np.nan
        names = ("C_c_v", "rho_v_c_v", "fu", "fv", "cu", "cv", "b")
        return cls(
            times=raw["t"][0, :steps],
            truth=Pose(raw["r_i_vk_i"].T[:steps], rotations),
            velocity=raw["v_vk_vk_i"].T[:steps],
            turn_rate=raw["w_vk_vk_i"].T[:steps],
            pixels=pixels,
            landmarks=raw["rho_i_pj_i"].T,
            velocity_variance=raw["v_var"].ravel(),
            turn_rate_variance=raw["w_var"].ravel(),
            camera={name: np.squeeze(raw[name]) for name in names},
        )

    def project(self, poses: Pose, j: np.ndarray) -> np.ndarray:
        """Pixels (n, m, 4) of the landmarks ``j`` seen from n poses."""
        c = self.camera
        body = (self.landmarks[j] - poses.position[:, None, :]) @ poses.rotation
        x, y, z = np.moveaxis((body - c["rho_v_c_v"]) @ c["C_c_v"].T, -1, 0)
        z = np.maximum(z, NEAREST)
        v = c["fv"] * y / z + c["cv"]
        return np.stack(
            [c["fu"] * x / z + c["cu"], v, c["fu"] * (x - c["b"]) / z + c["cu"], v], axis=-1
        )

    def pixel_covariance(self) -> np.ndarray:
        """Covariance of the pixels' errors at the true poses; left and right are correlated."""
        errors = []
        for t in range(len(self.times)):
            j = np.flatnonzero(~np.isnan(self.pixels[t, :, 0]))
            pose = Pose(self.truth.position[t : t + 1], self.truth.rotation[t : t + 1])
            errors.append(self.pixels[t, j] - self.project(pose, j)[0])
        return np.cov(np.concatenate(errors).T)


class StarryNight:
    """Measured velocities drive the pose; stereo images of known landmarks observe it."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.root = np.linalg.inv(np.linalg.cholesky(log.pixel_covariance()))

    def prior(self) -> tuple[Pose, np.ndarray]:
        """The true pose, with some error."""
        truth = self.log.truth
        return Pose(truth.position[0], truth.rotation[0]), START

    def transition(self, t: int, poses: Pose) -> tuple[Pose, np.ndarray]:
        """Move and turn by the rates; positions along the world's axes."""
        log, R = self.log, poses.rotation
        dt = log.times[t + 1] - log.times[t]
        turn = Rotation.from_rotvec(dt * log.turn_rate[t]).as_matrix()
        S = np.zeros((len(R), 6, 6))
        S[:, :3, :3] = (R * (dt**2 * log.velocity_variance)) @ R.swapaxes(1, 2)
        S[:, 3:, 3:] = np.diag(dt**2 * log.turn_rate_variance)
        return Pose(poses.position + R @ (dt * log.velocity[t]), R @ turn), S

    def log_likelihood(self, t: int, poses: Pose, y: Any) -> np.ndarray:
        """Gaussian errors of the pixels of all landmarks in view."""
        j = np.flatnonzero(~np.isnan(y[:, 0]))
        error = (y[j] - self.log.project(poses, j)) @ self.root.T
        return -0.5 * (error**2).sum(axis=(1, 2))

    @property
    def observations(self) -> list[np.ndarray | None]:
        """The images, None where no landmark is in view."""
        return [None if np.isnan(y).all() else y for y in self.log.pixels]


def position_error(model: StarryNight, rule: Any, n: int, seed: int) -> tuple[float, float]:
    """RMSE of the filtered positions from step 1 on, metres, and the seconds of the run."""
    charted, begin = Charted(model, SE3()), perf_counter()
    result = skh.particle_filter(charted, model.observations, rule, n, rng=seed)
    error = result.mean_states.position - model.log.truth.position
    return float(np.sqrt((error[1:] ** 2).sum(axis=1).mean())), perf_counter() - begin


def main() -> None:
    """Print the errors of all rules."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--n", type=int, default=50)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--rules", nargs="*", default=list(RULES), choices=list(RULES))
    chosen = options.parse_args()
    path = data_file()
    if not path.is_file():
        sys.exit(f"{path} not found: set SKH_DATA to the folder of data sets")
    model = StarryNight(Log.read(path))
    for name in chosen.rules:
        runs = [position_error(model, RULES[name], chosen.n, seed) for seed in range(chosen.runs)]
        errors = [error for error, _ in runs]
        seconds = np.median([seconds for _, seconds in runs])
        each = " ".join(f"{error:.3f}" for error in errors)
        print(f"{name:12s} n={chosen.n}: {np.median(errors):.3f} m  ({each}; {seconds:.0f} s)")


if __name__ == "__main__":
    main()
