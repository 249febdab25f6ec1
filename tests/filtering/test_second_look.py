"""A second look: exact for Gaussian likelihoods, the ordinary step where it promises nothing."""

import numpy as np
import pytest

import battery
import skh

EXACT = skh.models.lgss3()


def errors(model, rule, n, seeds=range(3), T=15):
    """RMSE of filtered means and mean absolute error of the log-evidence."""
    square, evidence = [], []
    for seed in seeds:
        _, ys = model.simulate(T, rng=seed)
        exact = skh.kalman_filter(model, ys)
        result = skh.particle_filter(model, ys, rule, n, rng=seed)
        square.append(np.mean((result.means - exact.means) ** 2))
        evidence.append(abs(result.log_evidence - exact.log_evidence))
    return np.sqrt(np.mean(square)), np.mean(evidence)


def test_gaussian_likelihoods_are_nearly_exact():
    plain, twice = errors(EXACT, skh.default_rule(), 50), errors(EXACT, skh.SecondLook(), 50)
    assert twice[0] < 0.1 * plain[0]
    assert twice[1] < plain[1]


@pytest.mark.parametrize("name", sorted(set(battery.RULES) - battery.SMOOTHING))
def test_steps_that_are_not_guided_equal_the_rule_to_the_bit(name):
    rule, model = battery.RULES[name], skh.models.stochastic_volatility()
    _, ys = model.simulate(5, rng=0)
    plain = skh.ParticleFilter(model, rule, 15, rng=1)
    twice = skh.ParticleFilter(model, skh.SecondLook(rule), 15, rng=1)
    for y in ys:
        a, b = plain.step(y), twice.step(y)
        assert len(b.looks) == 1
        np.testing.assert_array_equal(b.x, a.x)
        np.testing.assert_array_equal(b.w, a.w)
        np.testing.assert_array_equal(b.ancestor, a.ancestor)
        assert b.log_evidence_increment == a.log_evidence_increment


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 20])
@pytest.mark.parametrize("name", sorted(set(battery.RULES) - battery.SMOOTHING))
def test_no_step_has_more_evaluations_than_points(name, n):
    _, ys = EXACT.simulate(4, rng=0)
    result = skh.particle_filter(EXACT, ys, skh.SecondLook(battery.RULES[name]), n, rng=0)
    assert (result.n_likelihood_evaluations <= n).all()
    assert np.isfinite(result.means).all()
    assert np.isfinite(result.log_evidence)


def test_a_rule_that_smooths_is_refused():
    with pytest.raises(ValueError, match="rule must not smooth"):
        skh.SecondLook(skh.Smoothed(skh.Stratified()))
