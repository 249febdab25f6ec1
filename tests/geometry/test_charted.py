"""Models on manifolds: their inputs, their valid and invalid return values, and the results."""

from copy import deepcopy

import numpy as np
import pytest

import skh
from skh.geometry import (
    SE2,
    SE3,
    Angles,
    Charted,
    Pose,
    paths_of,
    reference_of,
    rotation,
    states_of,
    wrap,
)
from skh.geometry.charted import ChartedCarry
from skh.geometry.stack import tiled

T = 4
LEVEL = Pose(np.zeros(3), rotation.exp([0.0, 0.0, 2.0]))


class Free:
    """A model made of given return values."""

    def __init__(self, prior, transition=None, log_likelihood=None):
        self.prior = lambda: prior
        self.transition = transition or (lambda t, s: (s, 0.01))
        self.log_likelihood = log_likelihood or (lambda t, s, y: np.zeros(rows(s)))


def rows(states):
    return len(states[0] if isinstance(states, Pose) else states)


def stepped(model, chart, n=5, steps=2, rule=None):
    pf = skh.ParticleFilter(Charted(model, chart), rule or skh.Stratified(), n, rng=0)
    for _ in range(steps):
        pf.step(0.0)
    return pf


# --- inputs of a model ----------------------------------------------------------------------------


def spoil(states):
    for part in states if isinstance(states, Pose) else (states,):
        part[0] = 7.0


STARTS = {"rows": ((np.zeros(3), 0.1), SE2()), "poses": ((LEVEL, 0.1), SE3())}
CARRIED = {"stratified": skh.Stratified(), "smoothed": skh.Smoothed(skh.Stratified())}


@pytest.mark.parametrize("rule", CARRIED.values(), ids=CARRIED)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("method", ["transition", "log_likelihood"])
def test_states_that_a_model_is_given_are_read_only(method, start, rule):
    """A failed step does not change the filter."""
    (prior, chart), spoiling = STARTS[start], False

    def transition(t, s):
        if spoiling and method == "transition":
            spoil(s)
        return s, 0.01

    def log_likelihood(t, s, y):
        if spoiling and method == "log_likelihood":
            spoil(s)
        return np.zeros(rows(s))

    model = Free(prior, transition, log_likelihood)
    plain, hit = (stepped(model, chart, rule=rule) for _ in range(2))
    spoiling = True
    with pytest.raises(ValueError, match="read-only"):
        hit.step(0.0)
    spoiling = False
    np.testing.assert_array_equal(hit.step(0.0).x, plain.step(0.0).x)
    for a, b in zip(states_of(hit.belief), states_of(plain.belief), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="read-only"):
        spoil(states_of(hit.belief))


def test_records_are_made_from_states_that_are_read_only():
    class Careless(Free):
        def initial_carry(self, s):
            assert not s.flags.writeable
            return np.zeros(len(s))

        def move(self, t, s, carry, new):
            spoil(new)
            return carry

    model = Careless((np.zeros(3), 0.1), lambda t, s, carry: (s, 0.01))
    model.log_likelihood = lambda t, s, y, carry: (np.zeros(len(s)), carry)
    pf = stepped(model, SE2(), steps=1)
    with pytest.raises(ValueError, match="read-only"):
        pf.step(0.0)


# --- valid return values --------------------------------------------------------------------------


def robot(prior, **more):
    """A robot with a heading that measures range and bearing to a beacon at 0."""

    def transition(t, s):
        return s + np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), np.full(len(s), 0.9)], axis=1), 0.01

    def log_likelihood(t, s, y):
        bearing = np.arctan2(-s[1], -s[0]) - s[2]
        return -0.5 * ((np.hypot(s[0], s[1]) - y[0]) ** 2 + wrap(bearing - y[1]) ** 2) / 0.1

    return skh.model_from_functions(prior, transition, log_likelihood, batched=False, **more)


SEEN = [(5.0, 0.3), (5.4, -0.5), (5.5, -1.4), (5.0, -2.3), (4.6, 3.0), (4.5, 2.0)]


