"""A restarted filter is a new filter that starts at that time with that prior."""

import numpy as np
import pytest

import skh
from skh.geometry import SE2, Charted, states_of


def test_restarted_is_a_new_filter_from_there():
    model, prior = skh.models.lgss3(), skh.GaussianMixture([1.0], [[1.0, 0.0, 0.0]], 0.1)
    _, ys = model.simulate(6, rng=0)
    pf = skh.ParticleFilter(model, skh.Stratified(), 20, rng=1)
    for y in ys[:3]:
        pf.step(y)
    pf.restart(prior)
    state = pf._rng.bit_generator.state

    class Other(type(model)):
        def prior(self):
            return prior

    other = Other(**{name: getattr(model, name) for name in model.__dataclass_fields__})
    fresh = skh.ParticleFilter(other, skh.Stratified(), 20, rng=0, t=3)
    fresh._rng.bit_generator.state = state
    for y in ys[3:]:
        ours, theirs = pf.step(y), fresh.step(y)
        assert ours.t == theirs.t
        assert np.array_equal(ours.x, theirs.x)
        assert np.array_equal(ours.w, theirs.w)


def test_without_a_prior_the_models_own_counts():
    model = skh.models.lgss3()
    pf = skh.ParticleFilter(model, skh.Stratified(), 20, rng=1)
    pf.step(0.3)
    pf.restart()
    assert pf.t == 1
    assert np.array_equal(pf.predict().mean, model.prior().mean)


class Robot:
    def prior(self):
        return np.zeros(3), 0.01 * np.eye(3)

    def transition(self, t, states):
        return states, 0.01

    def log_likelihood(self, t, states, y):
        return -0.5 * (states[:, 0] - y) ** 2


def test_restart_in_a_chart():
    pf = skh.ParticleFilter(Charted(Robot(), SE2()), skh.Stratified(), 20, rng=1)
    pf.step(0.0)
    pf.restart((np.array([7.0, 0.0, 3.1]), 1e-6 * np.eye(3)))
    assert abs(states_of(pf.step(7.0)).mean(axis=0) - [7.0, 0.0, 3.1]).max() < 0.01
    assert Robot().prior()[0][0] == 0.0


def test_n_is_honoured_at_each_step():
    pf = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 20, rng=1)
    for n in (20, 500, 7):
        pf.n = n
        assert pf.step(0.1).n_particles == n


def test_wrong_restarts_change_nothing():
    pf = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 20, rng=1)
    belief = pf.step(0.1)
    with pytest.raises(ValueError, match="prior must have dimension 3, as the model has, got 1"):
        pf.restart(skh.GaussianMixture([1.0], [[0.0]], 1.0))
    with pytest.raises(TypeError, match=r"prior\(\) must return a GaussianMixture, got 3"):
        pf.restart(3)
    pf.ask()
    with pytest.raises(RuntimeError, match="before a restart"):
        pf.restart()
    assert pf.belief is belief
