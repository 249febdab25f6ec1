"""Models that can only be simulated: against exact filters, a large bootstrap filter, bad input."""

import copy
import pickle
import re
import runpy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

import skh
from pages import ROOT, all_on_page
from skh.filtering.simulator_model import (
    MIN_DRAWS,
    SIMULATED_COMPONENTS,
    mixture_of_draws,
    noise_points,
)

NAN = float("nan")
YS = np.sin(np.arange(6.0))
LINEAR = skh.models.LinearGaussian(
    A=[[0.9]], C=[[1.0]], Q=[[0.25]], R=[[0.25]], initial_mean=[0.0], initial_covariance=[[1.0]]
)


def prior(n, rng):
    return rng.standard_normal((n, 1))


def simulate(t, x, rng):
    return 0.9 * x + 0.5 * rng.standard_normal(x.shape)


def simulate_u(t, x, u):
    return 0.9 * x + 0.5 * ndtri(u)


def log_likelihood(t, x, y):
    return -0.5 * ((y - x[:, 0]) / 0.5) ** 2 - 0.5 * np.log(2 * np.pi * 0.25)


def model(**options):
    given = {"prior_sample": prior, "simulate": simulate, "log_likelihood": log_likelihood}
    return skh.from_simulator(**(given | options))


def linear_error(candidate, rule=None, n=40, sets=3):
    """Root mean square error of the mean to the Kalman filter, in standard deviations."""
    squares = []
    for seed in range(sets):
        ys = LINEAR.simulate(10, rng=seed)[1][:, 0]
        exact = skh.kalman_filter(LINEAR, ys[:, None])
        found = skh.particle_filter(candidate, ys, rule, n, rng=seed)
        squares.append(((found.means - exact.means) ** 2 / exact.covariances[:, :, 0]).mean())
    return np.mean(squares) ** 0.5


def test_simulated_draws_filter_like_the_kalman_filter():
    """n = 40, a mixture of 2,000 draws: about 1/sqrt(2,000) and the thinning error."""
    random = linear_error(LINEAR, skh.Stratified(), sets=20)
    by_draws, by_points = (
        linear_error(model()),
        linear_error(model(noise_dim=1, simulate=simulate_u)),
    )
    assert by_draws < 0.5 * random
    assert by_points < 0.6 * by_draws
    assert by_points < 0.02


def test_log_evidence_is_that_of_the_kalman_filter():
    ys = LINEAR.simulate(8, rng=1)[1][:, 0]
    exact = skh.kalman_filter(LINEAR, ys[:, None]).log_evidence
    found = [skh.particle_filter(model(), ys, n=20, rng=s).log_evidence for s in range(4)]
    assert abs(np.mean(found) - exact) < 0.15
    assert np.std(found) < 0.3


def test_random_rules_are_the_bootstrap_filter():
    """With many draws, n particles have the error of n independent ones (25% tolerance)."""
    random = linear_error(LINEAR, skh.Stratified(), sets=20)
    assert linear_error(model(), skh.Stratified(), sets=20) == pytest.approx(random, rel=0.25)


# --- random numbers -------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_draws():
    first, again, other = (
        skh.ParticleFilter(model(), skh.Stratified(), 20, rng=seed) for seed in (0, 0, 1)
    )
    for y in YS:
        beliefs = [pf.step(y) for pf in (first, again, other)]
        assert beliefs[0].x.tobytes() == beliefs[1].x.tobytes()
        assert not np.isin(beliefs[0].x, beliefs[2].x).any()


def test_draws_of_steps_are_independent_although_a_rule_takes_no_random_numbers():
    def middle(p, n, *, rng):
        return skh.WeightedPoints(p.means[:1], np.ones(1), np.zeros(1, int))

    still = model(simulate=lambda t, x, rng: rng.standard_normal(x.shape))
    pf = skh.ParticleFilter(still, middle, 1, rng=0)
    x = [float(pf.step(0.0).x[0, 0]) for _ in range(50)]
    assert len(set(x)) == 50
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.4


