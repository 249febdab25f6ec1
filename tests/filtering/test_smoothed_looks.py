"""Smoothing first, then looking: displaced records, charts, and the default of a filter."""

import numpy as np
import pytest

import skh
from skh.filtering.default_plan import default_plan
from skh.geometry import SE2, Charted
from skh.rules.smoothing import SmoothingRule

INNER = skh.QuasiMonteCarlo()
SMOOTHING = {"smoothed": skh.Smoothed(INNER), "regularized": skh.Regularized(INNER)}
each_smoothing = pytest.mark.parametrize("rule", SMOOTHING.values(), ids=SMOOTHING)


def still(d, noise=1e-4, error=0.05):
    """A linear model with so little noise that predictive mixtures are lumpy."""
    return skh.models.LinearGaussian(
        A=np.eye(d),
        C=np.eye(d),
        Q=noise * np.eye(d),
        R=error * np.eye(d),
        initial_mean=np.zeros(d),
        initial_covariance=np.eye(d),
    )


def test_the_default_tracks_a_state_with_little_noise_in_six_dimensions():
    """Against the Kalman filter; a second look alone has about seven times the error."""
    model, ratios = still(6), []
    for seed in range(4):
        _, ys = model.simulate(15, rng=seed)
        exact = skh.kalman_filter(model, ys).means
        found = (
            skh.particle_filter(model, ys, rule, 50, rng=seed).means
            for rule in (None, skh.SecondLook())
        )
        default, plain = (np.sqrt(np.mean((means - exact) ** 2)) for means in found)
        ratios.append(default / plain)
    assert max(ratios) < 0.5
    assert np.exp(np.mean(np.log(ratios))) < 0.2


MODELS = {
    "nonlinear": skh.models.nonlinear_benchmark(),
    "volatility": skh.models.stochastic_volatility(),
    "wide noise": still(3, noise=0.5),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_default_is_a_second_look_to_the_bit_where_nothing_is_lumpy(model):
    _, ys = model.simulate(8, rng=0)
    ys = [*ys[:4], None, *ys[5:]]
    default, look = (
        skh.particle_filter(model, ys, rule, 20, rng=1, history=True)
        for rule in (None, skh.SecondLook())
    )
    for a, b in zip(default.history, look.history, strict=True):
        for name in ("x", "w", "ancestor", "mmd", "log_evidence_increment"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_the_default_plan_is_the_default():
    assert skh.ParticleFilter(MODELS["nonlinear"])._plan == default_plan() == skh.default_plan()


def first_questions(model, ys, rules, n=40):
    """The first question of each rule after the same steps."""
    start = skh.ParticleFilter(model, skh.Stratified(), n, rng=0)
    for y in ys:
        belief = start.step(y)
    return [skh.ParticleFilter(model, rule, n, rng=1, belief=belief).ask() for rule in rules]


def partly_hidden():
    """A lumpy model with Kalman filters for half of its state, and observations."""
    model = still(6)
    model = skh.models.LinearGaussian(
        A=np.eye(6) + 0.1 * np.eye(6, k=3),
        C=model.C,
        Q=model.Q,
        R=model.R,
        initial_mean=np.zeros(6),
        initial_covariance=np.diag([1.0] * 3 + [1e-3] * 3),
    )
    return model, skh.rao_blackwellize(model, [0, 1, 2]), model.simulate(6, rng=2)[1]


@each_smoothing
def test_the_pilot_has_the_displaced_records_of_the_rule(rule):
    """Its points are every other one of the inner rule's, for the smoothed mixture."""

    def displaced(p, n, *, rng=None):
        smoothing = rule.smoothing(p, n)
        return INNER(p, n, rng=rng) if smoothing is None else smoothed_points(smoothing, n, rng)

    def smoothed_points(smoothing, n, rng):
        return smoothing.displaced(INNER(smoothing.q, n, rng=rng))

    _, model, ys = partly_hidden()
    pilot, all_points, plain = first_questions(model, ys, [skh.SecondLook(rule), displaced, INNER])
    np.testing.assert_array_equal(pilot.x, all_points.x[::2])
    assert not np.array_equal(pilot.x, plain.x[::2])
    for a, b in zip(pilot.carry, all_points.carry, strict=True):
        np.testing.assert_allclose(a, b[::2], rtol=1e-12)


@each_smoothing
def test_hidden_states_agree_with_the_kalman_filter(rule):
    linear, model, ys = partly_hidden()
    exact = skh.kalman_filter(linear, ys)
    smooth = skh.particle_filter(model, ys, skh.SecondLook(rule), 100, rng=0)
    assert any(len(looks) > 1 for looks in smooth.looks)
    joint = np.concatenate([smooth.means, smooth.z_means], axis=1)
    sd = np.sqrt(np.diagonal(exact.covariances, axis1=1, axis2=2))
    assert np.sqrt(np.mean(((joint - exact.means) / sd) ** 2)) < 0.3
    variances = np.diagonal(smooth.joint_covariances, axis1=1, axis2=2)
    np.testing.assert_allclose(np.mean(variances / sd**2), 1.0, atol=0.25)


@each_smoothing
def test_asking_and_telling_changes_no_bit(rule):
    _, model, ys = partly_hidden()
    one, other = (skh.ParticleFilter(model, skh.SecondLook(rule), 40, rng=0) for _ in range(2))
    for t, y in enumerate([*ys[:3], None, *ys[4:]]):
        belief, question = one.step(y), other.ask(observed=y is not None)
        while question is not None:
            question = other.tell(*model.log_likelihood(t, question.x, y, question.carry))
        np.testing.assert_array_equal(other.belief.x, belief.x)
        np.testing.assert_array_equal(other.belief.w, belief.w)
        np.testing.assert_array_equal(other.belief.carry.mean, belief.carry.mean)
        assert np.isnan(belief.mmd)


class Rover:
    """Drives 0.3 m per step in the plane, almost exactly, and measures its pose."""

    def prior(self):
        return np.zeros(3), np.diag([0.2, 0.2, 0.1]) ** 2

    def transition(self, t, s):
        forward = 0.3 * np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), 0 * s[:, 2]], axis=1)
        return s + forward, np.diag([1e-3, 1e-3, 1e-3]) ** 2

    def log_likelihood(self, t, s, y):
        return -0.5 * ((s[:, :2] - y) ** 2).sum(axis=1) / 0.05**2


