"""The UAV model: consistency on flights drawn from it, and its kernels against plain filters."""

from dataclasses import replace

import numpy as np
import pytest

import oracles
import skh
from skh import _numba
from skh.gaussians import linear_algebra as gaussian
from skh.gaussians.linear_algebra import condition, symmetric
from skh.geometry import SE3, Charted, Pose, rotation, states_of
from skh.models.uav_navigation import (
    Observation,
    Parameters,
    Start,
    UavModel,
    drawn_flight,
    survey_flight,
)
from skh.models.uav_navigation import kernels as uav_kernels
from skh.models.uav_navigation.camera import project
from skh.models.uav_navigation.model import INNOVATIONS, REPORT
from skh.models.uav_navigation.parameters import GRAVITY
from skh.models.uav_navigation.sensor_diagnostics import reports_at_truth
from skh.models.uav_navigation.tracks import FLAT_SLOPE, assign, ray_is_flat
from skh.models.uav_navigation.turn_kernels import measure_turn
from skh.scores import pose_estimate

Q = Parameters()
# Every noise matters here: halving one in the filter changes an innovation by more than 5 %.
SHARP = Parameters(
    accelerometer=0.3,
    gyroscope=0.03,
    barometer=0.3,
    pixel=1.0,
    acceleration=1.0,
    turn=0.2,
    position_noise=3e-3,
    rotation_noise=2e-3,
    velocity_noise=0.03,
    accelerometer_walk=0.3,
    gyroscope_walk=0.02,
    initial_velocity=0.1,
    initial_acceleration=1.0,
    initial_turn=0.2,
    initial_accelerometer_bias=1.0,
    initial_gyroscope_bias=0.1,
)
SEEN = (
    *("accelerometer", "gyroscope", "barometer", "pixel"),
    *("acceleration", "acceleration_time", "turn", "turn_time"),
    *("position_noise", "rotation_noise", "velocity_noise", "accelerometer_walk", "gyroscope_walk"),
    *("initial_velocity", "initial_acceleration", "initial_turn"),
    *("initial_accelerometer_bias", "initial_gyroscope_bias"),
)


@pytest.fixture(scope="module")
def reports():
    return np.concatenate([reports_at_truth(drawn_flight(300, rng=seed)) for seed in range(40)])


@pytest.mark.parametrize("name", INNOVATIONS)
def test_innovations_have_the_covariance_that_the_filter_expects(reports, name):
    """12,000 steps; for the barometer, with one number a step, 5% is four standard deviations."""
    nis = reports[:, REPORT.index(name)]
    assert np.nanmean(nis) == pytest.approx(1, abs=0.05)


@pytest.fixture(scope="module")
def sharp_flights():
    return [drawn_flight(20, rng=seed, parameters=SHARP) for seed in range(200)]


def sharp_innovations(flights, **believed):
    reports = [reports_at_truth(flight, replace(SHARP, **believed)) for flight in flights]
    return np.nanmean(np.concatenate(reports), axis=0)[: len(INNOVATIONS)]


@pytest.fixture(scope="module")
def usual(sharp_flights):
    return sharp_innovations(sharp_flights)


def test_innovations_are_consistent_where_every_noise_matters(usual):
    """4,000 steps; for the barometer 5% is two standard deviations, for all others more."""
    np.testing.assert_allclose(usual, 1, atol=0.05)


@pytest.mark.parametrize("name", SEEN)
def test_halving_any_noise_makes_innovations_inconsistent(sharp_flights, usual, name):
    found = sharp_innovations(sharp_flights, **{name: 0.5 * getattr(SHARP, name)})
    assert np.abs(found / usual - 1).max() > 0.05


def test_accelerations_and_turn_rates_have_stationary_variance():
    """x+ = a x + w has the variance of x if w has 1 - a^2 of it."""
    q = Parameters(acceleration=0.7, acceleration_time=2.0, turn=0.2, turn_time=0.5)
    assert (q.acceleration_decay, q.turn_decay) == pytest.approx((np.exp(-0.025), np.exp(-0.1)))
    driven = q.linear_variances[2], q.turn_variances[1]
    stationary = driven / (1 - np.array([q.acceleration_decay, q.turn_decay]) ** 2)
    np.testing.assert_allclose(stationary, [0.49, 0.04])


