"""Landmark sensors: SciPy's densities, enumeration, differences, expected Hessians, errors."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import oracles
from skh.geometry import SE2, SE3, Pose, rotation, wrap
from skh.robotics import PinholeCamera, RangeBearing, RangeSensor, Sensors, StereoCamera
from skh.robotics.sensors import sightings, sightings_kernel

LANDMARKS = np.array([[5.0, 1.0], [-3.0, 4.0], [-2.0, -5.0]])
MOUNT = (0.3, -0.1, 0.2)
SENSOR = RangeBearing(LANDMARKS, 0.2, 0.05, outliers=0.1, longest=30.0, view=4.0, mount=MOUNT)
STATE = np.array([0.5, -0.4, 0.7])
POINTS = np.random.default_rng(0).uniform([-2, -2, 3], [2, 2, 6], (7, 3))
COVARIANCE = np.array([[4.0, 1, 3, 0], [1, 3, 0, 2], [3, 0, 4, 1], [0, 2, 1, 3]]) + np.eye(4)
STEREO = StereoCamera(
    *(POINTS, 400.0, 380.0, 300.0, 200.0, COVARIANCE, (0.1, -0.2, 0.05)),
    rotation.exp([0.1, -0.05, 0.2]),
    baseline=0.25,
)
MONO = PinholeCamera(
    POINTS, 400.0, 380.0, 300.0, 200.0, COVARIANCE[:2, :2], STEREO.position, STEREO.rotation
)
POSES = SE3().plus(
    Pose(np.zeros((4, 3)), np.tile(np.eye(3), (4, 1, 1))),
    0.1 * np.random.default_rng(1).standard_normal((4, 6)),
)


def seen_from(state, landmark, mount=MOUNT):
    """Range and bearing, written out with rotation matrices."""
    c, s = np.cos(state[2]), np.sin(state[2])
    at = state[:2] + np.array([[c, -s], [s, c]]) @ mount[:2]
    d = landmark - at
    return np.linalg.norm(d), wrap(np.arctan2(d[1], d[0]) - state[2] - mount[2])


def test_all_sightings_may_be_false_and_far_off():
    states = STATE + np.zeros((2, 3))
    false = replace(SENSOR, outliers=1.0)
    y = [[0, 4.6, -0.5], [-1, 5.0, 0.0]]
    np.testing.assert_allclose(false.log_likelihood(states, y), -2 * np.log(30.0 * 4.0))
    assert (false.information(states, y) == 0).all()
    sharp = replace(SENSOR, outliers=0.0, range_noise=1e-200)
    assert (sharp.log_likelihood(states, y) < -1e200).all()


def densities(sensor, state, y, landmark):
    """Density of one sighting of a known landmark, without outliers."""
    r, b = seen_from(state, landmark, sensor.mount)
    p = 1.0 if np.isnan(y[1]) else stats.norm.pdf(y[1], r, sensor.range_noise)
    return p if np.isnan(y[2]) else p * stats.norm.pdf(wrap(y[2] - b), 0, sensor.bearing_noise)


def by_enumeration(sensor, state, ys):
    total = 0.0
    for y in ys:
        of = LANDMARKS if y[0] < 0 else LANDMARKS[int(y[0])][None]
        p = np.mean([densities(sensor, state, y, landmark) for landmark in of])
        floor = sensor.outliers
        floor *= 1.0 if np.isnan(y[1]) else 1 / sensor.longest
        floor *= 1.0 if np.isnan(y[2]) else 1 / sensor.view
        total += np.log((1 - sensor.outliers) * p + floor)
    return total


@pytest.mark.parametrize("outliers", [0.0, 0.1])
def test_sightings_have_the_density_of_an_enumeration(outliers):
    sensor, rng = replace(SENSOR, outliers=outliers), np.random.default_rng(2)
    states = STATE + 0.2 * rng.standard_normal((5, 3))
    nan = np.nan
    y = [[0, 4.6, -0.5], [-1, 5.1, 1.6], [2, nan, -2.8], [-1, 5.0, nan], [nan, 5.4, 3.0]]
    rows = [[-1 if np.isnan(row[0]) else row[0], *row[1:]] for row in y]
    expected = [by_enumeration(sensor, state, rows) for state in states]
    np.testing.assert_allclose(sensor.log_likelihood(states, y), expected, rtol=1e-10)
    ranges = RangeSensor(LANDMARKS, 0.2, outliers, 30.0, MOUNT)
    both = Sensors(ranges, sensor)
    expected = [by_enumeration(sensor, s, [[0, 4.6, nan], [-1, 5.0, nan]]) for s in states]
    np.testing.assert_allclose(ranges.log_likelihood(states, [[0, 4.6], [-1, 5.0]]), expected)
    together = both.log_likelihood(states, ([[0, 4.6], [-1, 5.0]], y))
    np.testing.assert_allclose(together, expected + sensor.log_likelihood(states, y))
    assert (both.log_likelihood(states, (None, [])) == 0).all()


@pytest.mark.parametrize("outliers", [0.0, 0.05, 0.4])
def test_information_is_the_expected_hessian(outliers):
    """Minus the second derivative of the log-density, averaged over y; outliers ignore states."""
    sensor = replace(SENSOR, outliers=outliers, longest=12.0, view=2 * np.pi)
    rng, n, h = np.random.default_rng(3), 3_000, 1e-4
    at = sensor.project(STATE[None], LANDMARKS[:1])[0, 0]
    e = rng.standard_normal((n // 2, 2)) * [sensor.range_noise, sensor.bearing_noise]
    y = at + np.concatenate([e, -e])  # antithetic
    false = rng.random(n) < outliers
    y[false] = rng.uniform([0, -np.pi], [12.0, np.pi], (n, 2))[false]
    steps = [h * np.eye(3)[k] * s for k in range(3) for s in (1, -1)]
    states = STATE + np.array(steps)
    log_p = np.array([sensor.log_likelihood(states, [[0, *row]]) for row in y])
    score = (log_p[:, ::2] - log_p[:, 1::2]) / (2 * h)
    F = sensor.information(STATE[None], [[0, *at]])[0]
    sd = np.sqrt(F.diagonal())
    np.testing.assert_allclose(
        score.T @ score / n / np.outer(sd, sd), F / np.outer(sd, sd), atol=0.08
    )
    unknown = sensor.information(STATE[None], [[-1, *at]])[0]
    np.testing.assert_allclose(unknown, F)
    range_only = RangeSensor(LANDMARKS, 0.2, mount=MOUNT).information(STATE[None], [[0, 4.0]])[0]
    assert np.linalg.matrix_rank(range_only) == 1


def differences(f, chart, state, d, h=1e-6):
    columns = [
        (f(chart.plus(state, h * e)) - f(chart.plus(state, -h * e))) / (2 * h) for e in np.eye(d)
    ]
    return np.stack(columns, axis=-1)


def test_derivatives_of_sightings():
    def measured(state):
        return SENSOR.project(state[None], LANDMARKS)[0]

    H = SENSOR.jacobian(STATE[None], LANDMARKS)[0]
    np.testing.assert_allclose(H, differences(measured, SE2(), STATE, 3), atol=1e-7)
    h = 1e-6
    shifted = [
        SENSOR.project(STATE[None], LANDMARKS + h * e)
        - SENSOR.project(STATE[None], LANDMARKS - h * e)
        for e in np.eye(2)
    ]
    G = SENSOR.landmark_jacobian(STATE[None], LANDMARKS)
    np.testing.assert_allclose(G, np.stack(shifted, axis=-1) / (2 * h), atol=1e-7)
    found = SENSOR.triangulate(STATE[None], SENSOR.project(STATE[None], LANDMARKS)[0])
    np.testing.assert_allclose(found[0], LANDMARKS, atol=1e-12)


@pytest.mark.parametrize("camera", [MONO, STEREO], ids=["pinhole", "stereo"])
def test_derivatives_of_pixels(camera):
    def stacked(pose):
        return Pose(pose.position[None], pose.rotation[None])

    pose = Pose(POSES.position[0], POSES.rotation[0])
    H = camera.jacobian(POSES, POINTS)[0]
    expected = differences(lambda p: camera.project(stacked(p), POINTS)[0], SE3(), pose, 6)
    np.testing.assert_allclose(H, expected, atol=1e-4)
    h = 1e-6
    shifted = [
        (camera.project(POSES, POINTS + h * e) - camera.project(POSES, POINTS - h * e)) / (2 * h)
        for e in np.eye(3)
    ]
    G = camera.landmark_jacobian(POSES, POINTS)
    np.testing.assert_allclose(G, np.stack(shifted, axis=-1), atol=1e-4)


@pytest.mark.parametrize("outliers", [0.0, 0.2])
@pytest.mark.parametrize("camera", [MONO, STEREO], ids=["pinhole", "stereo"])
def test_pixels_have_the_density_of_scipy(camera, outliers):
    camera = replace(camera, outliers=outliers, image=(640.0, 480.0))
    y = camera.project(POSES, POINTS)[0] + 2.0
    y[3] = np.nan
    law = stats.multivariate_normal(np.zeros(camera.width), camera.covariance)
    for i, value in enumerate(camera.log_likelihood(POSES, y)):
        one = Pose(POSES.position[i : i + 1], POSES.rotation[i : i + 1])
        error = np.delete(y - camera.project(one, POINTS)[0], 3, axis=0)
        log_p = law.logpdf(error)
        if outliers:
            uniform = (640.0 * 480.0) ** (-camera.width / 2)
            log_p = np.logaddexp(np.log(0.8) + log_p, np.log(0.2 * uniform))
        assert value == pytest.approx(log_p.sum(), rel=1e-9)
    H = np.delete(camera.jacobian(POSES, POINTS), 3, axis=1)
    F = np.einsum("nmai,ab,nmbj->nij", H, np.linalg.inv(camera.covariance), H)
    told = camera.information(POSES, y)
    if outliers == 0:
        np.testing.assert_allclose(told, F, rtol=1e-9)
    share = told[0, 0, 0] / F[0, 0, 0]
    assert 1 - 1.5 * outliers <= share + 1e-12 <= 1 - outliers + 2e-12


def test_stereo_points_are_found_again_by_triangulation():
    pixels = STEREO.project(POSES, POINTS)
    for i in range(len(pixels)):
        one = Pose(POSES.position[i : i + 1], POSES.rotation[i : i + 1])
        np.testing.assert_allclose(STEREO.triangulate(one, pixels[i])[0], POINTS, atol=1e-9)


def test_simulated_sightings_have_their_errors():
    rng = np.random.default_rng(5)
    drawn = np.concatenate([SENSOR.observe(STATE, rng) for _ in range(3_000)])
    first = drawn[drawn[:, 0] == 0]
    r, b = seen_from(STATE, LANDMARKS[0])
    near = np.abs(wrap(first[:, 2] - b)) < 5 * SENSOR.bearing_noise
    assert near.mean() == pytest.approx(0.9 + 0.1 * 0.5 / 4, abs=0.03)
    assert np.median(np.abs(first[near, 1] - r)) == pytest.approx(0.2 * 0.6745, rel=0.1)
    pose = Pose(POSES.position[0], POSES.rotation[0])
    images = np.array([STEREO.observe(pose, rng) for _ in range(2_000)])
    error = images - STEREO.project(POSES, POINTS)[0]
    seen = ~np.isnan(error[0, :, 0])
    assert seen.any()
    np.testing.assert_allclose(np.cov(error[:, seen].reshape(-1, 4).T), COVARIANCE, atol=0.4)


@given(st.floats(-12, 12))
def test_sightings_do_not_depend_on_the_unit_of_length(decades):
    unit = 10.0**decades
    metres = np.array([unit, unit, 1.0])
    other = RangeBearing(
        LANDMARKS * unit, 0.2 * unit, 0.05, 0.1, 30.0 * unit, 4.0, np.array(MOUNT) * metres
    )
    states = STATE + 0.2 * np.random.default_rng(0).standard_normal((4, 3))
    y = np.array([[0, 4.6, -0.5], [-1, 5.1, 1.6]])
    one = SENSOR.log_likelihood(states, y)
    two = other.log_likelihood(states * metres, y * [1, unit, 1]) + 2 * np.log(unit)
    np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-9)
    F = other.information(states * metres, y * [1, unit, 1]) * np.outer(metres, metres)
    np.testing.assert_allclose(F, SENSOR.information(states, y), rtol=1e-9)


def test_kernels_run_by_python_give_the_same(monkeypatch):
    states = STATE + 0.2 * np.random.default_rng(0).standard_normal((4, 3))
    y = np.array([[0, 4.6, -0.5], [-1, 5.1, 1.6], [-1, np.nan, 1.0], [1, 3.0, np.nan]])
    compiled = SENSOR.log_likelihood(states, y)
    oracles.run_by_python(sightings_kernel, monkeypatch)
    oracles.run_by_python(sightings, monkeypatch)
    np.testing.assert_allclose(SENSOR.log_likelihood(states, y), compiled, rtol=1e-12)


X = STATE[None]
BAD = {
    "id": (lambda: SENSOR.log_likelihood(X, [[3, 1.0, 0.0]]), r"ids in 0..2, .* got 3"),
    "half an id": (lambda: SENSOR.log_likelihood(X, [[0.5, 1.0, 0.0]]), r"ids in 0..2.* got 0.5"),
    "columns": (lambda: SENSOR.log_likelihood(X, [[0, 1.0]]), r"\(id, range, bearing\).* \(1, 2\)"),
    "negative": (lambda: SENSOR.log_likelihood(X, [[0, -1.0, 0.0]]), r"y must have finite ranges"),
    "noise": (lambda: RangeBearing(LANDMARKS, 0.0, 0.1), r"range_noise must be .* got 0.0"),
    "landmarks": (lambda: RangeSensor([[1.0]], 0.1), r"landmarks must have shape \(n, 2\)"),
    "outliers": (lambda: replace(SENSOR, outliers=2), r"outliers must be .* got 2"),
    "rows": (lambda: MONO.log_likelihood(POSES, np.zeros((3, 2))), r"y must have shape \(7, 2\)"),
    "pixels": (lambda: MONO.log_likelihood(POSES, np.full((7, 2), np.inf)), r"y must be finite"),
    "singular": (lambda: replace(MONO, covariance=np.ones((2, 2))), "positive definite"),
    "focal": (lambda: replace(MONO, fu=-1.0), r"fu must be a positive number, got -1.0"),
    "baseline": (lambda: replace(STEREO, baseline=0.0), r"baseline must be .* got 0.0"),
    "no sensors": (lambda: Sensors(), r"one at least"),
    "entries": (lambda: Sensors(SENSOR).log_likelihood(X, []), r"an entry for each of 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name):
    call, message = BAD[name]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
