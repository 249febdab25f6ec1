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


def range_bearing(outliers=0.0):
    """A robot that measures ranges and bearings to three landmarks, with a share of outliers."""
    landmarks = np.array([[-4.0, -3.0], [4.0, -3.0], [0.0, 5.0]])
    sd = np.repeat([0.02, 0.01], 3)

    def measured(x):
        off = landmarks - x[:, None]
        return np.hstack([np.hypot(*off.T).T, np.arctan2(off[..., 1], off[..., 0])])

    def log_likelihood(t, x, y):
        density = np.exp(-0.5 * ((y - measured(x)) / sd) ** 2) / sd
        with np.errstate(divide="ignore"):
            return np.log((1 - outliers) * density + outliers).sum(axis=1)

    model = skh.model_from_functions(
        prior=skh.GaussianMixture([1.0], [[0.0, 0.0]], 0.04),
        transition=lambda t, x: (x, 0.04),
        log_likelihood=log_likelihood,
    )
    rng = np.random.default_rng(0)
    states = np.cumsum(0.2 * rng.standard_normal((10, 2)), axis=0)
    return model, states, measured(states) + sd * rng.standard_normal((10, 6))


def rmse(result, states):
    return np.sqrt(np.mean((result.means - states) ** 2))


@pytest.mark.parametrize("outliers", [0.0, 0.05])
def test_sharp_sensors_need_no_luck(outliers):
    """Positions are measured to about 1 cm; the rule alone misses them by several."""
    model, states, ys = range_bearing(outliers)
    plain = skh.particle_filter(model, ys, skh.default_rule(), 100, rng=0)
    twice = skh.particle_filter(model, ys, skh.SecondLook(), 100, rng=0)
    assert rmse(twice, states) < 0.02 < rmse(plain, states)
    assert twice.log_evidence > plain.log_evidence


def test_results_do_not_depend_on_units():
    model, ys = EXACT, EXACT.simulate(5, rng=0)[1]
    for exponents in ([12, 12, 12], [-12, -12, -12], [12, 0, -12]):
        D = np.diag(10.0 ** np.array(exponents))
        inverse = np.linalg.inv(D)
        scaled = skh.models.LinearGaussian(
            D @ model.A @ inverse,
            model.C @ inverse,
            D @ model.Q @ D,
            model.R,
            D @ model.initial_mean,
            D @ model.initial_covariance @ D,
        )
        a = skh.particle_filter(model, ys, skh.SecondLook(), 40, rng=0)
        b = skh.particle_filter(scaled, ys, skh.SecondLook(), 40, rng=0)
        np.testing.assert_allclose(b.means @ inverse, a.means, atol=1e-4)
        assert b.log_evidence == pytest.approx(a.log_evidence, abs=1e-3)


def test_a_hidden_linear_part_is_marginalised_as_well():
    model = skh.rao_blackwellize(EXACT, x=[0])
    _, ys = EXACT.simulate(15, rng=1)
    exact = skh.kalman_filter(EXACT, ys)
    errors = {}
    for rule in (skh.default_rule(), skh.SecondLook()):
        result = skh.particle_filter(model, ys, rule, 20, rng=0)
        joint = np.hstack([result.means, result.z_means])
        errors[type(rule)] = np.abs(joint - exact.means).max()
        assert result.log_evidence == pytest.approx(exact.log_evidence, abs=0.5)
    assert errors[skh.SecondLook] < 2 * errors[skh.FWQuad]


def test_jump_markov_systems_agree_with_the_exact_filter():
    model = skh.models.jmls()
    _, ys = model.simulate(10, rng=0)
    exact = skh.jump_markov_filter(model, ys)
    result = skh.particle_filter(model, ys, skh.SecondLook(), 200, rng=0)
    assert np.abs(result.means - exact.means).max() < 0.1
    assert result.log_evidence == pytest.approx(exact.log_evidence, abs=0.1)


def strip(width):
    """A likelihood that is zero except on a strip."""
    return skh.model_from_functions(
        prior=skh.GaussianMixture([1.0], [[0.0, 0.0]], 1.0),
        transition=lambda t, x: (x, 0.1),
        log_likelihood=lambda t, x, y: np.where(np.abs(x[:, 0] - y) < width, 0.0, -np.inf),
    )