def test_a_model_from_functions_turns_in_the_plane():
    """The heading wraps; a start that differs by full turns is the same start."""
    start, S = np.array([5.0, 0.0, 3.0]), 0.01 * np.eye(3)
    model = Charted(robot((start, S)), SE2())
    result = skh.particle_filter(model, SEEN, skh.Stratified(), 200, rng=0)
    turned = Charted(robot((start + np.array([0, 0, 6 * np.pi]), S)), SE2())
    again = skh.particle_filter(turned, SEEN, skh.Stratified(), 200, rng=0)
    assert again.log_evidence == pytest.approx(result.log_evidence, abs=1e-9)
    apart = SE2().minus(again.mean_states, result.mean_states)
    np.testing.assert_allclose(apart, 0, atol=1e-9)
    assert (np.abs(result.mean_states[:, 2]) <= np.pi).all()
    assert np.ptp(result.mean_states[:, 2]) > 3.0


def test_a_prior_mixture_of_one_component_equals_state_and_covariance():
    start, S = np.array([5.0, 0.0, 3.0]), np.diag([0.1, 0.2, 0.3])
    inner = robot((start, S))
    pair = Free((start, S), inner.transition, inner.log_likelihood)
    a, b = (
        skh.particle_filter(Charted(m, SE2()), SEEN, skh.Stratified(), 30, rng=0)
        for m in (inner, pair)
    )
    np.testing.assert_allclose(a.means, b.means, atol=1e-10)


def test_a_prior_mixture_across_pi_is_accepted():
    prior = skh.GaussianMixture([3.0, 1.0], [[0, 0, 3.1], [0, 0, -3.0]], 1e-4)
    p = Charted(robot(prior), SE2()).prior()
    np.testing.assert_allclose(p.weights, [0.75, 0.25])
    mean = wrap(3.1 + 0.25 * (2 * np.pi - 6.1))
    np.testing.assert_allclose(wrap(p.mean[2]), mean, atol=1e-12)
    assert p.covariance[2, 2] < 0.01
    matrices = skh.GaussianMixture([1.0, 1.0], np.zeros((2, 3)), np.array([1, 2.0]))
    p = Charted(robot(matrices), SE2()).prior()
    np.testing.assert_array_equal(p.covariance_matrices, matrices.covariance_matrices)


@pytest.mark.parametrize("start", STARTS)
def test_covariances_of_all_forms_that_a_plain_model_may_return(start):
    prior, chart = STARTS[start]
    n, one = 5, np.eye(chart.d)
    each = np.linspace(0.01, 0.02, n)
    forms = [(0.01, 0.01 * one), (each, each[:, None, None] * one)]
    for short, full in forms:
        a, b = (stepped(Free(prior, lambda t, s, S=S: (s, S)), chart, n) for S in (short, full))
        np.testing.assert_array_equal(
            a.predict().covariance_matrices, b.predict().covariance_matrices
        )


def test_poses_may_be_made_of_lists():
    start = Pose([0, 0, 1], np.eye(3).tolist())
    model = Free((start, 0.1), lambda t, s: (Pose(s.position.tolist(), s.rotation.tolist()), 0.1))
    assert stepped(model, SE3()).belief.x.shape == (5, 6)


# --- invalid return values ------------------------------------------------------------------------


def second(states, matrix):
    R = states.rotation.copy()
    R[1:] = R[1:] @ matrix
    return Pose(states.position, R)


SHEAR = np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (SHEAR, r"R'R is off by 0\.\d+ at particle 1"),
        (-np.eye(3), r"det R = -1 at particle 1: mirrored"),
        (2 * np.eye(3), r"R'R is off by 3 at particle 1"),
        (np.full((3, 3), np.nan), r"must be finite, got nan at index \(1, 0, 0\)"),
    ],
    ids=["shear", "mirror", "scale", "nan"],
)
def test_transitions_to_invalid_rotations_are_rejected(matrix, message):
    pf = stepped(Free((LEVEL, 0.1), lambda t, s: (second(s, matrix), 0.1)), SE3(), steps=1)
    with pytest.raises(ValueError, match=rf"rotation of .*model\.transition at t=0 .*{message}"):
        pf.step(0.0)
    prior = Pose(np.zeros(3), LEVEL.rotation @ matrix)
    with pytest.raises(ValueError, match=r"rotation of the state that model\.prior returns must"):
        stepped(Free((prior, 0.1)), SE3())


