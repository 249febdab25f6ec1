"""Rotations and charts: round trips, finite differences, means across +-pi, filters on poses."""

from math import remainder

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import skh
from skh.geometry import SE2, SE3, Angles, Charted, Pose, rotation, states_of, wrap

ANGLES = [0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.0999, 0.1001, 1.0, 2.0, 3.0, 3.14, np.pi - 1e-6]
LEVEL = Pose(np.zeros(3), np.eye(3))


def directions(n, seed=0):
    v = np.random.default_rng(seed).normal(size=(n, 3))
    v[:6] = np.concatenate([np.eye(3), -np.eye(3)])
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def random_poses(n, seed=0, angle=3.0):
    rng = np.random.default_rng(seed)
    return Pose(rng.normal(size=(n, 3)), rotation.exp(angle * rng.random((n, 1)) * directions(n)))


@pytest.mark.parametrize("angle", [*ANGLES, np.pi - 1e-9, np.pi - 1e-12])
def test_log_undoes_exp(angle):
    v = angle * directions(50)
    np.testing.assert_allclose(rotation.log(rotation.exp(v)), v, atol=1e-12)


@pytest.mark.parametrize("angle", [*ANGLES, np.pi])
def test_exp_undoes_log_at_pi_too(angle):
    R = rotation.exp(angle * directions(50))
    np.testing.assert_allclose(rotation.exp(rotation.log(R)), R, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(rotation.log(R), axis=1), angle, atol=1e-12)


def test_exactly_half_a_turn():
    """Exact matrices: the axis is found from the diagonal."""
    for half in (np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])):
        v = rotation.log(half)
        assert np.abs(v).max() == pytest.approx(np.pi, abs=1e-15)
        np.testing.assert_allclose(rotation.exp(v), half, atol=1e-15)


def test_exp_is_the_matrix_exponential():
    for v in 2.5 * directions(20):
        np.testing.assert_allclose(rotation.exp(v), expm(rotation.hat(v)), atol=1e-14)