@pytest.mark.parametrize("width", [0.3, 1.0, 100.0])
def test_zero_likelihoods_are_allowed(width):
    result = skh.particle_filter(strip(width), [0.2, 0.1, 0.0], skh.SecondLook(), 60, rng=0)
    assert np.isfinite(result.means).all()
    assert np.isfinite(result.log_evidence)


def test_a_likelihood_of_zero_everywhere_leaves_the_filter_unchanged():
    pf = skh.ParticleFilter(strip(0.3), skh.SecondLook(), 40, rng=0)
    with pytest.raises(skh.ZeroLikelihoodError):
        pf.step(1e9)
    assert pf.t == 0
    assert pf.step(0.0).n_likelihood_evaluations <= 40


def test_too_few_points_are_evaluated_in_one_batch():
    """The bits of a likelihood may depend on the number of points that it is given."""
    model = skh.models.lgss15()
    _, ys = model.simulate(4, rng=0)
    plain = skh.ParticleFilter(model, skh.default_rule(), 20, rng=0)
    twice = skh.ParticleFilter(model, skh.SecondLook(), 20, rng=0)
    for y in ys:
        a, b = plain.step(y), twice.step(y)
        assert b.looks[0].reason == "too few points"
        np.testing.assert_array_equal(b.x, a.x)
        np.testing.assert_array_equal(b.w, a.w)


def test_looks_say_what_was_done():
    pf = skh.ParticleFilter(EXACT, skh.SecondLook(), 50, rng=0)
    pilot, guided = pf.step(0.7).looks
    assert (pilot.n, guided.n) == (25, 25)
    assert pilot.reason.startswith("guided")
    assert guided.ess > 2 * pilot.ess
    assert guided.error < 1e-3


def test_known_states_are_filtered():
    """Without process noise and prior spread all points coincide."""
    model = skh.model_from_functions(
        prior=skh.GaussianMixture([1.0], [[1.0, 2.0]], 0.0),
        transition=lambda t, x: (x, 0.0),
        log_likelihood=lambda t, x, y: -0.5 * (x[:, 0] - y) ** 2,
    )
    result = skh.particle_filter(model, [0.0, 3.0], skh.SecondLook(), 30, rng=0)
    np.testing.assert_allclose(result.means, [[1.0, 2.0]] * 2)
    assert result.log_evidence == pytest.approx(-2.5)


def test_distant_parts_of_the_predictive_take_the_ordinary_step():
    """One parabola would describe the likelihood in one of them only."""

    class TwoPlaces:
        def prior(self):
            return skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [50.0, 0.0]], 1.0)

        def transition(self, t, x):
            return x, 0.1

        def log_likelihood(self, t, x, y):
            return -0.5 * (x[:, 1] - y) ** 2 / 1e-2

    pf = skh.ParticleFilter(TwoPlaces(), n=60, rng=0)
    belief = pf.step(0.1)
    assert belief.looks[0].reason == "the predictive has parts far apart"
    share = belief.w[belief.x[:, 0] > 25].sum()
    assert 0.1 < share < 0.9


def test_a_rule_with_too_many_or_displaced_points_is_refused():
    def many(p, n, *, rng=None):
        return skh.Stratified()(p, 3 * n, rng=rng)

    def displaced(p, n, *, rng=None):
        return skh.Smoothed(skh.Stratified())(p, n, rng=rng)

    for rule, message in ((many, "at most n = 20 points, got 60"), (displaced, "not displace")):
        pf = skh.ParticleFilter(EXACT, skh.SecondLook(rule), 20, rng=0)
        with pytest.raises(ValueError, match=message):
            pf.step(0.5)
        assert pf.belief is None


def test_weights_of_zero_at_the_pilot_take_the_ordinary_step():
    def last_half(p, n, *, rng=None):
        points = skh.Stratified()(p, n, rng=rng)
        return skh.WeightedPoints(points.x, np.tile([0.0, 2 / n], n // 2), points.component)

    assert skh.ParticleFilter(EXACT, skh.SecondLook(last_half), 20, rng=0).step(0.5).ess > 1