@pytest.mark.parametrize("noise_dim", [None, 1])
def test_predicting_and_asking_change_nothing(noise_dim):
    candidate = model(draws=10, noise_dim=noise_dim, simulate=simulate_u if noise_dim else simulate)
    plain, asked = (skh.ParticleFilter(candidate, n=20, rng=0) for _ in range(2))
    for y in YS[:2]:
        ahead = asked.predict(3).means
        question = asked.ask()
        assert np.array_equal(asked.predict(3).means, ahead)
        asked.cancel()
        question = asked.ask()
        while question is not None:
            question = asked.tell(log_likelihood(0, question.x, y))
        assert plain.step(y).x.tobytes() == asked.belief.x.tobytes()
        assert np.array_equal(asked.predict().means, asked.predict().means)


def test_a_copied_filter_goes_on_with_the_same_numbers():
    pf = skh.ParticleFilter(model(), skh.Stratified(), 20, rng=0)
    pf.step(0.1)
    twin = copy.deepcopy(pf)
    assert pf.step(0.2).x.tobytes() == twin.step(0.2).x.tobytes()
    restored = pickle.loads(pickle.dumps(model()))
    assert np.array_equal(restored.prior().means, model().prior().means)


def test_any_bit_generator_seeds_the_draws_and_is_left_alone():
    for kind in (np.random.MT19937, np.random.Philox, np.random.SFC64):
        rng = np.random.Generator(kind(0))
        before = pickle.dumps(rng.bit_generator.state)
        p = skh.ParticleFilter(model(), rng=rng).predict()
        assert pickle.dumps(rng.bit_generator.state) == before
        assert abs(p.mean[0]) < 0.1
        assert p.covariance[0, 0] == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_results_do_not_depend_on_units(unit):
    scaled = model(
        prior_sample=lambda n, rng: unit * prior(n, rng),
        simulate=lambda t, x, rng: unit * simulate(t, x / unit, rng),
        log_likelihood=lambda t, x, y: log_likelihood(t, x / unit, y),
    )
    plain = skh.particle_filter(model(), YS, n=20, rng=0)
    found = skh.particle_filter(scaled, YS, n=20, rng=0)
    np.testing.assert_allclose(found.means / unit, plain.means, rtol=1e-6, atol=1e-9)
    assert found.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)


# --- the mixture ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 20, 1_000])
def test_there_are_thousands_of_components_and_some_for_each_particle(n):
    p = model().transition(0, np.zeros((n, 1)))
    assert len(p) == max(SIMULATED_COMPONENTS // n, MIN_DRAWS) * n
    assert len(model(draws=3).transition(0, np.zeros((n, 1)))) == 3 * n


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 5),
    st.integers(1, 20),
    st.integers(1, 3),
    st.floats(0.0, 1.0),
    st.sampled_from([1e-12, 1.0, 1e12]),
)
def test_moments_of_each_particles_draws_are_kept_for_any_bandwidth(n, m, d, bandwidth, unit):
    x = unit * np.random.default_rng(m).gamma(1.0, size=(n, m, d))
    p = mixture_of_draws(x, bandwidth)
    for i in range(n):
        of_particle = p.selected(np.arange(i * m, (i + 1) * m))
        np.testing.assert_allclose(of_particle.mean, x[i].mean(axis=0), rtol=1e-9)
        covariance = np.cov(x[i].T, bias=True).reshape(d, d)
        np.testing.assert_allclose(of_particle.covariance, covariance, atol=1e-9 * unit**2)


def test_noise_is_evenly_spread_for_each_particle_and_for_all():
    """Each block of 2^b points hits each of 2^b intervals once; so do all of them, finer."""
    x = np.random.default_rng(0).standard_normal((16, 2))
    u = noise_points(x, 8, 3, np.random.default_rng(1)).reshape(16, 8, 3)
    assert (np.sort(np.floor(8 * u), axis=1) == np.arange(8)[:, None]).all()
    assert (np.sort(np.floor(128 * u.reshape(128, 3)), axis=0) == np.arange(128)[:, None]).all()
    assert noise_points(x[:5], 7, 2, np.random.default_rng(1)).shape == (35, 2)