def test_quaternions_are_those_of_scipy():
    R = rotation.exp(3.1 * directions(40))
    expected = Rotation.from_matrix(R).as_quat(canonical=True)
    np.testing.assert_allclose(rotation.quaternion(R), expected, atol=1e-14)
    np.testing.assert_allclose(rotation.from_quaternion(3 * expected), R, atol=1e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_turns_of_stacks_are_those_of_matrices(angle):
    """Elementwise, one with all, stacks with zero strides, broadcast shapes."""
    R, v = random_poses(12).rotation, angle * directions(12)
    one = np.broadcast_to(R[3], R.shape)
    for A in (R, R[3], one):
        turned = A @ rotation.exp(v)
        np.testing.assert_allclose(rotation.turned(A, v), turned, atol=1e-14)
        np.testing.assert_allclose(rotation.between(A, turned), v, atol=1e-12)
    np.testing.assert_allclose(rotation.between(one, R[3]), np.zeros((12, 3)), atol=1e-14)
    grid = rotation.turned(R[:, None], v)
    np.testing.assert_allclose(grid, R[:, None] @ rotation.exp(v), atol=1e-14)
    np.testing.assert_allclose(
        rotation.between(R[:, None], grid), np.tile(v, (12, 1, 1)), atol=1e-12
    )


def test_covariances_in_the_chart_of_poses_are_those_of_its_jacobian():
    B, x = np.random.default_rng(0).normal(size=(30, 6, 6)), np.zeros((30, 6))
    x[:, 3:] = np.linspace(0, 3, 30)[:, None] * directions(30)
    S, D = B @ B.swapaxes(1, 2), SE3().jacobian(x)
    for some in (S, S[0]):
        found = SE3().covariances(x, some)
        np.testing.assert_allclose(found, D @ some @ D.swapaxes(1, 2), rtol=1e-12, atol=1e-11)
    lower = found[:, 3:]
    np.testing.assert_array_equal(lower, found[:, :, 3:].swapaxes(1, 2))


@pytest.mark.parametrize("angle", ANGLES)
def test_right_jacobians_are_finite_differences(angle):
    h = 1e-5
    for v in angle * directions(8):
        step = h * np.eye(3)
        back = rotation.exp(v).T
        plus, minus = rotation.log(back @ rotation.exp(v + step)), back @ rotation.exp(v - step)
        J = (plus - rotation.log(minus)).T / (2 * h)
        np.testing.assert_allclose(rotation.right_jacobian(v), J, atol=1e-6)
        np.testing.assert_allclose(
            rotation.right_jacobian_inverse(v) @ rotation.right_jacobian(v), np.eye(3), atol=1e-12
        )


def test_jacobian_series_and_formulas_meet():
    v = directions(10)
    for f in (rotation.right_jacobian, rotation.right_jacobian_inverse):
        below, above = f((0.1 - 1e-13) * v), f((0.1 + 1e-13) * v)
        np.testing.assert_allclose(below, above, atol=1e-12)


def test_mean_rotation_across_half_a_turn():
    rng = np.random.default_rng(0)
    centre = rotation.exp(np.pi * directions(7)[6])
    v = 0.4 * rng.normal(size=(50, 3))
    w = rng.random(50)
    R = centre @ rotation.exp(v)
    mean = rotation.mean(R, w)
    # the defining property, and equivariance to rotation
    np.testing.assert_allclose(w @ rotation.log(mean.T @ R), 0, atol=1e-12)
    turn = rotation.exp([0.3, 2.0, -1.0])
    np.testing.assert_allclose(rotation.mean(turn @ R, w), turn @ mean, atol=1e-12)
    pairs = np.concatenate([v, -v])
    np.testing.assert_allclose(rotation.mean(centre @ rotation.exp(pairs)), centre, atol=1e-12)


@pytest.mark.parametrize("spread", [1e-6, 0.3, 1.0])
def test_mean_rotation_balances_the_rotations_to_all_others(spread):
    rng = np.random.default_rng(0)
    R, w = rotation.exp(spread * rng.normal(size=(40, 3))), rng.dirichlet(np.ones(40))
    M = rotation.mean(R, w)
    np.testing.assert_allclose(M.T @ M, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(w @ rotation.log(M.T @ R), 0.0, atol=1e-14)


def test_mean_angle_across_half_a_turn():
    chart = Angles(2, angles=[1])
    states = np.array([[0.0, np.pi - 0.1], [1.0, -np.pi + 0.3], [5.0, np.pi]])
    w = np.array([0.25, 0.5, 0.25])
    np.testing.assert_allclose(chart.mean(states, w), [1.75, wrap(np.pi + 0.125)], atol=1e-14)
    np.testing.assert_allclose(w @ chart.minus(states, chart.mean(states, w)), 0, atol=1e-14)


def test_mean_angle_of_weights_that_go_round_the_circle():
    """Nearly equal weights: many angles wrap between iterations."""
    angles = [-0.5, -2.9, -2.4, 0.9, -0.7, 2.9, -1.8, 0, 2.8, -2.5, -0.3, 2.1]
    w = np.array([4, 1, 1, 3, 2, 3, 1.5, 4.5, 5, 1.5, 5, 4])
    chart, rng = Angles(1, angles=[0]), np.random.default_rng(0)
    drawn = [(rng.uniform(-np.pi, np.pi, 50), rng.random(50)) for _ in range(50)]
    for states, weights in [(np.array(angles), w), *drawn]:
        increments = chart.minus(states[:, None], chart.mean(states[:, None], weights))
        assert abs(weights @ increments[:, 0]) < 1e-12 * weights.sum()


def test_integer_states_give_float_results():
    a, b = np.array([[1, 2, 3]]), np.array([[0, 0, -3]])
    np.testing.assert_allclose(SE2().minus(a, b), [[1, 2, 6 - 2 * np.pi]])
    np.testing.assert_allclose(SE2().plus(a, a), [[2, 4, 6 - 2 * np.pi]])
    np.testing.assert_allclose(SE2().coordinates(b, a), [[1, 2, 3 - 2 * np.pi]])
    assert SE2().states(b, a).dtype == np.float64
    pose = Pose([1, 2, 3], np.eye(3, dtype=int))
    moved = SE3().plus(pose, [1, 0, 0, 0, 0, 1])
    assert moved.position.dtype == np.float64
    np.testing.assert_allclose(moved.rotation, rotation.exp([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(SE3().minus(moved, pose), [1, 0, 0, 0, 0, 1], atol=1e-15)


POSES = Pose(np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
NO_POSITION = Pose(np.array([[0.0, np.nan, 0.0], [0.0, 0.0, 0.0]]), POSES.rotation)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: SE2().plus(np.zeros(3), np.zeros(2)),
            r"increments must have .*\(..., 3\), got \(2,",
        ),
        (lambda: SE2().minus(np.zeros((4, 2)), np.zeros(3)), r"states must have .* got \(4, 2\)"),
        (lambda: SE2().minus(np.zeros(3), 0.0), r"origins must have shape \(..., 3\), got \(\)"),
        (lambda: SE2().coordinates(np.zeros(3), np.zeros((1, 4))), r"states must .*got \(1, 4\)"),
        (lambda: SE2().states(np.zeros(3), np.zeros((1, 4))), r"x must have shape .*got \(1, 4\)"),
        (lambda: SE2().jacobian(np.zeros((1, 4))), r"x must have shape .*got \(1, 4\)"),
        (lambda: SE3().states(LEVEL, np.zeros(3)), r"x must have shape \(..., 6\), got \(3,\)"),
        (lambda: SE3().jacobian(np.zeros(3)), r"x must have shape \(..., 6\), got \(3,\)"),
        (lambda: SE3().plus(LEVEL, np.zeros(3)), r"increments must have shape \(..., 6\), got \(3"),
        (
            lambda: SE3().minus(Pose(np.zeros(2), np.eye(3)), LEVEL),
            r"states must have a posit.* got \(2,\) an",
        ),
        (
            lambda: SE3().minus(LEVEL, Pose(np.zeros(3), np.eye(2))),
            r"origins must have .* and \(2, 2\)",
        ),
        (lambda: SE2().mean(np.empty((0, 3))), r"states must have at least one row"),
        (
            lambda: SE2().mean(np.zeros((2, 3)), [1.0]),
            r"w must have one row per row of states \(2\)",
        ),
        (lambda: SE2().mean(np.zeros((2, 3)), [0.0, 0.0]), r"w must not all be zero"),
        (
            lambda: SE3().mean(Pose(np.empty((0, 3)), np.empty((0, 3, 3)))),
            r"states must have at le",
        ),
        (lambda: SE3().mean(POSES, [1.0]), r"w must have one row per row of states \(2\), got 1"),
        (lambda: SE3().mean(POSES, [0.0, 0.0]), r"w must not all be zero"),
        (lambda: SE3().mean(NO_POSITION), r"positions of states must be finite, got nan at index"),
        (lambda: SE3().mean(LEVEL), r"positions of states must have shape \(n, 3\).*got \(3,\)"),
    ],
)
def test_invalid_states_of_a_chart_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_tuple_is_not_accepted_as_a_pose():
    with pytest.raises(
        TypeError, match=r"states must be a Pose\(position, rotation\), got a tuple o"
    ):
        SE3().minus((np.zeros(3), np.eye(3)), LEVEL)


def test_wrapped_angles():
    np.testing.assert_array_equal(wrap([np.pi, -np.pi, 0.0]), [np.pi, np.pi, 0.0])
    angle = np.linspace(-20, 20, 1001)
    np.testing.assert_allclose(np.exp(1j * wrap(angle)), np.exp(1j * angle), atol=1e-14)
    assert (np.abs(wrap(angle)) <= np.pi).all()


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(np.nextafter(-np.pi, 0.0))
@example(np.nextafter(-np.pi, -4.0))
@example(np.nextafter(np.pi, 4.0))
@example(-1001 * np.pi)
@example(1e300)
def test_wrapped_angles_are_in_the_half_open_interval(angle):
    wrapped = float(wrap(angle))
    assert -np.pi < wrapped <= np.pi
    assert abs(wrapped) == abs(remainder(angle, 2 * np.pi))  # exact in floating point


def test_wrapped_angles_of_missing_and_infinite_ones():
    np.testing.assert_array_equal(wrap([np.nan, 4.0]), [np.nan, 4.0 - 2 * np.pi])
    with pytest.raises(ValueError, match=r"angle must be finite, got \[ 0. inf\]"):
        wrap([0.0, np.inf])
    for value in ("3.1", 1j):
        with pytest.raises(TypeError, match="angle must be an array of real numbers, got"):
            wrap(value)


@pytest.mark.parametrize(
    ("chart", "reference", "states"),
    [
        (SE3(), Pose(np.ones(3), rotation.exp([0.2, -3.0, 0.4])), random_poses(20)),
        (SE2(), np.array([1.0, 2.0, 3.1]), np.random.default_rng(0).uniform(-3, 3, (20, 3))),
        (Angles(4, [0, 3]), np.full(4, -3.0), np.random.default_rng(1).uniform(-3, 3, (20, 4))),
        (Angles(2), np.zeros(2), np.random.default_rng(2).normal(size=(20, 2))),
    ],
)
def test_charts_round_trip_and_have_correct_jacobians(chart, reference, states):
    x = chart.coordinates(reference, states)
    assert x.shape == (20, chart.d)
    np.testing.assert_allclose(chart.minus(chart.states(reference, x), states), 0, atol=1e-12)
    xi = 0.3 * np.random.default_rng(3).normal(size=x.shape)
    np.testing.assert_allclose(chart.minus(chart.plus(states, xi), states), xi, atol=1e-12)
    h, D = 1e-6, chart.jacobian(x)
    for k, e in enumerate(h * np.eye(chart.d)):
        up, down = (chart.coordinates(reference, chart.plus(states, s * e)) for s in (1, -1))
        inner = np.abs(x).max(axis=1) < 3.1  # a chart ends at half a turn
        np.testing.assert_allclose(((up - down) / (2 * h) - D[:, :, k])[inner], 0, atol=1e-6)
    centre = chart.mean(chart.plus(reference, xi))
    np.testing.assert_allclose(chart.minus(chart.plus(reference, xi), centre).mean(0), 0, atol=1e-9)


class Spinning:
    """A pose that turns steadily and is measured directly, for comparison with a Kalman filter."""

    turn, q, r = np.array([0.0, 0.0, 0.0, 0.0, 0.02, 0.5]), 1e-4, 1e-3

    def prior(self):
        return Pose(np.zeros(3), rotation.exp([0.0, 0.0, 2.9])), self.q * np.eye(6)

    def transition(self, t, states):
        return SE3().plus(states, self.turn), self.q * np.eye(6)

    def log_likelihood(self, t, states, y):
        e = SE3().minus(Pose(*y), states)
        return -0.5 * (e**2).sum(axis=1) / self.r

    def simulate(self, T, seed=0):
        rng = np.random.default_rng(seed)
        chart, noise = SE3(), self.q**0.5
        state = chart.plus(self.prior()[0], noise * rng.normal(size=6))
        path, ys = [], []
        for _ in range(T):
            path.append(state)
            ys.append(tuple(chart.plus(state, self.r**0.5 * rng.normal(size=6))))
            state = chart.plus(state, self.turn + noise * rng.normal(size=6))
        return path, ys


def test_a_filter_on_poses_follows_a_turning_body():
    """With small noise it is a Kalman filter with one gain for all six increments; neither the
    error nor the covariance jumps where the yaw crosses pi.
    """
    model = Spinning()
    chart = SE3()
    path, ys = model.simulate(40)
    pf = skh.ParticleFilter(Charted(model, chart), skh.QuasiMonteCarlo("hilbert"), 4_096, rng=0)
    estimate, variance = model.prior()[0], model.q
    for t, y in enumerate(ys):
        if t:
            estimate, variance = chart.plus(estimate, model.turn), variance + model.q
        gain = variance / (variance + model.r)
        estimate = chart.plus(estimate, gain * chart.minus(Pose(*y), estimate))
        variance *= 1 - gain
        belief = pf.step(y)
        states = states_of(belief)
        mean = chart.mean(states, belief.w)
        sd = variance**0.5
        assert np.abs(chart.minus(mean, estimate)).max() < 0.25 * sd
        centred = chart.minus(states, mean)
        np.testing.assert_allclose(belief.w @ centred**2, variance, rtol=0.25)
        assert np.abs(chart.minus(path[t], mean)).max() < 5 * sd


def test_a_chart_without_angles_changes_nothing():
    inner = skh.models.lgss3()

    class Plain:
        def prior(self):
            return inner.initial_mean, inner.initial_covariance

        transition, log_likelihood = inner.transition, inner.log_likelihood

    _, ys = inner.simulate(10, rng=0)
    a = skh.particle_filter(inner, ys, skh.Stratified(), 50, rng=0)
    b = skh.particle_filter(Charted(Plain(), Angles(3)), ys, skh.Stratified(), 50, rng=0)
    np.testing.assert_allclose(b.means, a.means, atol=1e-12)
    assert b.log_evidence == pytest.approx(a.log_evidence, abs=1e-10)
    with pytest.raises(TypeError, match="belief must come from a Charted model"):
        states_of(skh.ParticleFilter(inner, skh.Stratified(), 5, rng=0).step(ys[0]))
    with pytest.raises(TypeError, match="chart must be a chart such as"):
        Charted(Plain(), Angles)


def test_covariances_of_a_chart_without_turns_stay_shared():
    class Still:
        def prior(self):
            return np.zeros(3), np.eye(3)

        def transition(self, t, s):
            return s, self.noise

        def log_likelihood(self, t, s, y):
            return np.zeros(len(s))

    model = Still()
    model.noise = 0.1 * np.eye(3)
    pf = skh.ParticleFilter(Charted(model, SE2()), skh.Stratified(), 7, rng=0)
    pf.step(0.0)
    assert pf.predict().covariances.shape == (3, 3)
    model.noise = [0.1, 0.2]
    pf.step(0.0)
    message = r"that model.transition at t=1 returns must have shape \(\), \(7,\), .*, got \(2,\)"
    with pytest.raises(ValueError, match=message):
        pf.predict()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotation.exp([1.0, 2.0]), r"v must have shape \(..., 3\), got \(2,\)"),
        (lambda: rotation.log(np.eye(2)), r"R must have shape \(..., 3, 3\), got \(2, 2\)"),
        (lambda: rotation.log(2 * np.eye(3)), r"R must hold rotations.*off by 3"),
        (lambda: rotation.log(-np.eye(3)), r"R must hold rotations.*det R = -1: mirrored"),
        (
            lambda: rotation.log([np.eye(3), np.eye(3), np.diag([1.0, 1.0, -2.0]), 2 * np.eye(3)]),
            r"R must hold rotations.*; det R = -2 at index 2: mirrored",
        ),
        (
            lambda: rotation.log([np.eye(3), 1.1 * np.eye(3), -np.eye(3)]),
            r"R must hold rotations.*; R'R is off by 0.21 at index 1",
        ),
        (lambda: rotation.exp([np.nan, 0, 0]), r"v must be finite, got nan"),
        (lambda: rotation.from_quaternion(np.zeros(4)), r"q must have quaternions of positive len"),
        (lambda: rotation.mean(np.eye(3)), r"R must have shape \(n, 3, 3\) .* \(3, 3\)"),
        (lambda: rotation.mean(np.eye(3)[None], [1.0, 2.0]), r"w must have one row per row of R"),
        (lambda: rotation.mean(np.empty((0, 3, 3))), r"R must have shape .* with n >= 1, got \(0,"),
        (lambda: Angles(2, [1.0]), r"angles must be some of 0..1, got \[1.0\]"),
        (lambda: Angles(2, [2]), r"angles must be some of 0..1, got \[2\]"),
        (lambda: Angles(2, [1, 1]), r"angles must be some of 0..1, got \[1, 1\]"),
    ],
)
def test_invalid_rotations_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class OwnChart:
    """The chart of poses without the optional method `covariances`."""

    def __getattr__(self, name):
        if name == "covariances":
            raise AttributeError(name)
        return getattr(SE3(), name)


