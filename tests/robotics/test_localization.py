"""Localisation: an extended Kalman filter where noise is small, learned information, simulation."""

import numpy as np
import pytest

import skh
from robot_drives import simulated
from skh.geometry import SE2, SE3, Pose, rotation
from skh.robotics import (
    BodyRates,
    BodyStep,
    DifferentialDrive,
    ImuRates,
    LikelihoodFieldModel,
    Localization,
    OdometryStep,
    RangeBearing,
    Sensors,
    StereoCamera,
    localization_model,
)

LANDMARKS = np.random.default_rng(0).uniform(-8, 8, (6, 2))
SENSOR = RangeBearing(LANDMARKS, 0.1, 0.02, outliers=0.02)
DRIVE = DifferentialDrive(0.01, 0.01, 0.01, 0.01)
START = np.array([0.0, 0.0, 0.3])
SPREAD = np.diag([0.1, 0.1, 0.05]) ** 2


def kalman(motion, sensor, start, covariance, controls, ys):
    """Extended Kalman filter in the plane, iterated once; ys without outliers."""
    x, P, means, covariances = start, covariance, [], []
    for t, y in enumerate(ys):
        if t:
            (after,), (Q,) = motion.move(x[None], controls[t - 1])
            F = np.eye(3)
            F[:2, 2] = x[1] - after[1], after[0] - x[0]
            x, P = after, F @ P @ F.T + Q
        prior, P0 = x, P
        for _ in range(3):
            at = LANDMARKS[y[:, 0].astype(int)]
            H = sensor.jacobian(x[None], at)[0].reshape(-1, 3)
            R = np.kron(np.eye(len(y)), sensor.covariance)
            r = sensor.difference(y[:, 1:], sensor.project(x[None], at)[0]).ravel()
            K = P0 @ H.T @ np.linalg.inv(H @ P0 @ H.T + R)
            x, P = prior + K @ (r - H @ (prior - x)), P0 - K @ H @ P0
        means.append(x)
        covariances.append(P)
    return np.array(means), np.array(covariances)


def test_a_localiser_agrees_with_an_extended_kalman_filter():
    sensor = RangeBearing(LANDMARKS, 0.1, 0.02)
    controls = [OdometryStep(0.1, 0.3, 0.05)] * 7
    rng = np.random.default_rng(1)
    _, ys = simulated(DRIVE, sensor, START, controls, SE2(), rng)
    expected, P = kalman(DRIVE, sensor, START, SPREAD, controls, ys)
    model = localization_model((START, SPREAD), DRIVE, sensor, controls)
    result = skh.particle_filter(model, ys, n=50, rng=0)
    sd = np.sqrt(np.diagonal(P, axis1=1, axis2=2))
    error = SE2().minus(result.mean_states, expected) / sd
    assert np.sqrt((error**2).mean()) < 0.35
    ratio = np.diagonal(result.covariances, axis1=1, axis2=2) / sd**2
    np.testing.assert_allclose(np.median(ratio, axis=0), 1.0, atol=0.35)


def test_told_information_is_used_and_may_be_left_out():
    controls = [BodyStep(0.3, 0.0, 0.1)] * 3
    _, ys = simulated(DRIVE, SENSOR, START, controls, SE2(), np.random.default_rng(2))
    told = localization_model((START, SPREAD), DRIVE, SENSOR, controls)
    assert told.information is not None

    class Silent:
        log_likelihood = staticmethod(SENSOR.log_likelihood)

    learned = localization_model((START, SPREAD), DRIVE, Silent(), controls)
    assert learned.information is None
    both = localization_model((START, SPREAD), DRIVE, Sensors(SENSOR, Silent()), controls)
    assert both.information is None
    a, b = (skh.particle_filter(m, ys, n=30, rng=0) for m in (told, learned))
    assert not np.array_equal(a.means[0], b.means[0])
    plain = [skh.particle_filter(m, ys, skh.Stratified(), 30, rng=0).means for m in (told, learned)]
    np.testing.assert_array_equal(*plain)


def test_a_robot_that_stands_still_does_not_diffuse():
    model = Localization((START, SPREAD), DRIVE, SENSOR, [None])
    states, S = model.transition(0, np.array([START]))
    np.testing.assert_array_equal(states, [START])
    assert (S == 0).all()
    assert model.observe(0, START, np.random.default_rng(0)).shape[1] == 3


def test_a_camera_is_localised_in_space():
    rng = np.random.default_rng(3)
    points = rng.uniform([-2, -2, 3], [2, 2, 6], (8, 3))
    camera = StereoCamera(points, 400.0, 400.0, 320.0, 240.0, np.eye(4), baseline=0.25)
    motion, start = ImuRates(0.01, 0.01), Pose(np.zeros(3), rotation.exp([0.0, 0.1, 0.0]))
    controls = [BodyRates(0.1, [0.5, 0.0, 0.1], [0.0, 0.2, 0.3])] * 5
    states, ys = simulated(motion, camera, start, controls, SE3(), rng)
    model = localization_model((start, 0.05**2 * np.eye(6)), motion, camera, controls)
    result = skh.particle_filter(model, ys, n=50, rng=0)
    truth = np.array([s.position for s in states])
    assert np.abs(result.mean_states.position - truth).max() < 0.06


def test_a_laser_localises_in_an_office():
    angles = np.linspace(-np.pi, np.pi, 30, endpoint=False)
    laser = LikelihoodFieldModel(skh.models.office(), angles, 15.0, sigma_hit=0.1)
    start, controls = np.array([2.0, 0.0, 1.5]), [BodyStep(0.3, 0.0, 0.1)] * 5
    states, ys = simulated(DRIVE, laser, start, controls, SE2(), np.random.default_rng(4))
    model = localization_model((start, 4 * SPREAD), DRIVE, laser, controls)
    result = skh.particle_filter(model, ys, n=50, rng=0)
    error = SE2().minus(result.mean_states, np.array(states))
    assert np.abs(error[2:, :2]).max() < 0.12


BAD = {
    "motion": (lambda: localization_model((START, SPREAD), 1, SENSOR, []), "motion must .* move"),
    "class": (lambda: localization_model((START, SPREAD), DifferentialDrive, SENSOR, []), "motion"),
    "sensor": (lambda: localization_model((START, SPREAD), DRIVE, None, []), "sensor must have"),
    "controls": (lambda: localization_model((START, SPREAD), DRIVE, SENSOR, None), "controls must"),
    "prior": (lambda: localization_model(START, DRIVE, SENSOR, []), "prior must be"),
    "too few": (
        lambda: Localization((START, SPREAD), DRIVE, SENSOR, []).transition(0, START[None]),
        "controls must reach from t=0 to the next observation, got 0",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name):
    call, message = BAD[name]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