def test_counts_remain_integers_and_an_epidemic_may_end():
    """Points of the default filter are simulated states; identical ones are no problem."""
    died_out = skh.from_simulator(
        lambda n, rng: rng.poisson(2.0, (n, 2)),
        lambda t, x, rng: rng.binomial(x.astype(int), 0.2),
        lambda t, x, y: -x[:, 0],
    )
    pf = skh.ParticleFilter(died_out, n=20, rng=0)
    for _ in range(8):
        belief = pf.step(0)
        assert np.array_equal(belief.x, np.round(belief.x))
    assert belief.mean.tolist() == [0.0, 0.0]


def test_a_prior_may_be_given_exactly():
    exact = model(prior_sample=([0.0], 1.0))
    assert len(exact.prior()) == 1
    assert len(model(prior_sample=skh.GaussianMixture([1, 1], [[0.0], [1.0]], 1.0)).prior()) == 2
    assert skh.particle_filter(exact, YS, skh.Stratified(), 20, rng=0).means.shape == (6, 1)
    assert len(model(prior_draws=7).prior()) == 7


def test_likelihoods_one_particle_at_a_time_and_information_as_in_other_models():
    single = model(batched=False, log_likelihood=lambda t, x, y: log_likelihood(t, x[None], y)[0])
    expected = skh.particle_filter(model(), YS, n=20, rng=0)
    found = skh.particle_filter(single, YS, n=20, rng=0)
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-12)
    informed = model(observation_metric=lambda t, x: np.eye(1) / 0.25)
    assert skh.particle_filter(informed, YS, n=20, rng=0).log_evidence < 0


# --- the claim ------------------------------------------------------------------------------------

STUDY = runpy.run_path(str(ROOT / "benchmarks" / "simulators.py"))


@pytest.mark.parametrize("case", STUDY["CASES"], ids=lambda case: case.name)
def test_simulated_models_beat_the_bootstrap_filter_at_equal_evaluations(case):
    """On 2 data sets of 12 steps; benchmarks/simulators.py has 10 of 30 and other sizes."""
    found = STUDY["study"](case, (50,), 2, 1, steps=12, large=20_000)
    rms = {name: np.sqrt(e.mean(axis=(0, 1))) for (name, _), e in found.items()}
    random = rms["bootstrap filter"]
    for name in rms.keys() - {"bootstrap filter", "its 4 n particles"}:
        assert (rms[name] < 0.7 * random).all(), name


def test_all_models_on_the_page_run():
    means = [scope["result"].means for scope in all_on_page("docs/any_transition.md")]
    assert [len(found) for found in means] == [8, 4, 5]
    assert all(np.isfinite(found).all() for found in means)
    assert means[1][3, 0] > 5.0  # a level that follows a jump


def test_observations_of_two_states_are_filtered_as_by_the_kalman_filter():
    """The model of the page in units of its posterior deviations, 50 particles."""
    exact = skh.models.LinearGaussian(
        A=[[0.9, 0.0], [1.0, 0.0]],
        C=[[1.0, -0.5]],
        Q=np.diag([0.25, 0.0]),
        R=[[0.09]],
        initial_mean=[0.0, 0.0],
        initial_covariance=np.eye(2),
    )
    ys = [None, *exact.simulate(15, rng=0)[1][1:, 0]]
    *_, scope = all_on_page("docs/any_transition.md")
    found = skh.particle_filter(scope["model"], ys, n=50, rng=0)
    known = skh.kalman_filter(exact, [y if y is None else [y] for y in ys])
    off = (found.means - known.means) / np.sqrt(np.diagonal(known.covariances, 0, 1, 2))
    assert np.sqrt((off[1:] ** 2).mean()) < 0.06


# --- bad input ------------------------------------------------------------------------------------