@pytest.mark.parametrize(
    ("chart", "returned", "got"),
    [
        (SE2(), [0.0, 0.0, 0.0], r"must return \(state, covariance\) or.*; got a list of 3"),
        (SE2(), None, r"must return \(state, covariance\) or.*; got None"),
        (SE2(), np.zeros(3), r"must return .*; got an array of shape \(3,\)"),
        (SE2(), 3.0, r"must return .*; got 3.0"),
        (SE2(), (1.0, 2.0), r"the state that model.prior returns must have shape \(3,\), got \(\)"),
        (SE2(), (np.zeros(2), 1.0), r"returns must have shape \(3,\), got \(2,\)"),
        (SE2(), (None, 1.0), r"returns must be an array of real numbers, got None"),
        (SE2(), ("here", 1.0), r"returns must be an array of real numbers, got 'here'"),
        (SE2(), (LEVEL, 1.0), r"returns must be an array of real numbers, got Pose"),
        (SE2(), (np.zeros(3), np.eye(2)), r"model.prior must return .*covariances must have shape"),
        (SE2(), (np.zeros(3), None), r"model.prior must return .*covariances must be an array"),
        (
            SE2(),
            skh.GaussianMixture([1.0], [[0.0]], 1.0),
            r"the means that model.prior ret.*\(1, 3",
        ),
        (SE3(), LEVEL, r"must return .*; got a Pose"),
        (SE3(), (np.zeros(6), 1.0), r"prior returns must be a Pose.*got an array of shape \(6,\)"),
        (SE3(), ((np.zeros(3), np.eye(3)), 1.0), r"returns must be a Pose.*got a tuple of 2"),
        (
            SE3(),
            (Pose(np.zeros(2), np.eye(3)), 1.0),
            r"the state .* must have a position .*got \(2,\)",
        ),
        (SE3(), (Pose([0, 0, "a"], np.eye(3)), 1.0), r"the state .* real numbers"),
        (SE3(), skh.GaussianMixture([1.0], np.zeros((1, 6)), 1.0), r"the means .*must be a Pose"),
    ],
)
def test_invalid_priors_are_named(chart, returned, got):
    with pytest.raises((TypeError, ValueError), match=got) as error:
        stepped(Free(returned), chart)
    assert "model.prior" in str(error.value)


@pytest.mark.parametrize(
    ("chart", "returned", "got"),
    [
        (SE2(), lambda s: None, r"must return \(states, covariances\) or a Gaussian.*; got None"),
        (SE2(), lambda s: s, r"must return .* got an array of shape \(5, 3\)"),
        (SE2(), lambda s: (s[1:], 0.1), r"returns must have shape \(5, 3\), got \(4, 3\)"),
        (SE2(), lambda s: (s[:, :2], 0.1), r"returns must have shape \(5, 3\), got \(5, 2\)"),
        (SE2(), lambda s: (s[0], 0.1), r"returns must have shape \(5, 3\), got \(3,\)"),
        (SE2(), lambda s: (None, 0.1), r"returns must be an array of real numbers, got None"),
        (SE2(), lambda s: (s, None), r"covariances .* must be an array of real"),
        (SE2(), lambda s: (s, "wide"), r"covariances that .* real numbers, got 'wide'"),
        (
            SE2(),
            lambda s: skh.GaussianMixture(np.ones(4), s[1:], 1.0),
            r"same number of components",
        ),
        (SE3(), lambda s: skh.GaussianMixture(np.ones(5), s.position, 1.0), r"must be a Pose"),
        (SE3(), lambda s: s, r"must return .* got a Pose"),
        (SE3(), lambda s: (tuple(s), 0.1), r"returns must be a Pose.*got a tuple of 2"),
        (SE3(), lambda s: (s.position, 0.1), r"must be a Pose.*got an array of shape \(5, 3\)"),
        (SE3(), lambda s: (Pose(s.position[1:], s.rotation), 1.0), r"position of.*got \(4, 3\)"),
        (SE3(), lambda s: (Pose(*(p[1:] for p in s)), 0.1), r"position of.*\(5, 3\), got \(4, 3\)"),
        (SE3(), lambda s: (Pose(s.position, s.rotation[0]), 1.0), r"rotation of.*got \(3, 3\)"),
        (SE3(), lambda s: (s, np.eye(3)), r"covariances that .* \(5, 6, 6\), got \(3, 3\)"),
    ],
)
def test_invalid_transitions_are_named(chart, returned, got):
    start = LEVEL if chart == SE3() else np.zeros(3)
    pf = stepped(Free((start, 0.1), lambda t, s: returned(s)), chart, steps=1)
    with pytest.raises((TypeError, ValueError), match=got) as error:
        pf.step(0.0)
    assert "model.transition at t=0" in str(error.value)