class Turned(Spinning):
    """The same model in rotated world axes."""

    def __init__(self, R):
        self.R = R

    def prior(self):
        pose, covariance = super().prior()
        return Pose(pose.position, self.R @ pose.rotation), covariance


@pytest.mark.parametrize(
    ("chart", "R"),
    [(OwnChart(), np.eye(3)), (SE3(), rotation.exp([0.3, -2.0, 1.0]))],
    ids=["own", "turned"],
)
def test_a_filter_on_poses_depends_neither_on_shortcuts_nor_on_world_axes(chart, R):
    _, ys = Spinning().simulate(10)
    seen = [(p, R @ rotation_) for p, rotation_ in ys]
    a = skh.particle_filter(
        Charted(Spinning(), SE3()), ys, skh.Stratified(), 30, rng=0, history=True
    )
    b = skh.particle_filter(
        Charted(Turned(R), chart), seen, skh.Stratified(), 30, rng=0, history=True
    )
    assert b.log_evidence == pytest.approx(a.log_evidence, abs=1e-8)
    before, after = states_of(a.history[-1]), states_of(b.history[-1])
    np.testing.assert_allclose(after.position, before.position, atol=1e-10)
    np.testing.assert_allclose(after.rotation, R @ before.rotation, atol=1e-10)