PATH = [np.array([0.3 * t, 0.02 * t]) for t in range(8)]


@each_smoothing
def test_a_lumpy_pose_in_the_plane_agrees_with_a_large_filter(rule):
    model = Charted(Rover(), SE2())
    reference = skh.particle_filter(model, PATH, skh.Smoothed(INNER), 20_000, rng=0).mean_states
    plan = skh.SecondLook(type(rule)(skh.default_rule()))
    found, alone = (
        skh.particle_filter(model, PATH, p, 50, rng=1).mean_states
        for p in (plan, skh.default_rule())
    )
    error, plain = (np.sqrt(np.mean((a - reference) ** 2)) for a in (found, alone))
    assert error < 0.02
    assert error < 0.5 * plain


class WithRecords(Rover):
    """The same with a count of steps in each particle, which cannot be displaced."""

    def initial_carry(self, s):
        return np.zeros(len(s))

    def transition(self, t, s, carry):
        return super().transition(t, s)

    def move(self, t, s, carry, new):
        return carry + 1.0

    def log_likelihood(self, t, s, y, carry):
        return super().log_likelihood(t, s, y), carry


class Flat(WithRecords):
    """The same in R^3."""

    def prior(self):
        return skh.GaussianMixture([1.0], *(np.asarray(a)[None] for a in super().prior()))


@pytest.mark.parametrize("model", [Flat(), Charted(WithRecords(), SE2())], ids=["flat", "charted"])
def test_without_displaced_records_nothing_is_smoothed(model):
    """`Regularized` leaves the mixture as it is; `Smoothed`, which was asked for, raises."""
    regularized, plain = (
        skh.particle_filter(model, PATH, skh.SecondLook(rule), 20, rng=0)
        for rule in (skh.Regularized(INNER), INNER)
    )
    np.testing.assert_array_equal(regularized.means, plain.means)
    with pytest.raises(TypeError, match="displaced"):
        skh.particle_filter(model, PATH, skh.SecondLook(skh.Smoothed(INNER)), 20, rng=0)


def test_a_prior_is_not_a_sample():
    """Its components, few and narrow, are what the user meant."""
    means = np.random.default_rng(0).normal(size=(5, 6))
    prior = skh.GaussianMixture(np.full(5, 0.2), means, 1e-6)

    class Places:
        def prior(self):
            return prior

        def transition(self, t, x):
            return x, 1e-6

        def log_likelihood(self, t, x, y):
            return np.zeros(len(x))

    smooth, plain = (
        skh.ParticleFilter(Places(), rule, 40, rng=0) for rule in (skh.Regularized(INNER), INNER)
    )
    np.testing.assert_array_equal(smooth.step(0.0).x, plain.step(0.0).x)
    assert not np.array_equal(smooth.step(0.0).x, plain.step(0.0).x)


def test_only_the_outermost_rule_may_smooth():
    for rule in SMOOTHING.values():
        assert isinstance(skh.SecondLook(rule).rule, SmoothingRule)
        with pytest.raises(ValueError, match="a rule that smooths must be outermost"):
            skh.SecondLook(skh.Matched(rule))