def test_models_of_vectors_cannot_be_charted():
    with pytest.raises(TypeError, match="RaoBlackwellized subtracts states as vectors"):
        Charted(skh.rao_blackwellize(skh.models.lgss3(), [0]), Angles(1, angles=[0]))


def test_information_about_increments_becomes_information_about_coordinates():
    """Against finite differences: a likelihood that falls with the squared rotated increment."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    F = A @ A.T
    reference = SE3().states(LEVEL, rng.normal(size=6))
    x = 0.7 * rng.normal(size=6)
    origin = SE3().states(reference, x)

    def half_square(coordinates):
        e = SE3().minus(SE3().states(reference, coordinates), origin)
        return 0.5 * e @ F @ e

    h = 1e-4
    steps = h * np.eye(6)
    hessian = [
        [
            (half_square(x + a + b) - half_square(x + a - b)) / (4 * h * h)
            + (half_square(x - a - b) - half_square(x - a + b)) / (4 * h * h)
            for b in steps
        ]
        for a in steps
    ]
    telling = Free((LEVEL, 0.1), None)
    telling.observation_metric = lambda t, s: F
    carry = ChartedCarry(None, tiled(reference, 1), None)
    told = Charted(telling, SE3()).information_at(0, x[None], carry)
    np.testing.assert_allclose(told[0], hessian, rtol=1e-4, atol=1e-4)


def test_information_of_the_wrong_shape_is_named_in_charts():
    telling = robot((np.zeros(3), 1.0), observation_metric=lambda t, s: np.eye(2))
    pf = skh.ParticleFilter(Charted(telling, SE2()), n=20, rng=0)
    with pytest.raises(ValueError, match=r"observation_metric at t=0 .* got shape \(2, 2\)"):
        pf.step(0.0)


# --- results --------------------------------------------------------------------------------------


class Tumbling:
    """A pose that turns by large angles and is measured directly."""

    turn = np.array([1.0, 0.0, 0.0, 0.3, 0.2, 0.9])

    def prior(self):
        return LEVEL, 1e-4

    def transition(self, t, s):
        return SE3().plus(s, self.turn), 1e-4

    def log_likelihood(self, t, s, y):
        return -0.5 * (SE3().minus(y, s) ** 2).sum(axis=1) / 1e-3

    def observed(self):
        poses = [LEVEL]
        for _ in range(T - 1):
            poses.append(SE3().plus(poses[-1], self.turn))
        return poses


def test_results_on_poses_have_the_states():
    model, truth = Charted(Tumbling(), SE3()), Tumbling().observed()
    result = skh.particle_filter(model, truth, skh.Stratified(), 50, rng=0, history=True)
    assert result.mean_states.position.shape == (T, 3)
    assert result.mean_states.rotation.shape == (T, 3, 3)
    for t, belief in enumerate(result.history):
        state = Pose(*(part[t] for part in result.mean_states))
        mean = SE3().mean(states_of(belief), belief.w)
        np.testing.assert_array_equal(state.rotation, mean.rotation)
        np.testing.assert_array_equal(model.mean_state(belief).position, mean.position)
        assert np.abs(SE3().minus(truth[t], state)).max() < 0.02
    plain = skh.particle_filter(skh.models.lgss3(), [0.1], skh.Stratified(), 5, rng=0)
    assert plain.mean_states is None


@pytest.mark.parametrize("chart", [SE3(), SE2()], ids=["poses", "rows"])
def test_paths_of_states_follow_the_ancestors(chart):
    model, ys = Charted(Tumbling(), SE3()), Tumbling().observed()
    if chart != SE3():
        model, ys = Charted(robot((np.array([5.0, 0, 3]), 0.01)), SE2()), SEEN[:T]
    result = skh.particle_filter(model, ys, skh.MonteCarlo(), 20, rng=0, history=True)
    states, w = paths_of(result)
    x, weights = result.trajectories()
    np.testing.assert_array_equal(w, weights)
    if chart != SE3():
        np.testing.assert_array_equal(states, x)
        return
    assert states.position.shape == (20, T, 3)
    np.testing.assert_array_equal(states.position, x[..., :3])
    reference = LEVEL
    for t, belief in enumerate(result.history):
        turned = chart.states(reference, x[:, t]).rotation
        np.testing.assert_allclose(states.rotation[:, t], turned, atol=1e-14)
        reference = reference_of(belief)


def test_paths_need_a_history_of_a_charted_model():
    model, ys = Charted(Tumbling(), SE3()), Tumbling().observed()
    with pytest.raises(ValueError, match="history=True"):
        paths_of(skh.particle_filter(model, ys, skh.Stratified(), 5, rng=0))
    other = skh.particle_filter(skh.models.lgss3(), [0.1], skh.Stratified(), 5, history=True)
    with pytest.raises(TypeError, match="belief must come from a Charted model"):
        paths_of(other)
    with pytest.raises(TypeError, match="belief must come from a Charted model, got None"):
        reference_of(None)


def test_predictions_become_states_at_their_reference():
    model, ys = Charted(Tumbling(), SE3()), Tumbling().observed()
    pf = skh.ParticleFilter(model, skh.Stratified(), 50, rng=0)
    for y in ys[:2]:
        pf.step(y)
    ahead = deepcopy(pf)
    for h, truth in enumerate(ys[2:], 1):
        mixture = ahead.predict()
        np.testing.assert_allclose(mixture.means, pf.predict(h).means, atol=1e-12)
        mean = SE3().mean(SE3().states(reference_of(ahead.belief), mixture.means), mixture.weights)
        assert np.abs(SE3().minus(truth, mean)).max() < 0.05
        ahead.step(None)


def noisy_heading(t, s, y):
    return -0.5 * wrap(y - s[:, 0]) ** 2 / 0.04


@pytest.mark.parametrize("parts", [1, 3])
def test_a_mixture_of_equal_components_is_one_gaussian(parts):
    """Across the jump from pi to -pi, for any number of components."""

    def mixed(t, s):
        return skh.GaussianMixture(np.ones(parts * len(s)), np.repeat(s, parts, axis=0) + 0.3, 0.01)

    prior, chart = ([np.pi - 0.1], 0.04), Angles(1, angles=[0])
    models = [
        skh.model_from_functions(prior, transition, noisy_heading)
        for transition in (lambda t, s: (s + 0.3, 0.01), mixed)
    ]
    ys, rule = np.pi + 0.3 * np.arange(6), skh.QuasiMonteCarlo()
    one, several = (
        skh.particle_filter(Charted(model, chart), ys, rule, 512, rng=0) for model in models
    )
    np.testing.assert_allclose(one.mean_states, several.mean_states, atol=2e-3)
    assert abs(one.log_evidence - several.log_evidence) < 0.01


def test_simulators_inside_charts_draw_anew_at_each_step():
    """Against the Gaussian that they simulate, and again with the same seed."""
    simulated = skh.from_simulator(
        lambda n, rng: wrap(rng.normal(np.pi - 0.1, 0.2, (n, 1))),
        lambda t, s, rng: wrap(s + rng.normal(0.3, 0.1, s.shape)),
        noisy_heading,
        state_names=["heading"],
    )
    exact = skh.model_from_functions(
        ([np.pi - 0.1], 0.04), lambda t, s: (s + 0.3, 0.01), noisy_heading
    )
    chart, ys = Angles(1, angles=[0]), np.pi + 0.3 * np.arange(6)
    runs = [
        skh.particle_filter(Charted(model, chart), ys, skh.Stratified(), 200, rng=seed)
        for model, seed in ((exact, 0), (simulated, 0), (simulated, 0), (simulated, 1))
    ]
    assert runs[1].state_names == ("heading",)
    for run in runs[1:]:  # deviations are 0.1
        assert abs(wrap(run.mean_states - runs[0].mean_states)).max() < 0.04
        assert abs(run.log_evidence - runs[0].log_evidence) < 0.3
    np.testing.assert_array_equal(runs[1].means, runs[2].means)
    model = Charted(simulated, chart)
    first, second = (model.seeded(seed) for seed in (1, 2))
    assert not np.array_equal(first.prior().means, second.prior().means)
    assert Charted(exact, chart).seeded is None