BAD_ARGUMENTS = [
    ({"prior_sample": None}, "prior_sample must be a function .* got None"),
    ({"prior_sample": [0.0, 1.0]}, r"prior_sample must be a function .* got \[0.0, 1.0\]"),
    ({"simulate": 3.0}, "simulate must be a function, got 3.0"),
    ({"log_likelihood": None}, "log_likelihood must be a function, got None"),
    ({"observation_metric": 1.0}, "observation_metric must be a function, got 1.0"),
    ({"draws": 0}, "draws must be a positive integer, got 0"),
    ({"draws": 2.5}, "draws must be a positive integer, got 2.5"),
    ({"draws": True}, "draws must be a positive integer, got True"),
    ({"prior_draws": None}, "prior_draws must be a positive integer, got None"),
    ({"prior_draws": -1}, "prior_draws must be a positive integer, got -1"),
    ({"noise_dim": 0}, "noise_dim must be a positive integer, got 0"),
    ({"noise_dim": "two"}, "noise_dim must be a positive integer, got 'two'"),
    ({"bandwidth": -0.1}, r"bandwidth must be a number in \[0, 1\], got -0.1"),
    ({"bandwidth": NAN}, r"bandwidth must be a number in \[0, 1\], got nan"),
    ({"batched": "no"}, "batched must be True or False, got 'no'"),
    (
        {"prior_sample": lambda n, rng: rng.random(n)},
        r"prior_sample .* \(2000, d\).* got \(2000,\)",
    ),
    ({"prior_sample": lambda n, rng: rng.random((9, 1))}, r"\(2000, d\).* got \(9, 1\)"),
    ({"prior_sample": lambda n, rng: rng.random((n, 0))}, r"\(2000, d\).* got \(2000, 0\)"),
    ({"prior_sample": lambda n, rng: np.full((n, 1), NAN)}, "prior_sample must be finite, got nan"),
    ({"prior_sample": lambda n, rng: None}, "prior_sample must return real numbers, got None"),
]
BAD_SIMULATORS = [
    (lambda t, x, rng: None, "simulate at t=0 must return real numbers, got None"),
    (lambda t, x, rng: x[:, 0], r"simulate at t=0 must return shape \(80, 1\).* got \(80,\)"),
    (lambda t, x, rng: x[:10], r"shape \(80, 1\), one state per row, got \(10, 1\)"),
    (lambda t, x, rng: np.hstack([x, x]), r"shape \(80, 1\), one state per row, got \(80, 2\)"),
    (lambda t, x, rng: x.T, r"shape \(80, 1\), one state per row, got \(1, 80\)"),
    (lambda t, x, rng: x * np.nan, r"states from simulate at t=0 must be finite, got nan"),
    (lambda t, x, rng: x + np.inf, r"states from simulate at t=0 must be finite, got inf"),
    (lambda t, x, rng: x + 0j, "simulate at t=0 must return real numbers, got .*complex"),
    (lambda t, x, rng: x.astype(str), "simulate at t=0 must return real numbers"),
    (lambda t, x, rng: 1e160 + x, "means must be within 1e"),
]


@pytest.mark.parametrize(("options", "message"), BAD_ARGUMENTS)
def test_bad_arguments_are_named(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        model(**options)


@pytest.mark.parametrize(("broken", "message"), BAD_SIMULATORS)
def test_bad_states_are_named_and_leave_the_filter_as_it_was(broken, message):
    pf = skh.ParticleFilter(model(simulate=broken, draws=4), skh.Stratified(), 20, rng=0)
    belief = pf.step(0.0)
    before = pickle.dumps(pf._rng.bit_generator.state)
    with pytest.raises(ValueError, match=message):
        pf.step(0.1)
    assert pf.belief is belief
    assert pickle.dumps(pf._rng.bit_generator.state) == before


def test_an_error_of_the_simulator_is_passed_on():
    def fails(t, x, rng):
        raise RuntimeError("the engine stalled")

    pf = skh.ParticleFilter(model(simulate=fails), skh.Stratified(), 20, rng=0)
    pf.step(0.0)
    with pytest.raises(RuntimeError, match=re.escape("the engine stalled")):
        pf.step(0.1)