def test_flights_from_the_model_have_about_ten_landmarks(reports):
    tracked, gated, started, waiting = reports[:, len(INNOVATIONS) :].T
    assert 8 < tracked.mean() < 10
    assert gated.sum() == waiting.sum() == 0
    assert tracked.max() + started[tracked.argmax()] <= 10


def random_filters(n, d, seed=0):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, d, d))
    return rng.normal(size=(n, d)), B @ B.swapaxes(1, 2) / d + 0.1 * np.eye(d)


def test_advance_is_a_kalman_update_and_prediction():
    m, P = random_filters(7, 9)
    moved = np.random.default_rng(1).normal(size=(7, 3))
    dt, decay, variances = 0.1, 0.8, np.array([0.3, 0.2, 0.5, 0.7])
    A = np.hstack([dt * np.eye(3), dt**2 / 2 * np.eye(3), np.zeros((3, 3))])
    F = np.eye(9)
    F[:3, 3:6], F[3:6, 3:6] = dt * np.eye(3), decay * np.eye(3)
    R = 0.3 * np.eye(3)
    residual = moved - m @ A.T
    expected_m, expected_P, _ = condition(m, P, residual, A, R)
    S = A @ P @ A.T + R
    nis = np.einsum("ni,nij,nj->n", residual, np.linalg.inv(S), residual)
    before, m, P = (m, symmetric(P)), np.empty_like(m), np.empty_like(P)
    found = uav_kernels.advance(m, P, *before, moved, dt, decay, variances)
    np.testing.assert_allclose(found, nis, rtol=1e-10)
    np.testing.assert_allclose(m, expected_m @ F.T, atol=1e-12)
    noise = np.diag(np.repeat(variances[1:], 3))
    np.testing.assert_allclose(P, F @ expected_P @ F.T + noise, atol=1e-12)
    np.testing.assert_array_equal(P, P.swapaxes(1, 2))


