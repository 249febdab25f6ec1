"""FastSLAM: a joint extended Kalman filter of pose and map, in the plane and in space."""

import numpy as np
import pytest

import skh
from robot_drives import simulated
from skh.geometry import SE2, SE3, Pose
from skh.robotics import (
    BodyRates,
    BodyStep,
    FastSLAM,
    ImuRates,
    OmniDrive,
    RangeBearing,
    RangeSensor,
    StereoCamera,
    fastslam_model,
    landmark_map,
)

LANDMARKS = np.array([[4.0, 1.0], [3.0, -3.0], [-1.0, 4.0]])
NONE = np.empty((0, 2))
DRIVE = OmniDrive(0.02, 0.01, 0.02, 0.01, 0.02)
START = np.array([0.0, 0.0, 0.3])
SPREAD = np.diag([0.02, 0.02, 0.01]) ** 2


def joint_kalman(sensor, ys, controls, order):
    """Extended Kalman filter of the pose and all landmarks; first sightings initialise."""
    x, P, places, means = START.copy(), SPREAD.copy(), {}, []
    for t, y in enumerate(ys):
        if t:
            (after,), (Q,) = DRIVE.move(x[None, :3], controls[t - 1])
            F = np.eye(len(x))
            F[:2, 2] = x[1] - after[1], after[0] - x[0]
            P = F @ P @ F.T
            P[:3, :3] += Q
            x = np.concatenate([after, x[3:]])
        for i, *z in y:
            z, state = np.array(z), x[None, :3]
            if i in places:
                k = places[i]
                at = x[None, k : k + 2]
                H = np.zeros((2, len(x)))
                H[:, :3] = sensor.jacobian(state, at)[0, 0]
                H[:, k : k + 2] = sensor.landmark_jacobian(state, at)[0, 0]
                K = P @ H.T @ np.linalg.inv(H @ P @ H.T + sensor.covariance)
                x = x + K @ sensor.difference(z[None], sensor.project(state, at)[0])[0]
                P = P - K @ H @ P
            else:
                at = sensor.triangulate(state, z[None])[0]
                G = np.linalg.inv(sensor.landmark_jacobian(state, at)[0, 0])
                B = -G @ sensor.jacobian(state, at)[0, 0]
                cross = B @ P[:3]
                corner = B @ P[:3, :3] @ B.T + G @ sensor.covariance @ G.T
                places[i] = len(x)
                P = np.block([[P, cross.T], [cross, corner]])
                x = np.concatenate([x, at[0]])
        means.append(x[:3])
    rows = np.array([[places[i], places[i] + 1] for i in order])
    return np.array(means), P[:3, :3], x[rows], np.array([P[np.ix_(r, r)] for r in rows])


def drive(outliers=0.0, seed=1, steps=12):
    sensor = RangeBearing(LANDMARKS, 0.05, 0.02, outliers)
    controls = [BodyStep(0.2, 0.05, 0.05)] * (steps - 1)
    states, ys = simulated(DRIVE, sensor, START, controls, SE2(), np.random.default_rng(seed))
    ys = [y if t % 3 else y[:2] for t, y in enumerate(ys)]  # the third appears later
    return np.array(states), ys, controls


def test_map_and_path_agree_with_a_joint_kalman_filter():
    _, ys, controls = drive(steps=9)
    sensor = RangeBearing(NONE, 0.05, 0.02)
    named = [np.column_stack([[(11, 5, 42)[int(i)] for i in y[:, 0]], y[:, 1:]]) for y in ys]
    model = fastslam_model((START, SPREAD), DRIVE, sensor, controls)
    pf = skh.ParticleFilter(model, skh.QuasiMonteCarlo(), 4_000, rng=0)
    path = np.array([model.mean_state(pf.step(y)) for y in named])
    ids, means, covariances = landmark_map(pf.belief)
    assert list(ids) == [11, 5, 42]
    expected, P, at, S = joint_kalman(sensor, named, controls, ids)
    sd = np.sqrt(P.diagonal())
    assert np.abs(SE2().minus(path[-1], expected[-1]) / sd).max() < 0.3
    root = np.linalg.inv(np.linalg.cholesky(S))
    assert np.abs(np.einsum("lij,lj->li", root, means - at)).max() < 0.3
    ratio = np.trace(root @ covariances @ root.swapaxes(1, 2), axis1=1, axis2=2) / 2
    np.testing.assert_allclose(ratio, 1.0, atol=0.2)


