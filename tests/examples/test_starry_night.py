"""The stereo model of the benchmark `starry_night`, on a log made up here."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial.transform import Rotation

import skh
from skh.geometry import SE3, Pose

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import starry_night

STEPS = 12


def made_up(path):
    """Write a log of a camera that moves sideways before a wall of landmarks."""
    rng = np.random.default_rng(0)
    times = 0.1 * np.arange(STEPS)
    velocity, turns = np.tile([0.5, 0.1, 0.0], (STEPS, 1)), np.tile([0.0, 0.0, 0.3], (STEPS, 1))
    r, R = [np.zeros(3)], [Rotation.identity()]
    for k in range(STEPS - 1):
        r.append(r[-1] + 0.1 * R[-1].apply(velocity[k]))
        R.append(R[-1] * Rotation.from_rotvec(0.1 * turns[k]))
    landmarks = rng.uniform([-1, -1, 2], [2, 1, 4], (20, 3))
    variances = np.array([38.0, 130.0, 42.0, 132.0])
    pixels = np.full((4, STEPS, 20), -1.0)
    for k in range(STEPS):
        body = R[k].inv().apply(landmarks - r[k])
        x, y, z = body.T
        exact = np.stack([480 * x / z + 320, 480 * y / z + 240, 480 * (x - 0.24) / z + 320])
        exact = np.concatenate([exact, exact[1:2]])
        pixels[:, k] = exact + np.sqrt(variances)[:, None] * rng.standard_normal((4, 20))
        pixels[:, k, k % 3 :: 3] = -1.0
    pixels[:, 5] = -1.0
    savemat(
        path,
        {
            "theta_vk_i": Rotation.concatenate(R).as_rotvec().T,
            "r_i_vk_i": np.array(r).T,
            "t": times[None],
            "v_vk_vk_i": velocity.T,
            "w_vk_vk_i": turns.T,
            "v_var": np.full((3, 1), 0.01),
            "w_var": np.full((3, 1), 0.01),
            "rho_i_pj_i": landmarks.T,
            "y_k_j": pixels,
            "C_c_v": np.eye(3),
            "rho_v_c_v": np.zeros((3, 1)),
            **{"fu": 480.0, "fv": 480.0, "cu": 320.0, "cv": 240.0, "b": 0.24},
        },
    )


@pytest.fixture
def model(tmp_path):
    made_up(tmp_path / "log.mat")
    return starry_night.StarryNight(starry_night.Log.read(tmp_path / "log.mat"))


def test_a_log_is_read_and_followed(model):
    log = model.log
    assert log.pixels.shape == (STEPS, 20, 4)
    assert model.observations[5] is None
    variances = log.pixel_covariance().diagonal()
    np.testing.assert_allclose(variances, [38, 130, 42, 132], rtol=0.5)
    poses = Pose(log.truth.position[:1], log.truth.rotation[:1])
    for t in range(STEPS - 1):
        poses, S = model.transition(t, poses)
        np.testing.assert_allclose(poses.position[0], log.truth.position[t + 1], atol=1e-9)
        np.testing.assert_allclose(poses.rotation[0], log.truth.rotation[t + 1], atol=1e-9)
        np.testing.assert_allclose(S[0], 1e-4 * np.eye(6), atol=1e-12)
    error, _ = starry_night.position_error(model, skh.SecondLook(), 50, 0)
    assert error < 0.1


def test_the_likelihood_is_that_of_all_pixels_in_view(model):
    truth, y = model.log.truth, model.log.pixels[0]
    poses = SE3().plus(Pose(truth.position[:1], truth.rotation[:1]), 0.01 * np.ones((1, 6)))
    seen = ~np.isnan(y[:, 0])
    error = y[seen] - model.log.project(poses, np.flatnonzero(seen))[0]
    inverse = np.linalg.inv(model.log.pixel_covariance())
    expected = -0.5 * sum(e @ inverse @ e for e in error)
    np.testing.assert_allclose(model.log_likelihood(0, poses, y), [expected])


def test_data_are_found_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SKH_DATA", str(tmp_path))
    assert starry_night.data_file() == tmp_path / "starry_night" / "dataset3.mat"
