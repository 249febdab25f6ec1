"""A second look in charts, with other rules, missing data, history, prediction and ask/tell."""

import numpy as np
import pytest

import skh
from skh.geometry import SE2, Charted, wrap

LANDMARKS = np.array([[4.0, 3.0], [-3.0, 4.0], [1.0, -5.0]])


class Robot:
    """Drives 0.3 m per step and measures range (2 cm) and bearing (0.01 rad) to three landmarks."""

    def prior(self):
        return np.zeros(3), np.diag([0.2, 0.2, 0.2]) ** 2

    def transition(self, t, s):
        forward = 0.3 * np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), 0 * s[:, 2]], axis=1)
        return s + forward + [0.0, 0.0, 0.2], np.diag([0.15, 0.15, 0.1]) ** 2

    def expected(self, s):
        e = LANDMARKS - s[:, None, :2]
        return np.hypot(e[..., 0], e[..., 1]), np.arctan2(e[..., 1], e[..., 0]) - s[:, 2:3]

    def log_likelihood(self, t, s, y):
        r, b = self.expected(s)
        squares = ((y[0] - r) / 0.02) ** 2 + (wrap(y[1] - b) / 0.01) ** 2
        return -0.5 * squares.sum(axis=1)


def drive(T, seed):
    """True poses, and measurements of them."""
    rng, robot = np.random.default_rng(seed), Robot()
    s, ys = np.array([[0.1, -0.1, 0.1]]), []
    for _ in range(T):
        r, b = (part[0] for part in robot.expected(s))
        ys.append((r + 0.02 * rng.normal(size=3), b + 0.01 * rng.normal(size=3)))
        mean, S = robot.transition(0, s)
        s = mean + rng.multivariate_normal(np.zeros(3), S)
    return ys


@pytest.fixture(scope="module")
def robot():
    ys = drive(12, 3)
    model = Charted(Robot(), SE2())
    reference = skh.particle_filter(model, ys, skh.Stratified(), 200_000, rng=0)
    return model, ys, reference


def error(result, reference):
    """Root mean square difference of the mean poses, in metres and radians."""
    e = result.mean_states - reference.mean_states
    e[:, 2] = wrap(e[:, 2])
    return np.sqrt(np.mean(e**2))


@pytest.mark.xdist_group("robot")
def test_a_pose_in_the_plane_agrees_with_a_large_filter(robot):
    """200,000 random particles have an ESS of some hundred there: errors of a tenth of 1 cm."""
    model, ys, reference = robot
    looks, plain = (
        [error(skh.particle_filter(model, ys, rule, 50, rng=s), reference) for s in range(3)]
        for rule in (skh.SecondLook(), skh.default_rule())
    )
    assert max(looks) < 0.003
    assert max(looks) < 0.1 * min(plain)


@pytest.mark.xdist_group("robot")
def test_information_told_in_a_chart_is_used(robot):
    """A pilot of 8 points in three dimensions cannot learn the curvature in the first step."""
    _, ys, reference = robot

    class Telling(Robot):
        def observation_metric(self, t, s):
            e = LANDMARKS - s[:, None, :2]
            r2 = (e**2).sum(-1)
            J = np.zeros((len(s), 6, 3))
            J[:, :3, :2] = -e / np.sqrt(r2)[..., None] / 0.02
            J[:, 3:, 0], J[:, 3:, 1] = e[..., 1] / r2 / 0.01, -e[..., 0] / r2 / 0.01
            J[:, 3:, 2] = -1 / 0.01
            return J.swapaxes(1, 2) @ J

    errors = [
        np.median([error(skh.particle_filter(model, ys, n=16, rng=s), reference) for s in range(5)])
        for model in (Charted(Telling(), SE2()), Charted(Robot(), SE2()))
    ]
    assert errors[0] < 0.2 * errors[1]


@pytest.mark.parametrize(
    "rule",
    [skh.Stratified(), skh.QuasiMonteCarlo(), skh.Matched(skh.default_rule()), skh.FWQuad()],
    ids=["stratified", "Sobol", "matched", "herding"],
)
def test_any_rule_may_look_twice(rule):
    model = skh.models.lgss3()
    _, ys = model.simulate(15, rng=2)
    exact = skh.kalman_filter(model, ys).means
    plain, looks = (
        skh.particle_filter(model, ys, r, 50, rng=0) for r in (rule, skh.SecondLook(rule))
    )
    assert (looks.n_likelihood_evaluations <= 50).all()
    assert np.abs(looks.means - exact).max() < 0.5 * np.abs(plain.means - exact).max()


def test_missing_observations_history_and_prediction():
    model = skh.models.lgss3()
    _, ys = model.simulate(12, rng=1)
    ys[4:6] = np.nan
    exact = skh.kalman_filter(model, ys)
    result = skh.particle_filter(model, ys, n=60, rng=0, history=True, quantiles=(0.1, 0.9))
    assert (result.n_likelihood_evaluations == [60] * 4 + [0] * 2 + [60] * 6).all()
    assert result.looks[4] == result.looks[5] == ()
    np.testing.assert_allclose(result.means, exact.means, atol=0.1)
    paths, _ = result.trajectories()
    assert paths.shape == (60, 12, 3)
    np.testing.assert_array_equal(paths[:, -1], result.history[-1].x)
    pf = skh.ParticleFilter(model, n=60, rng=0)
    for y in ys:
        pf.step(y)
    state = pf.belief.mean
    np.testing.assert_allclose(pf.predict().mean, model.A @ state, atol=1e-9)
    np.testing.assert_array_equal(pf.predict(3).mean, pf.predict(3).mean)


def test_a_conversation_with_several_looks_equals_the_step():
    model = skh.models.lgss3()
    _, ys = model.simulate(8, rng=5)
    whole = skh.particle_filter(model, ys, n=40, rng=9)
    pf, asked = skh.ParticleFilter(model, n=40, rng=9), []
    for t, y in enumerate(ys):
        question = pf.ask()
        asked.append(0)
        while question is not None:
            assert question.look == 0 or asked[-1] > 0
            asked[-1] += len(question.x)
            question = pf.tell(model.log_likelihood(t, question.x, y))
        np.testing.assert_array_equal(pf.belief.mean, whole.means[t])
    np.testing.assert_array_equal(asked, whole.n_likelihood_evaluations)
    assert max(len(looks) for looks in whole.looks) > 1


def test_the_default_of_a_filter_looks_twice():
    model = skh.models.lgss3()
    _, ys = model.simulate(5, rng=0)
    by_default, named = (
        skh.particle_filter(model, ys, rule, 50, rng=1)
        for rule in (None, skh.SecondLook(skh.default_rule()))
    )
    np.testing.assert_array_equal(by_default.means, named.means)
    plain = skh.particle_filter(model, ys, skh.default_rule(), 50, rng=1)
    assert plain.looks == ((),) * 5