def test_the_accelerometer_is_a_kalman_update():
    m, P = random_filters(5, 9)
    R = rotation.exp(np.random.default_rng(1).normal(size=(5, 3)))
    y, s2 = np.array([0.3, -0.2, 9.0]), 0.7
    C = np.concatenate([np.zeros((5, 3, 3)), R.swapaxes(1, 2), np.tile(np.eye(3), (5, 1, 1))], 2)
    predicted = np.einsum("nij,nj->ni", C, m) - np.einsum("nji,j->ni", R, GRAVITY)
    expected = condition(m, P, y - predicted, C, s2 * np.eye(3))
    before, m, P, log_l = (m, symmetric(P)), np.empty_like(m), np.empty_like(P), np.ones(5)
    uav_kernels.accelerometer(m, P, *before, R, y, GRAVITY, s2, log_l)
    for found, wanted in zip((m, P, log_l - 1), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_expected_increments_are_those_of_the_equations():
    (m, P), (turn, _), dt = random_filters(5, 9), random_filters(5, 6), 0.3
    C = np.abs(np.random.default_rng(2).normal(size=(5, 3)))
    xi, S = np.empty((5, 6)), np.empty((5, 6, 6))
    uav_kernels.expect(m, P, turn, C, dt, 0.2, 0.4, xi, S)
    A = np.hstack([dt * np.eye(3), dt**2 / 2 * np.eye(3), np.zeros((3, 3))])
    np.testing.assert_allclose(xi, np.hstack([m @ A.T, dt * turn[:, :3]]), atol=1e-14)
    expected = np.zeros((5, 6, 6))
    expected[:, :3, :3] = A @ P @ A.T + 0.2 * np.eye(3)
    expected[:, 3:, 3:] = (dt**2 * C[:, 0] + 0.4)[:, None, None] * np.eye(3)
    np.testing.assert_allclose(S, expected, atol=1e-13)


@pytest.mark.parametrize("rows", [1, 5])
def test_a_measured_turn_is_a_kalman_update_of_each_axis(rows):
    (m, _), (_, P), (h, k) = random_filters(5, 6), random_filters(5, 2), (0.3, 0.7)
    C, y = P[:, [0, 0, 1], [0, 1, 1]], np.random.default_rng(1).normal(size=(rows, 3))
    new_m, new_C = np.empty_like(m), np.empty_like(C)
    nis, S = measure_turn(new_m, new_C, m, C, y, h, k, 0.2)
    residual = y - h * m[:, :3] - k * m[:, 3:]
    np.testing.assert_allclose(nis, (residual**2).sum(axis=1) / S, rtol=1e-12)
    H, noise = np.array([[h, k]]), np.array([[0.2]])
    np.testing.assert_allclose(S, (H @ P @ H.T)[:, 0, 0] + 0.2, rtol=1e-12)
    for axis in range(3):
        mean, covariance, _ = condition(
            m[:, [axis, 3 + axis]], P, residual[:, axis : axis + 1], H, noise
        )
        np.testing.assert_allclose(new_m[:, [axis, 3 + axis]], mean, atol=1e-13)
        np.testing.assert_allclose(new_C, covariance[:, [0, 0, 1], [0, 1, 1]], atol=1e-13)


def random_view(n, L, seed=0):
    """Particles about 40 m up, landmarks on the ground with random covariances."""
    rng = np.random.default_rng(seed)
    p = rng.normal([0, 0, 40], size=(n, 3))
    R = rotation.exp(0.2 * rng.normal(size=(n, 3)))
    m = np.concatenate([15 * rng.normal(size=(n, L, 2)), rng.normal(size=(n, L, 1))], axis=2)
    B = rng.normal(size=(n, L, 3, 3))
    return p, R, m, B @ B.swapaxes(2, 3)


PACKED = np.triu_indices(3)


def test_the_camera_is_an_extended_kalman_filter_with_exact_derivatives():
    p, R, m, C = random_view(4, 3)
    f, s2, h = 320.0, 4.0, 1e-4
    seen = np.array([True, False, True])
    pixels = np.stack([project(Pose(p[0], R[0]), m[0], f)[0][j] + [3.0, -2.0] for j in range(3)])
    mean, packed, log_l = m.copy(), np.ascontiguousarray(C[..., *PACKED]), np.zeros(4)
    nis, gated = uav_kernels.camera(p, R, mean, packed, pixels, seen, f, s2, 1e9, log_l)
    assert not gated.any()
    expected_l, expected_nis = np.zeros(4), np.zeros(4)
    for i in range(4):
        pose = Pose(p[i], R[i])
        for j in (0, 2):

            def image(x, pose=pose):
                return project(pose, x[None], f)[0][0]

            H = np.stack(
                [(image(m[i, j] + e) - image(m[i, j] - e)) / (2 * h) for e in h * np.eye(3)], 1
            )
            exact = np.empty((2, 3))
            uav_kernels.project(p[i], R[i], m[i, j], f, exact)
            np.testing.assert_allclose(exact, H, atol=1e-6)
            residual = pixels[j] - image(m[i, j])
            new_m, new_C, log_density = condition(m[i, j], C[i, j], residual, exact, s2 * np.eye(2))
            np.testing.assert_allclose(mean[i, j], new_m, atol=1e-9)
            np.testing.assert_allclose(packed[i, j], new_C[PACKED], atol=1e-9)
            expected_l[i] += log_density
            S = exact @ C[i, j] @ exact.T + s2 * np.eye(2)
            expected_nis[i] += residual @ np.linalg.solve(S, residual)
    np.testing.assert_allclose(log_l, expected_l, rtol=1e-10)
    np.testing.assert_allclose(nis, expected_nis, rtol=1e-10)
    np.testing.assert_array_equal(mean[:, 1], m[:, 1])  # not seen


def test_a_landmark_starts_where_the_ray_meets_the_ground():
    p, R, m, _ = random_view(6, 2)
    C, f, pixel = np.zeros((6, 2, 6)), 320.0, np.array([90.0, -120.0])
    uav_kernels.start(p, R, pixel, f, 4.0, 3.0, 1, m, C)
    np.testing.assert_allclose(m[:, 1, 2], 0, atol=1e-12)

    def meet(i, u, v, height):
        ray = R[i] @ [u / f, -v / f, -1.0]
        return p[i] + (height - p[i, 2]) / ray[2] * ray

    for i in range(6):
        back, _ = project(Pose(p[i], R[i]), m[i, 1:], f)
        np.testing.assert_allclose(back[0], pixel, atol=1e-9)
        h = 1e-4
        at = np.array([*pixel, 0.0])
        columns = [(meet(i, *(at + e)) - meet(i, *(at - e))) / (2 * h) for e in h * np.eye(3)]
        J3 = np.stack(columns, axis=1)
        expected = J3 @ np.diag([4.0, 4.0, 9.0]) @ J3.T
        np.testing.assert_allclose(C[i, 1], expected[PACKED], atol=1e-6)


def test_a_ray_that_does_not_go_down_is_bent_to_the_ground():
    p, R = np.array([[0.0, 0.0, 40.0]]), rotation.exp([[0.0, -0.9, 0.0]])
    m, C = np.zeros((1, 1, 3)), np.zeros((1, 1, 6))
    uav_kernels.start(p, R, np.array([300.0, 0.0]), 320.0, 4.0, 3.0, 0, m, C)
    assert m[0, 0, 2] == pytest.approx(0, abs=1e-12)
    assert ray_is_flat(R, np.array([300.0, 0.0]), 320.0)
    assert not ray_is_flat(R, np.array([-300.0, 0.0]), 320.0)


def test_tracks_near_the_horizon_and_tracks_without_a_slot_wait():
    flight = survey_flight(1, rng=0)
    y = flight.observations[0]
    tilted = skh.models.UavStart(rotation=rotation.exp([0.0, -0.9, 0.0]))
    narrow, horizon = replace(Q, slots=4), Q.focal * (np.cos(0.9) - FLAT_SLOPE) / np.sin(0.9)
    for model, started in (
        (skh.models.uav(narrow), 4),
        (skh.models.uav(Q, tilted), np.count_nonzero(y.pixels[:, 0] < horizon)),
    ):
        belief = skh.ParticleFilter(model, skh.Stratified(), 5, rng=0).step(y)
        report = skh.models.uav_diagnostics(belief)
        found = report["started"], report["waiting"]
        assert found == pytest.approx((started, len(y.tracks) - started))
        assert (belief.carry.inner.tracks[0] >= 0).sum() == started


def test_the_predictive_mixture_is_that_of_the_increments():
    """Component i: mean (p + A z, Log(R_ref' R Exp(T omega))), covariance D (A P A' + Q) D'."""
    flight = survey_flight(30, rng=0)
    pf = skh.ParticleFilter(flight.model, skh.Stratified(), 20, rng=0)
    belief = [pf.step(y) for y in flight.observations][-1]
    p, carry = pf.predict(), belief.carry
    m, P = flight.model.hidden_moments(carry)
    A = np.zeros((6, 15))
    A[:3, :3], A[:3, 3:6], A[3:, 9:12] = 0.05 * np.eye(3), 0.05**2 / 2 * np.eye(3), 0.05 * np.eye(3)
    noise = np.diag([Q.position_noise**2] * 3 + [Q.rotation_noise**2] * 3)
    reference = carry.reference.rotation[0]
    for i in range(20):
        R = carry.states.rotation[i] @ rotation.exp(0.05 * m[i, 9:12])
        turn = rotation.log(reference.T @ R)
        np.testing.assert_allclose(p.means[i, 3:], turn, atol=1e-12)
        np.testing.assert_allclose(
            p.means[i, :3], carry.states.position[i] + (A @ m[i])[:3], atol=1e-12
        )
        D = np.eye(6)
        D[3:, 3:] = rotation.right_jacobian_inverse(turn)
        expected = D @ (A @ P[i] @ A.T + noise) @ D.T
        np.testing.assert_allclose(p.covariances[i], expected, atol=1e-15)


def test_noise_free_sensors_are_derivatives_of_the_survey_path():
    """Without noise the accelerometer is the second difference of the path in body axes."""
    quiet = replace(
        *(Q,), accelerometer=1e-12, gyroscope=1e-12, initial_accelerometer_bias=0.0,
        initial_gyroscope_bias=0.0, accelerometer_walk=0.0, gyroscope_walk=0.0,
    )  # fmt: skip
    flight = survey_flight(200, rng=0, parameters=quiet)
    p, R = flight.poses
    a = (p[2:] - 2 * p[1:-1] + p[:-2]) / Q.dt**2
    felt = np.array([y.accelerometer for y in flight.observations])[1:-1]
    np.testing.assert_allclose(felt, np.einsum("tji,tj->ti", R[1:-1], a - GRAVITY), atol=1e-4)
    turn = np.array([y.gyroscope for y in flight.observations])
    there = SE3().plus(Pose(p, R), np.concatenate([np.zeros_like(turn), Q.dt * turn], axis=1))
    np.testing.assert_allclose(there.rotation[:-1], R[1:], atol=1e-9)
    np.testing.assert_allclose(flight.start.velocity, (p[1] - p[0]) / Q.dt, atol=0.02)
    np.testing.assert_allclose(p[0], [0, 0, 40], atol=1e-12)


def run(flight, observations, n=100, seed=0, parameters=None):
    """Position errors over time and the diagnostics of each step."""
    model = skh.models.uav(parameters or flight.parameters, flight.start)
    pf, errors, reports = skh.ParticleFilter(model, skh.Stratified(), n, rng=seed), [], []
    for t, y in enumerate(observations):
        belief = pf.step(y)
        errors.append(np.linalg.norm(belief.mean[:3] - flight.poses.position[t]))
        reports.append(skh.models.uav_diagnostics(belief))
    return np.array(errors), reports


def changed(y, **fields):
    return Observation(**{name: fields.get(name, getattr(y, name)) for name in vars(y)})


def test_many_uncertain_landmarks_do_not_overflow():
    """The product of the determinants of all landmarks overflows."""
    p, R, m, C = random_view(1, 60)
    pixels, _ = project(Pose(p[0], R[0]), m[0], 320.0)
    pixels[np.isnan(pixels)] = 0.0
    packed, total, single = 1e6 * C[..., *PACKED], np.zeros(1), np.zeros(1)
    sensor = 320.0, 4.0, 1e9
    every, each = np.ones(60, dtype=bool), np.eye(60, dtype=bool)
    uav_kernels.camera(p, R, m.copy(), packed.copy(), pixels, every, *sensor, total)
    for seen in each:
        uav_kernels.camera(p, R, m.copy(), packed.copy(), pixels, seen, *sensor, single)
    assert np.isfinite(total[0])
    np.testing.assert_allclose(total, single, rtol=1e-12)


def test_two_seconds_without_landmarks_and_a_dead_barometer():
    flight = survey_flight(160, rng=1)
    ys = list(flight.observations)
    usual, _ = run(flight, ys)
    for t in range(60, 100):
        ys[t] = changed(ys[t], tracks=[], pixels=[])
    for t in range(40, 160):
        ys[t] = changed(ys[t], barometer=np.nan)
    ys[110] = None
    errors, reports = run(flight, ys)
    assert [r["tracked"] for r in reports[60:100]] == [0.0] * 40
    assert reports[100]["started"] == pytest.approx(len(ys[100].tracks))  # all tracks begin again
    assert reports[101]["tracked"] >= 8
    assert np.isnan([r["barometer"] for r in reports[40:]]).all()
    assert np.isfinite([r["barometer"] for r in reports[:40]]).all()
    assert np.isnan(reports[110]["accelerometer"])
    assert reports[110]["tracked"] == 0
    assert errors.max() < usual.max() + 2


def test_tracks_continue_between_images():
    flight = survey_flight(160, rng=2)
    blind = [changed(y, tracks=None, pixels=[]) for y in flight.observations]
    ys = [blind[t] if t % 2 else y for t, y in enumerate(flight.observations)]
    errors, reports = run(flight, ys)
    assert [(r["tracked"], r["started"]) for r in reports[1::2]] == [(0.0, 0.0)] * 80
    assert np.isnan([r["camera"] for r in reports[1::2]]).all()
    assert min(r["tracked"] for r in reports[2::2]) >= 7  # the others were lost by the tracker
    assert errors[-1] < 0.5 * run(flight, blind)[0][-1]


@pytest.mark.parametrize(
    "known",
    [
        {"position_noise": 0.0, "initial_velocity": 0.0, "initial_acceleration": 0.0},
        {"rotation_noise": 0.0, "initial_turn": 0.0},
    ],
    ids=["position", "rotation"],
)
def test_a_first_step_without_uncertainty_is_finite(known):
    flight = survey_flight(20, rng=1, parameters=Parameters(**known))
    errors, reports = run(flight, flight.observations)
    assert np.isfinite([reports[1]["position"], reports[1]["rotation"]]).all()
    assert errors.max() < 1


def test_a_track_that_jumps_is_gated_dropped_and_restarted():
    flight = survey_flight(120, rng=1)
    ys = list(flight.observations)
    usual, quiet = run(flight, ys)
    assert sum(r["gated"] for r in quiet) == 0
    track = ys[60].tracks[0]
    for t in range(60, 120):  # from now on the tracker follows another point, 80 pixels away
        pixels = ys[t].pixels + np.where(ys[t].tracks == track, 80.0, 0.0)[:, None]
        ys[t] = changed(ys[t], pixels=pixels)
    errors, reports = run(flight, ys)
    assert reports[60]["gated"] == pytest.approx(1)
    assert reports[61]["started"] >= 1
    assert sum(r["gated"] for r in reports) == pytest.approx(1)
    assert errors[-1] < usual[-1] + 0.5
    worse, careless = run(flight, ys, parameters=replace(flight.parameters, gate=1e12))
    assert sum(r["gated"] for r in careless) == 0
    assert careless[60]["camera"] > 10 * reports[60]["camera"]
    assert errors[-1] < 0.5 * worse[-1]


def test_slots_are_kept_freed_and_filled_in_order():
    slots = np.array([4, -1, 7, 9])
    pixels = np.arange(10.0).reshape(5, 2)
    tracks, there, going_on, new = assign(slots, np.array([9, 11, 4, 12, 13]), pixels)
    np.testing.assert_array_equal(tracks, [4, 11, 12, 9])  # 7 ended, 13 finds no slot
    np.testing.assert_array_equal(going_on, [True, False, False, True])
    np.testing.assert_array_equal(new, [1, 2])
    np.testing.assert_array_equal(there, pixels[[2, 1, 3, 0]])


@pytest.mark.parametrize(
    "rule",
    [
        skh.QuasiMonteCarlo("hilbert"),
        skh.FWQuad(skh.GaussianKernel(1e-4), search_points=500),
        skh.Smoothed(skh.Matched(skh.default_rule())),
    ],
    ids=["Hilbert", "FW", "smoothed"],
)
def test_filters_of_all_rules_follow_the_flight(rule):
    """Without the camera thirty random particles are 5 m away after 6 s."""
    flight = survey_flight(120, rng=3)
    pf = skh.ParticleFilter(flight.model, rule, 30, rng=0)
    belief = [pf.step(y) for y in flight.observations][-1]
    truth = Pose(flight.poses.position[-1], flight.poses.rotation[-1])
    error = pose_estimate(states_of(belief), belief.w).error(truth)
    assert np.linalg.norm(error[:3]) < 1
    assert np.linalg.norm(error[3:]) < 0.02


def test_compiled_uav_kernels_equal_their_python_source(monkeypatch):
    flight = survey_flight(6, rng=0)
    ys = list(flight.observations)
    pixels = ys[3].pixels.copy()
    pixels[0] += 300.0
    ys[3] = changed(ys[3], pixels=pixels)

    def moments():
        pf = skh.ParticleFilter(flight.model, skh.Stratified(), 4, rng=0)
        beliefs = [pf.step(y) for y in ys]
        v = np.array([[0.01, 0.0, 0.0], [1.0, 2.0, 2.1], [-3.0, 0.5, 0.0], [0.1, 3.0, 0.2]])
        R = rotation.exp(v)
        jacobians = rotation.right_jacobian(v), rotation.right_jacobian_inverse(v)
        behind = np.empty((2, 3))
        seen = uav_kernels.project(np.zeros(3), np.eye(3), np.ones(3), 1.0, behind)
        rotations = (rotation.log(R), rotation.quaternion(R), *jacobians)
        return [b.joint_moments[0] for b in beliefs], rotations, seen

    compiled = moments()
    for module in (uav_kernels, _numba.rotations, _numba.cholesky, gaussian):
        oracles.run_by_python(module, monkeypatch)
    python = moments()
    np.testing.assert_allclose(python[0], compiled[0], rtol=1e-9, atol=1e-9)
    for a, b in zip(python[1], compiled[1], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-13)
    assert python[2] == compiled[2] == (np.inf, np.inf)  # a point above the camera


def test_the_same_seed_gives_the_same_flight():
    for simulate in (survey_flight, drawn_flight):
        a, b = simulate(20, rng=3), simulate(20, rng=3)
        np.testing.assert_array_equal(a.poses.rotation, b.poses.rotation)
        np.testing.assert_array_equal(a.observations[-1].pixels, b.observations[-1].pixels)
        assert a.times[-1] == pytest.approx(0.95)


BAD = {
    "negative noise": (lambda: Parameters(pixel=-1.0), r"pixel must be a positive number, got -1"),
    "no time constant": (
        lambda: Parameters(turn_time=0.0),
        r"turn_time must be a positive number, got 0",
    ),
    "no slots": (lambda: Parameters(slots=0), r"slots must be a positive integer, got 0"),
    "loss": (lambda: Parameters(track_loss=1.5), r"track_loss must be in \[0, 1\], got 1.5"),
    "NaN": (lambda: Parameters(turn=float("nan")), r"turn must be a non-negative number, got nan"),
    "no rotation": (lambda: Start(rotation=2 * np.eye(3)), r"rotation must hold rotations"),
    "two speeds": (lambda: Start(velocity=[1.0, 2.0]), r"velocity must have shape \(3,\), got \(2"),
    "no time": (lambda: survey_flight(0), r"T must be a positive integer, got 0"),
    "short sensor": (lambda: Observation([1.0]), r"accelerometer must be three .*got \[1.0"),
    "infinite": (lambda: Observation(gyroscope=[np.inf] * 3), r"gyroscope must be three finite"),
    "infinite height": (lambda: Observation(barometer=np.inf), r"barometer must be a finite"),
    "no height": (lambda: Observation(barometer=None), r"barometer must be a finite.*got None"),
    "track twice": (
        lambda: Observation(tracks=[1, 1], pixels=[[0, 0]] * 2),
        r"tracks must be distinct",
    ),
    "no whole number": (
        lambda: Observation(tracks=[0.5], pixels=[[0, 0]]),
        r"tracks must be integers",
    ),
    "pixel missing": (
        lambda: Observation(tracks=[1, 2], pixels=[[0.0, 0.0]]),
        r"pixels must be finite with shape \(2, 2\)",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_observations_and_beliefs_of_other_models_are_rejected():
    pf = skh.ParticleFilter(skh.models.uav(), skh.Stratified(), 5, rng=0)
    with pytest.raises(TypeError, match=r"y at t=0 must be an Observation of the UAV, got 3.0"):
        pf.step(3.0)
    other = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 5, rng=0).step(0.0)
    with pytest.raises(TypeError, match="belief must come from the UAV model"):
        skh.models.uav_diagnostics(other)
    for call in (lambda: skh.models.uav(3), lambda: survey_flight(3, parameters=3)):
        with pytest.raises(TypeError, match=r"parameters must be skh.models.UavParameters, got 3"):
            call()
    with pytest.raises(TypeError, match=r"start must be skh.models.UavStart, got 3"):
        skh.models.uav(None, 3)
    assert isinstance(skh.models.uav(), Charted)
    assert UavModel().prior()[1].max() == 0
