"""A model tells the information of an observation once the observation is known."""

import numpy as np
import pytest

import skh
from skh.filtering.likelihood_information import TOLD_AT, representatives
from skh.geometry import SE3, Charted, Pose, rotation
from skh.reproduction.second_look.cases import told


class Axes:
    """A state in the plane; y = (k, v) measures its coordinate k as v, precisely."""

    def __init__(self):
        self.seen = []

    def prior(self):
        return skh.GaussianMixture([1.0], [[0.0, 0.0]], 1.0)

    def transition(self, t, x):
        return x, 0.1

    def log_likelihood(self, t, x, y):
        return -0.5 * (x[:, int(y[0])] - y[1]) ** 2 / 0.01

    def information(self, t, x, y):
        self.seen.append((t, len(x)))
        F = np.zeros((len(x), 2, 2))
        F[:, int(y[0]), int(y[0])] = 100.0
        return F


class Catching:
    """A rule that keeps the information it was given."""

    uses_information = True

    def __init__(self):
        self.caught = []

    def __call__(self, p, n, *, rng):
        self.caught.append(p.information)
        return skh.Stratified()(p, n, rng=rng)


def test_the_rule_is_given_the_information_of_this_observation():
    rule, model = Catching(), Axes()
    skh.particle_filter(model, [(0, 0.1), (1, 0.2), None, (0, 0.3)], rule, 20, rng=0)
    told = [F for F in rule.caught if F is not None]
    np.testing.assert_array_equal(told[0], np.diag([100.0, 0.0]))
    np.testing.assert_array_equal(told[1], np.diag([0.0, 100.0]))
    np.testing.assert_array_equal(told[2], np.diag([100.0, 0.0]))
    assert model.seen == [(0, 1), (1, TOLD_AT), (3, TOLD_AT)]


def test_before_the_observation_is_known_information_is_learned():
    rule, model = Catching(), Axes()
    pf = skh.ParticleFilter(model, rule, 20, rng=0)
    for y in [(0, 0.1), (0, 0.2)]:
        question = pf.ask()
        assert pf.tell(model.log_likelihood(0, question.x, y)) is None
    assert rule.caught[0] is None
    F = rule.caught[1]
    assert model.seen == []
    assert F[0, 0] > 10 * abs(F[1, 1])


def test_asking_with_the_observation_is_a_step():
    ys = [(0, 0.1), (1, 0.2), (1, 0.3)]
    model, pf = Axes(), skh.ParticleFilter(Axes(), n=20, rng=0)
    for y in ys:
        question = pf.ask(y=y)
        while question is not None:
            question = pf.tell(model.log_likelihood(question.t, question.x, y))
    result = skh.particle_filter(Axes(), ys, n=20, rng=0)
    np.testing.assert_array_equal(pf.belief.mean, result.means[-1])


def test_representatives_have_the_mean_of_all():
    rng = np.random.default_rng(0)
    w = rng.dirichlet(np.ones(1_000))
    rows, share = representatives(w)
    assert share.sum() == pytest.approx(1.0)
    assert share @ rows == pytest.approx(w @ np.arange(1_000), abs=1_000 / TOLD_AT)
    np.testing.assert_array_equal(representatives(w[:3])[0], [0, 1, 2])
    np.testing.assert_array_equal(representatives(np.array([0.0] * 20 + [1.0]))[0], 20)


def test_in_a_chart_information_is_that_of_coordinates():
    F = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

    class Told:
        def prior(self):
            return Pose(np.zeros(3), np.eye(3)), np.eye(6)

        def transition(self, t, s):
            return s, 0.1

        def log_likelihood(self, t, s, y):
            return np.zeros(len(s.position))

        def information(self, t, s, y):
            return y * np.broadcast_to(F, (len(s.position), 6, 6))

    model, x = Charted(Told(), SE3()), np.array([[0.0, 0.0, 0.0, 0.3, -0.2, 0.5]])
    D = SE3().jacobian(x)[0]
    told = model.information(0, x, 2.0, None)[0]
    np.testing.assert_allclose(D.T @ told @ D, 2.0 * F, atol=1e-12)
    assert np.isfinite(rotation.log(SE3().states(Pose(np.zeros(3), np.eye(3)), x).rotation)).all()
    assert Charted(skh.models.range_bearing(heading=True), skh.geometry.SE2()).information is None


def test_wrong_shapes_are_refused():
    class Wrong(Axes):
        def information(self, t, x, y):
            return np.eye(3)

    with pytest.raises(ValueError, match=r"model.information at t=0 .* got shape \(3, 3\)"):
        skh.particle_filter(Wrong(), [(0, 0.1)], Catching(), 20, rng=0)


def test_a_model_that_tells_its_information_needs_a_shorter_pilot():
    model = skh.models.lgss15()
    _, ys = model.simulate(3, rng=0)
    learned = skh.particle_filter(model, ys, skh.SecondLook(), 100, rng=0)
    telling = told(model)
    short = skh.particle_filter(telling, ys, skh.SecondLook(), 100, rng=0)
    assert {looks[0].n for looks in learned.looks} <= {50, 100}
    assert [looks[0].n for looks in short.looks] == [34, 34, 34]
    few = skh.particle_filter(telling, ys, skh.SecondLook(), 80, rng=0)
    assert [looks[0].n for looks in few.looks] == [40, 40, 40]  # a third would be too few