def test_the_likelihood_of_a_known_landmark_is_that_of_a_gaussian():
    sensor = RangeBearing(NONE, 0.05, 0.02, outliers=0.1)
    model = FastSLAM((START, SPREAD), DRIVE, sensor, [])
    states = START + 0.01 * np.random.default_rng(0).standard_normal((5, 3))
    zero, carry = model.log_likelihood(0, states, [[7, 4.0, 0.1]], model.initial_carry(states))
    assert (zero == 0).all()
    P, m = carry.covariances[:, 0], carry.means[:, 0]
    z = np.array([4.1, 0.12])
    values, after = model.log_likelihood(1, states, [[7, *z]], carry)
    for i in range(5):
        G = sensor.landmark_jacobian(states[i : i + 1], m[i : i + 1])[0, 0]
        S = G @ P[i] @ G.T + sensor.covariance
        r = z - sensor.project(states[i : i + 1], m[i : i + 1])[0, 0]
        p = np.exp(-0.5 * r @ np.linalg.solve(S, r)) / (2 * np.pi * np.sqrt(np.linalg.det(S)))
        p_all = 0.9 * p + 0.1 / (20.0 * 2 * np.pi)
        assert values[i] == pytest.approx(np.log(p_all))
        share, K = 0.9 * p / p_all, P[i] @ G.T @ np.linalg.inv(S)
        np.testing.assert_allclose(after.means[i, 0], m[i] + share * K @ r, rtol=1e-9)
        mixed = P[i] - share * K @ G @ P[i] + share * (1 - share) * np.outer(K @ r, K @ r)
        np.testing.assert_allclose(after.covariances[i, 0], mixed, rtol=1e-7, atol=1e-12)
    assert np.linalg.matrix_rank(model.information(1, states, [[7, *z]], carry)[0]) == 2
    assert (model.information(1, states, [[8, *z]], carry) == 0).all()
    assert (model.information(0, states, [[8, *z]], None) == 0).all()


@pytest.mark.parametrize(
    "rule", [None, skh.Smoothed(skh.Stratified())], ids=["default", "smoothed"]
)
def test_default_plan_and_smoothing_make_maps(rule):
    states, ys, controls = drive(0.02, seed=2, steps=8)
    model = fastslam_model((START, SPREAD), DRIVE, RangeBearing(NONE, 0.05, 0.02, 0.02), controls)
    pf = skh.ParticleFilter(model, rule, 40, rng=0)
    for y in ys:
        belief = pf.step(y)
    _, means, covariances = landmark_map(belief)
    assert np.abs(SE2().minus(model.mean_state(belief), states[-1])).max() < 0.3
    assert np.abs(means - LANDMARKS).max() < 0.4
    assert np.linalg.eigvalsh(covariances).min() > 0


def test_a_saved_filter_goes_on_with_its_maps(tmp_path):
    _, ys, controls = drive(steps=4)
    model = fastslam_model((START, SPREAD), DRIVE, RangeBearing(NONE, 0.05, 0.02), controls)
    pf = skh.ParticleFilter(model, skh.Stratified(), 20, rng=0)
    for y in ys[:2]:
        pf.step(y)
    pf.save(tmp_path / "pf.skh")
    other = skh.ParticleFilter.load(tmp_path / "pf.skh", model)
    for y in ys[2:]:
        pf.step(y), other.step(y)
    for one, two in zip(landmark_map(pf.belief), landmark_map(other.belief), strict=True):
        np.testing.assert_array_equal(one, two)


def test_stereo_points_are_mapped_in_space():
    rng = np.random.default_rng(3)
    points = rng.uniform([-1.5, -1.5, 3], [1.5, 1.5, 5], (6, 3))
    camera = StereoCamera(points, 400.0, 400.0, 320.0, 240.0, np.eye(4), baseline=0.25)
    motion, start = ImuRates(1e-3, 1e-3), Pose(np.zeros(3), np.eye(3))
    controls = [BodyRates(0.1, [0.3, 0.0, 0.1], [0.0, 0.1, 0.2])] * 6
    _, ys = simulated(motion, camera, start, controls, SE3(), rng)
    model = fastslam_model((start, 1e-8 * np.eye(6)), motion, camera, controls)
    pf = skh.ParticleFilter(model, n=40, rng=0)
    for y in ys:
        belief = pf.step(np.column_stack([100 + np.arange(6), y]))
    ids, means, S = landmark_map(belief)
    seen = np.array([not np.isnan(y[:, 0]).all() for y in np.swapaxes(ys, 0, 1)])
    assert set(ids) == set(100 + np.flatnonzero(seen))
    error = means - points[ids - 100]
    assert np.einsum("li,lij,lj->l", error, np.linalg.inv(S), error).max() < 30
    assert np.abs(error).max() < 0.3


STATES = START[None]
SLAM = FastSLAM((START, SPREAD), DRIVE, RangeBearing(NONE, 0.05, 0.02), [])
CAMERA = StereoCamera(np.empty((0, 3)), 400.0, 400.0, 320.0, 240.0, np.eye(4), baseline=0.25)
BAD = {
    "sensor": (
        lambda: fastslam_model((START, SPREAD), DRIVE, RangeSensor(NONE, 1.0), []),
        "sensor",
    ),
    "twice": (lambda: SLAM.sensor.features([[1, 2.0, 0.0], [1, 2.0, 0.1]]), "each once"),
    "unknown": (lambda: SLAM.sensor.features([[-1, 2.0, 0.0]]), "known ids"),
    "pixels": (lambda: CAMERA.features([[1.0, 2.0]]), r"rows of 4 pixels.* got \(1, 2\)"),
    "half": (lambda: CAMERA.features([[0.5, 1, 2, 3, 4]]), r"ids that are integers.* got \[0.5\]"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name):
    call, message = BAD[name]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
