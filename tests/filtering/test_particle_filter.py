"""Algorithm 2 against exact filters, online against offline, and its behaviour on failures."""

import pickle
import threading
from copy import deepcopy
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import skh
from battery import RULES
from oracles import rmse
from skh.filtering.model_protocols import gather

every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
LGSS = skh.models.lgss3()
JMLS = skh.models.jmls()
NONLINEAR = skh.models.nonlinear_benchmark()


def test_large_particle_filter_agrees_with_kalman():
    _, ys = LGSS.simulate(100, rng=0)
    exact = skh.kalman_filter(LGSS, ys)
    result = skh.particle_filter(LGSS, ys, skh.Stratified(), 100_000, rng=1)
    assert rmse(result.means, exact.means) < 0.02
    assert rmse(result.covariances, exact.covariances) < 0.02
    assert result.log_evidence == pytest.approx(exact.log_evidence, abs=0.3)


def test_herded_particles_beat_random_ones_on_the_linear_model():
    """LGSS d=3, N=100, medians of the RMSE over ten batches, kernel variance 1 as in the paper."""
    kernel = skh.GaussianKernel(1.0)
    rules = {
        "PF": skh.Stratified(),
        "FW": skh.FWQuad(kernel, search_points=5_000),
        "FCFW": skh.FWQuad(kernel, skh.FullyCorrective(), 5_000),
    }
    errors = {name: [] for name in rules}
    for batch in range(10):
        _, ys = LGSS.simulate(100, rng=batch)
        exact = skh.kalman_filter(LGSS, ys)
        for name, rule in rules.items():
            result = skh.particle_filter(LGSS, ys, rule, 100, rng=batch)
            errors[name].append(rmse(result.means, exact.means))
    median = {name: np.median(e) for name, e in errors.items()}
    assert median["FW"] <= 0.78 * median["PF"]
    assert median["FCFW"] <= 0.65 * median["PF"]


def test_jump_markov_particles_agree_with_the_exact_filter():
    _, ys = JMLS.simulate(10, rng=0)
    exact = skh.jump_markov_filter(JMLS, ys)
    result = skh.particle_filter(JMLS, ys, skh.Stratified(), 50_000, rng=1, history=True)
    assert rmse(result.means, exact.means) < 0.02
    assert rmse(result.covariances, exact.covariances) < 0.02
    assert result.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)
    modes = [b.w @ np.exp(b.carry) for b in result.history]
    np.testing.assert_allclose(modes, exact.mode_probabilities, atol=0.02)


def test_jump_markov_model_with_equal_modes_is_the_linear_model():
    A, C = LGSS.A, LGSS.C
    twice = skh.models.JumpMarkov(
        *(np.array([a, a]) for a in (A, C, LGSS.Q, LGSS.R)),
        np.array([[0.7, 0.3], [0.3, 0.7]]),
        np.array([0.5, 0.5]),
        LGSS.initial_mean,
        LGSS.initial_covariance,
    )
    _, ys = LGSS.simulate(20, rng=0)
    result = skh.particle_filter(twice, ys, skh.QuasiMonteCarlo(), 20_000, rng=0)
    assert rmse(result.means, skh.kalman_filter(LGSS, ys).means) < 0.02


@every_rule
@pytest.mark.parametrize("model", [LGSS, JMLS, NONLINEAR], ids=["lgss3", "jmls", "nonlinear"])
def test_online_and_offline_give_the_same_numbers(rule, model):
    _, ys = model.simulate(6, rng=0)
    ys[3] = np.nan
    result = skh.particle_filter(model, ys, rule, 30, rng=7, quantiles=(0.1, 0.5, 0.9))
    pf = skh.ParticleFilter(model, rule, 30, rng=7)
    beliefs = [pf.step(y) for y in ys]
    assert pf.t == 6
    assert pf.belief is beliefs[-1]
    np.testing.assert_array_equal(result.means, [b.mean for b in beliefs])
    np.testing.assert_array_equal(result.covariances, [b.covariance for b in beliefs])
    np.testing.assert_array_equal(result.ess, [b.ess for b in beliefs])
    np.testing.assert_array_equal(result.mmd, [b.mmd for b in beliefs])
    np.testing.assert_array_equal(result.n_particles, [len(b.x) for b in beliefs])
    increments = [b.log_evidence_increment for b in beliefs]
    np.testing.assert_array_equal(result.log_evidence_increments, increments)
    assert result.log_evidence == pytest.approx(sum(increments), abs=1e-12)
    assert increments[3] == 0
    evaluations = result.n_likelihood_evaluations
    np.testing.assert_array_equal(evaluations, result.n_particles * (np.arange(6) != 3))
    levels = [0.1, 0.5, 0.9]
    np.testing.assert_array_equal(result.quantiles, [b.quantile(levels) for b in beliefs])
    for b in beliefs:
        assert b.w.sum() == pytest.approx(1, abs=1e-12)
        assert np.isfinite(b.x).all()


def test_quantiles_are_those_of_the_weighted_particles():
    belief = skh.ParticleFilter(LGSS, skh.MonteCarlo(), 50, rng=0).step(0.5)
    for q in (0.05, 0.5, 0.95):
        for value, column in zip(belief.quantile(q), belief.x.T, strict=True):
            assert belief.w[column < value].sum() < q <= belief.w[column <= value].sum() + 1e-12


def test_evidence_is_unbiased_for_random_rules():
    """The mean of the estimate over many runs is the evidence within four standard errors."""
    _, ys = LGSS.simulate(3, rng=0)
    exact = skh.kalman_filter(LGSS, ys).log_evidence
    runs = [skh.particle_filter(LGSS, ys, skh.Stratified(), 30, rng=s) for s in range(600)]
    ratio = np.exp([r.log_evidence - exact for r in runs])
    assert abs(ratio.mean() - 1) < 4 * ratio.std() / len(runs) ** 0.5


def test_trajectories_are_read_back_through_the_ancestors():
    """A chain without noise in which every particle remembers where it came from."""
    start = skh.GaussianMixture(np.ones(5), np.arange(5.0)[:, None], 0.0)
    model = skh.model_from_functions(
        start, lambda t, x: (x + 10.0, 0.0), lambda t, x, y: -np.abs(x[:, 0] % 10 - y)
    )
    result = skh.particle_filter(model, [2.0, 2.0, 2.0], skh.Stratified(), 20, rng=0, history=True)
    paths, w = result.trajectories()
    assert paths.shape == (20, 3, 1)
    np.testing.assert_array_equal(paths[:, :, 0] - paths[:, :1, 0], np.tile([0, 10, 20], (20, 1)))
    np.testing.assert_array_equal(paths[:, -1], result.history[-1].x)
    np.testing.assert_array_equal(w, result.history[-1].w)
    with pytest.raises(ValueError, match="history=True"):
        skh.particle_filter(model, [2.0], skh.Stratified(), 20).trajectories()


@pytest.mark.parametrize("missing", [None, np.nan, [np.nan], np.array([np.nan])])
def test_missing_observations_only_predict(missing):
    pf = skh.ParticleFilter(LGSS, RULES["FW"], 40, rng=0)
    pf.step(0.3)
    predicted = pf.predict()
    belief = pf.step(missing)
    np.testing.assert_allclose(belief.w, np.full(40, 1 / 40), rtol=1e-12)
    assert belief.log_evidence_increment == 0
    assert belief.n_likelihood_evaluations == 0
    np.testing.assert_allclose(belief.mean, predicted.mean, atol=0.2)


def test_observations_of_any_type_reach_the_likelihood():
    seen = []

    def log_likelihood(t, x, y):
        seen.append(y)
        return np.zeros(len(x))

    model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 1.0), log_likelihood)
    ragged = (np.zeros((4, 5)), np.zeros(3))
    ys = [{"scan": 1}, "text", [1.0, np.nan], 3, object(), np.array(["a"]), ragged, []]
    skh.particle_filter(model, iter(ys), skh.Stratified(), 5)
    assert all(a is b for a, b in zip(seen, ys, strict=True))


def test_a_table_is_a_series_of_its_rows():
    _, ys = LGSS.simulate(5, rng=0)
    expected = skh.particle_filter(LGSS, ys, skh.Stratified(), 20, rng=0).means
    for table in (pd.DataFrame(ys), pd.Series(ys[:, 0])):
        found = skh.particle_filter(LGSS, table, skh.Stratified(), 20, rng=0).means
        np.testing.assert_array_equal(found, expected)


def test_gaps_of_tables_and_masked_arrays_are_missing_observations():
    _, ys = LGSS.simulate(6, rng=0)
    ys[2] = -999.0
    masked, table = np.ma.masked_equal(ys, -999.0), pd.DataFrame(ys).astype("Float64")
    holes = np.where(ys == -999.0, np.nan, ys)
    table[table == -999.0] = pd.NA
    expected = skh.particle_filter(LGSS, holes, skh.Stratified(), 20, rng=0)
    for series in (masked, list(masked), table, table[0], [*ys[:2], pd.NA, *ys[3:]]):
        result = skh.particle_filter(LGSS, series, skh.Stratified(), 20, rng=0)
        np.testing.assert_array_equal(result.means, expected.means)
        assert result.n_likelihood_evaluations[2] == 0
    pf = skh.ParticleFilter(LGSS, skh.Stratified(), 20, rng=0)
    np.testing.assert_array_equal([pf.step(y).mean for y in masked], expected.means)
    exact = skh.kalman_filter(LGSS, holes)
    for series in (masked, table):
        assert skh.kalman_filter(LGSS, series).log_evidence == exact.log_evidence


def test_observations_without_gaps_reach_the_likelihood_unchanged():
    rows = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    given = [rows.iloc[0], np.ma.array([3, 4]), pd.Series(["1", "02"])]
    seen = []

    def log_likelihood(t, x, y):
        seen.append(y)
        return np.zeros(len(x))

    model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 1.0), log_likelihood)
    pf = skh.ParticleFilter(model, skh.Stratified(), 5, rng=0)
    for y in given:
        pf.step(y)
    assert seen[0] is given[0]  # with its index
    assert seen[1].dtype.kind == "i"
    assert seen[2] is given[2]
    skh.particle_filter(model, rows, skh.Stratified(), 5)
    assert [list(row) for row in seen[3:]] == [[1.0, "x"], [2.0, "y"]]


def test_a_failed_step_restores_the_random_generator():
    generator = np.random.default_rng(0)
    pf = skh.ParticleFilter(LGSS, skh.Stratified(), 20, rng=generator)
    pf.step(0.1)
    before = generator.bit_generator.state
    with pytest.raises(skh.ZeroLikelihoodError):
        pf.step(1e200)
    assert generator.bit_generator.state == before
    drawn = generator.random(3)
    pf.step(None)
    assert not np.isin(generator.random(3), drawn).any()


def test_prediction_equals_kalman_prediction():
    _, ys = LGSS.simulate(10, rng=0)
    exact = skh.kalman_filter(LGSS, ys)
    pf = skh.ParticleFilter(LGSS, skh.QuasiMonteCarlo(), 20_000, rng=0)
    for y in ys:
        pf.step(y)
    m, P = exact.means[-1], exact.covariances[-1]
    for h in range(1, 4):
        m, P = LGSS.A @ m, LGSS.A @ P @ LGSS.A.T + LGSS.Q
        mixture = pf.predict(h)
        np.testing.assert_allclose(mixture.mean, m, atol=0.03)
        np.testing.assert_allclose(mixture.covariance, P, atol=0.06)


def test_prediction_passes_the_right_time_to_the_transition():
    """x_{t+1} = t without noise."""
    model = skh.model_from_functions(
        ([0.0], 0.0), lambda t, x: (0 * x + t, 0.0), lambda t, x, y: np.zeros(len(x))
    )
    pf = skh.ParticleFilter(model, skh.Stratified(), 3, rng=0)
    for t in range(4):
        assert [pf.predict(h).mean[0] for h in (2, 3, 4)] == [t, t + 1, t + 2]
        pf.step(0.0)
        assert [pf.predict(h).mean[0] for h in (1, 2, 3)] == [t, t + 1, t + 2]


def test_prediction_and_missing_data_of_the_jump_markov_model_equal_the_exact_filter():
    _, ys = JMLS.simulate(8, rng=0)
    ys[4] = np.nan
    pf = skh.ParticleFilter(JMLS, skh.QuasiMonteCarlo(), 20_000, rng=0)
    for y in ys:
        pf.step(y)
    for h in (1, 2, 3):
        exact = skh.jump_markov_filter(JMLS, [*ys, *[None] * h])
        np.testing.assert_allclose(pf.predict(h).mean, exact.means[-1], atol=0.01)
        np.testing.assert_allclose(pf.predict(h).covariance, exact.covariances[-1], atol=0.02)


def test_effective_sample_size_of_known_weights():
    model = skh.model_from_functions(
        skh.GaussianMixture([1, 1], [[0.0], [1.0]], 0.0),
        lambda t, x: (x, 0.0),
        lambda t, x, y: np.log([3.0, 1.0]),
    )
    belief = skh.ParticleFilter(model, skh.Systematic(), 2, rng=0).step(0.0)
    np.testing.assert_allclose(belief.w, [0.75, 0.25])
    assert belief.ess == pytest.approx(1 / (0.75**2 + 0.25**2))


def test_partly_missing_observations_use_the_measured_entries():
    model = skh.models.LinearGaussian(
        0.9 * np.eye(2), np.eye(2), np.eye(2), np.diag([0.1, 0.2]), np.zeros(2), np.eye(2)
    )
    _, ys = model.simulate(10, rng=0)  # the last observation is an outlier
    ys[::2, 0] = np.nan
    ys[3] = np.nan
    exact = skh.kalman_filter(model, ys)
    assert np.isfinite(exact.means).all()
    result = skh.particle_filter(model, ys, skh.QuasiMonteCarlo(), 200_000, rng=0)
    assert rmse(result.means, exact.means) < 0.03
    assert result.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)


def test_impossible_modes_and_absurd_observations_raise_no_warning():
    absorbing = skh.models.JumpMarkov(
        JMLS.A,
        JMLS.C,
        JMLS.Q,
        JMLS.R,
        np.array([[0.5, 0.5], [0.0, 1.0]]),
        np.array([1.0, 0.0]),
        JMLS.initial_mean,
        JMLS.initial_covariance,
    )
    _, ys = absorbing.simulate(6, rng=0)
    exact = skh.jump_markov_filter(absorbing, ys)
    pf = skh.ParticleFilter(absorbing, skh.QuasiMonteCarlo(), 10_000, rng=0)
    for y, mean in zip(ys, exact.means, strict=True):
        np.testing.assert_allclose(pf.step(y).mean, mean, atol=0.03)
    with pytest.raises(skh.ZeroLikelihoodError):
        pf.step(1e200)


@every_rule
@pytest.mark.parametrize("model", [JMLS, NONLINEAR], ids=["jmls", "nonlinear"])
def test_prediction_does_not_change_the_filter(rule, model):
    _, ys = model.simulate(4, rng=0)
    plain, curious = (skh.ParticleFilter(model, rule, 20, rng=3) for _ in range(2))
    for y in ys:
        first, second = curious.predict(3), curious.predict(3)
        np.testing.assert_array_equal(first.means, second.means)
        np.testing.assert_array_equal(plain.step(y).x, curious.step(y).x)


def test_prediction_before_the_first_observation_is_the_prior():
    prior = skh.ParticleFilter(LGSS, skh.Stratified(), 10).predict()
    np.testing.assert_array_equal(prior.mean, LGSS.initial_mean)


@every_rule
def test_filter_continues_after_an_observation_of_zero_likelihood(rule):
    def log_likelihood(t, x, y):
        return np.full(len(x), -np.inf) if y == "impossible" else -((x[:, 0] - y) ** 2)

    model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (0.5 * x, 1.0), log_likelihood)
    plain, hit = (skh.ParticleFilter(model, rule, 20, rng=0) for _ in range(2))
    for t, y in enumerate([0.1, 0.7, -0.3]):
        before = hit.belief
        with pytest.raises(skh.ZeroLikelihoodError, match=f"t={t}"):
            hit.step("impossible")
        assert hit.t == t
        assert hit.belief is before
        np.testing.assert_array_equal(plain.step(y).w, hit.step(y).w)


def test_likelihood_of_one_particle_at_a_time_gives_the_same_as_a_batched_one():
    def batched(t, x, y):
        return -0.5 * ((y - x) ** 2).sum(axis=1)

    def single(t, x, y):
        assert x.shape == (2,)
        return -0.5 * ((y - x) ** 2).sum()

    results = [
        skh.particle_filter(
            skh.model_from_functions(([0.0, 0.0], np.eye(2)), lambda t, x: (x, 0.1), f, batched=b),
            [1.0, 2.0],
            skh.Stratified(),
            10,
            rng=0,
        )
        for f, b in ((batched, True), (single, False))
    ]
    np.testing.assert_allclose(results[0].means, results[1].means, rtol=1e-13)


def test_transition_that_is_a_mixture_splits_each_particle():
    """Two components per particle at +-1 with odds 3:1."""

    def transition(t, x):
        means = np.stack([x - 1, x + 1], axis=1).reshape(-1, 1)
        weights = np.outer(np.linspace(1, 50, len(x)), [3.0, 1.0])  # only the odds of a row matter
        return skh.GaussianMixture(weights.ravel(), means, 0.0)

    model = skh.model_from_functions(([0.0], 0.0), transition, lambda t, x, y: np.zeros(len(x)))
    pf = skh.ParticleFilter(model, skh.Stratified(), 400, rng=0)
    pf.step(0)
    belief = pf.step(0)
    assert set(belief.x[:, 0]) == {-1.0, 1.0}
    assert belief.mean[0] == pytest.approx(-0.5, abs=0.15)  # 3.5 standard errors
    np.testing.assert_allclose(np.bincount(belief.ancestor), np.ones(400))
    assert belief.ancestor.max() < 400


def test_carry_may_be_a_tuple_or_a_dict_and_follows_the_ancestors():
    from typing import NamedTuple

    class Pair(NamedTuple):
        start: np.ndarray
        age: np.ndarray

    class Remembering:
        """Particles at rest that carry their initial positions."""

        def __init__(self, pack, unpack):
            self.pack, self.unpack = pack, unpack

        def prior(self):
            return skh.GaussianMixture(np.ones(6), np.arange(6.0)[:, None], 0.0)

        def initial_carry(self, x):
            return self.pack(x[:, 0].copy(), np.zeros(len(x)))

        def transition(self, t, x, carry):
            return x, 0.0

        def move(self, t, x, carry, x_next):
            start, age = self.unpack(carry)
            return self.pack(start, age + 1)

        def log_likelihood(self, t, x, y, carry):
            return -((x[:, 0] - y) ** 2), carry

    packings = [
        (Pair, tuple),
        (lambda a, b: (a, b), tuple),
        (lambda a, b: {"start": a, "age": b}, lambda c: (c["start"], c["age"])),
        (lambda a, b: np.stack([a, b], axis=1), lambda c: c.T),
    ]
    for pack, unpack in packings:
        pf = skh.ParticleFilter(Remembering(pack, unpack), skh.MonteCarlo(), 30, rng=0)
        for age in range(4):
            belief = pf.step(2.0)
            start, ages = unpack(belief.carry)
            np.testing.assert_array_equal(start, belief.x[:, 0])
            np.testing.assert_array_equal(ages, np.full(30, age))


@pytest.mark.parametrize(
    ("carries", "got"),
    [
        (
            {"initial_carry": lambda n: [1.0, 2.0]},
            r"initial_carry .* each of the 2 .* got \[1.0, 2.0",
        ),
        ({"initial_carry": lambda n: np.zeros(50)}, r"initial_carry must .* got shape \(50,\)"),
        ({"initial_carry": lambda n: np.float64(3)}, r"initial_carry must .* got shape \(\)"),
        ({"move": lambda n: (np.zeros(n), np.zeros(1))}, r"move at t=0 must .* got shape \(1,\)"),
        ({"log_likelihood": lambda n: {"a": np.zeros(n + 1)}}, r"log_likelihood at t=0 .* \(3,\)"),
    ],
    ids=["list", "too many rows", "scalar", "move", "likelihood"],
)
def test_records_without_one_row_per_particle_are_rejected(carries, got):
    def record(method, n):
        return carries.get(method, np.zeros)(n)

    class Careless:
        def prior(self):
            return skh.GaussianMixture([1.0], [[0.0]], 1.0)

        def initial_carry(self, x):
            return record("initial_carry", len(x))

        def transition(self, t, x, carry):
            return x, 1.0

        def move(self, t, x, carry, x_next):
            return record("move", len(x))

        def log_likelihood(self, t, x, y, carry):
            return np.zeros(len(x)), record("log_likelihood", len(x))

    with pytest.raises(ValueError, match=got):
        skh.particle_filter(Careless(), [0.0, 0.0], skh.Stratified(), 2, rng=0)


def test_progress_is_reported_after_each_step(capsys):
    calls = []
    _, ys = LGSS.simulate(3, rng=0)
    skh.particle_filter(
        LGSS, ys, skh.Stratified(), 5, progress=lambda done, total: calls.append((done, total))
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]
    skh.particle_filter(LGSS, ys, skh.Stratified(), 5)
    assert capsys.readouterr().out == ""
    skh.particle_filter(LGSS, ys, skh.Stratified(), 5, progress=True)
    assert "3/3" in capsys.readouterr().out


def test_a_custom_rule_needs_only_the_signature():
    def at_the_means(p, n, *, rng=None):
        return skh.WeightedPoints(p.means, p.weights, np.arange(len(p)))

    _, ys = NONLINEAR.simulate(5, rng=0)
    result = skh.particle_filter(NONLINEAR, ys, at_the_means, 10)
    np.testing.assert_array_equal(result.n_particles, np.ones(5))


@pytest.mark.parametrize("kind", [list, np.float16, np.float32, np.longdouble])
def test_a_rule_may_return_numbers_of_any_kind(kind):
    def rule(p, n, *, rng=None):
        points = skh.Stratified()(p, n, rng=rng)
        x, w = np.round(points.x, 1), np.full(n, 1 / n)
        if kind is list:
            return skh.WeightedPoints(x.tolist(), w.tolist(), points.component.tolist())
        return skh.WeightedPoints(x.astype(kind), w.astype(kind), points.component)

    belief = skh.ParticleFilter(skh.models.lgss3(), rule, 8, rng=0).step(0.0)
    assert belief.x.dtype == belief.w.dtype == np.float64
    assert belief.ancestor.dtype == np.intp


def test_components_of_a_rule_must_be_integers():
    def rule(p, n, *, rng=None):
        points = skh.Stratified()(p, n, rng=rng)
        return skh.WeightedPoints(points.x, points.w, points.component + 0.5)

    pf = skh.ParticleFilter(skh.models.lgss3(), rule, 4, rng=0)
    with pytest.raises(ValueError, match=r"rule must return components in 0\.\.0, got \[0\.5"):
        pf.step(0.0)


def test_rows_in_shared_memory_stay_there_when_particles_are_chosen():
    rows = np.arange(12.0).reshape(4, 3)
    shared = np.broadcast_to(rows[1], (4, 3))
    own, same = gather((rows, shared), np.array([3, 0, 0, 2, 1]))
    np.testing.assert_array_equal(own, rows[[3, 0, 0, 2, 1]])
    np.testing.assert_array_equal(same, np.tile(rows[1], (5, 1)))
    assert same.strides[0] == 0


def test_likelihoods_far_below_underflow_are_normalised():
    def filtered(level):
        model = skh.model_from_functions(
            *(([0.0], 1.0), lambda t, x: (x, 1.0)),
            lambda t, x, y: level - 0.5 * (x[:, 0] - y) ** 2,
        )
        return skh.particle_filter(model, [0.5] * 5, skh.Stratified(), 50, rng=0)

    plain, deep = filtered(0.0), filtered(-1e5)
    np.testing.assert_allclose(deep.means, plain.means, atol=1e-9)  # 1e5 eps in the exponent
    assert deep.log_evidence == pytest.approx(plain.log_evidence - 5e5, abs=1e-8)


ONE = {
    "stratified": skh.Stratified(),
    "FCFW": skh.FWQuad(skh.GaussianKernel(1.0), skh.FullyCorrective(), 50),
    "default": skh.default_rule(),
    "smoothed": skh.Smoothed(skh.Stratified()),
}


@pytest.mark.parametrize("rule", ONE.values(), ids=ONE)
def test_a_filter_with_one_particle_runs(rule):
    linear, modes = skh.models.lgss3(), skh.models.jmls()
    for model, source in ((skh.rao_blackwellize(linear, [0]), linear), (modes, modes)):
        _, ys = source.simulate(4, rng=0)
        result = skh.particle_filter(model, ys, rule, 1, rng=0, history=True)
        np.testing.assert_array_equal(result.n_particles, 1)
        np.testing.assert_array_equal(result.ess, 1.0)
        np.testing.assert_array_equal(result.means, [b.x[0] for b in result.history])
        assert np.isfinite(result.log_evidence)


def hidden_filter(rule=None):
    """A filter with hidden moments after two steps."""
    model = skh.models.lgss3()
    pf = skh.ParticleFilter(skh.rao_blackwellize(model, [0]), rule or skh.Stratified(), 20, rng=0)
    for y in model.simulate(2, rng=0)[1]:
        pf.step(y)
    return pf


@pytest.mark.parametrize(
    "part",
    [
        lambda pf: pf.predict().mean,
        lambda pf: pf.predict().covariance,
        lambda pf: pf.predict().covariance_of_means,
        lambda pf: pf.predict().means,
        lambda pf: pf.predict(joint=True).covariance,
        lambda pf: pf.belief.x,
        lambda pf: pf.belief.w,
        lambda pf: pf.belief.ancestor,
        lambda pf: pf.belief.mean,
        lambda pf: pf.belief.covariance,
        lambda pf: pf.belief.z[0],
        lambda pf: pf.belief.z[1],
        lambda pf: pf.belief.z_mean,
        lambda pf: pf.belief.z_covariance,
    ],
)
def test_arrays_that_leave_a_filter_refuse_assignment(part):
    array = part(hidden_filter())
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 7


def test_a_model_may_reuse_the_array_of_its_log_likelihoods():
    """Within a step, for several looks, and from step to step: the filter learns from the last."""
    buffer = np.empty(20)

    def reused(t, x, y):
        buffer[: len(x)] = -0.5 * (x[:, 0] - y) ** 2 / 0.1
        return buffer[: len(x)]

    parts = ([0.0, 0.0], np.eye(2)), lambda t, x: (0.9 * x, 0.1)
    fresh = skh.model_from_functions(*parts, lambda t, x, y: -0.5 * (x[:, 0] - y) ** 2 / 0.1)
    a, b = (
        skh.particle_filter(model, [0.3, 0.1, -0.4, 0.2], n=20, rng=0)
        for model in (fresh, skh.model_from_functions(*parts, reused))
    )
    np.testing.assert_array_equal(a.means, b.means)


def test_a_model_does_not_follow_the_arrays_of_its_prior():
    mean, unit = np.zeros(2), np.eye(2)
    model = skh.RaoBlackwellized(
        prior=([0.0, 0.0], unit),
        z_prior=(mean, unit),
        x_dynamics=lambda t, x: (x, np.eye(2), np.eye(2)),
        z_dynamics=lambda t, x: (np.zeros(2), np.eye(2), np.eye(2)),
        observation=lambda t, x: (x, np.zeros((2, 2)), np.eye(2)),
    )
    mean += 100.0
    assert np.abs(model.initial_carry(np.zeros((3, 2))).mean).max() == 0.0


def test_a_generator_is_read_step_by_step():
    model, read = skh.models.nonlinear_benchmark(), []

    def endless():
        while True:
            read.append(len(read))
            yield 0.5 * len(read)

    def stop(done, total):
        assert total is None
        assert len(read) == done
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        skh.particle_filter(model, endless(), skh.Stratified(), 20, rng=0, progress=stop)
    assert caught.value.result.means.shape == (4, 1)


@pytest.mark.parametrize("history", [False, True])
def test_an_error_carries_the_result_of_the_steps_before(history):
    model, ys = skh.models.nonlinear_benchmark(), [0.3, 1.2, 1e200, 0.4]
    with pytest.raises(skh.ZeroLikelihoodError) as caught:
        skh.particle_filter(model, ys, skh.Stratified(), 20, rng=0, history=history)
    before = skh.particle_filter(model, ys[:2], skh.Stratified(), 20, rng=0, history=history)
    np.testing.assert_array_equal(caught.value.result.means, before.means)
    assert (caught.value.result.history is None) == (not history)
    with pytest.raises(skh.ZeroLikelihoodError) as caught:
        skh.particle_filter(model, ys[2:], skh.Stratified(), 20, rng=0)
    assert caught.value.result is None


def test_an_empty_generator_is_refused():
    with pytest.raises(ValueError, match="ys must hold at least one observation, got none"):
        skh.particle_filter(skh.models.lgss3(), iter(()), skh.Stratified(), 5)


def test_the_number_of_particles_may_change_between_steps():
    pf = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 20, rng=0)
    assert pf.step(0.1).n_particles == pf.n == 20
    pf.n = 50
    assert pf.step(0.2).n_particles == 50
    with pytest.raises(ValueError, match="n must be a positive integer, got 0"):
        pf.n = 0
    assert pf.step(0.3).n_particles == 50


def test_a_second_thread_is_refused_and_no_observation_is_lost():
    """The first thread waits in its likelihood until the second has been refused."""
    inside, refused = threading.Event(), threading.Event()

    def log_likelihood(t, x, y):
        inside.set()
        assert refused.wait(10)
        return np.zeros(len(x))

    model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 1.0), log_likelihood)
    pf = skh.ParticleFilter(model, skh.Stratified(), 5, rng=0)
    thread = threading.Thread(target=pf.step, args=(0.0,))
    thread.start()
    assert inside.wait(10)
    with pytest.raises(RuntimeError, match="use one ParticleFilter per thread"):
        pf.step(1.0)
    refused.set()
    thread.join(10)
    assert pf.t == 1
    assert deepcopy(pf).step(None).t == 1  # and the filter goes on


DECAY_RULES = {
    "default": None,
    "Matched": skh.Matched(skh.Stratified()),
    "Smoothed": skh.Smoothed(skh.Matched(skh.default_rule())),
    "Refined": skh.Refined(),
    "adaptive kernel": skh.FWQuad(step=skh.FullyCorrective(), search_points=100),
}


@pytest.mark.parametrize("name", DECAY_RULES)
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_coordinate_that_decays_without_noise_never_ends_the_filter(name, unit):
    """It halves at each step until its squares, and in the end it itself, are zero."""
    model = skh.model_from_functions(
        prior=([unit, 0.0], np.diag([unit**2, 1.0])),
        transition=lambda t, x: (x * [0.5, 0.9], np.diag([0.0, 0.1])),
        log_likelihood=lambda t, x, y: -0.5 * (x[:, 1] - y) ** 2 / 0.1,
    )
    pf = skh.ParticleFilter(model, DECAY_RULES[name], 8, rng=0)
    for t in range(1_150):
        belief = pf.step(np.sin(t))
    assert np.abs(belief.x[:, 0]).max() < 1e-100
    assert np.isfinite(belief.mean).all()
    assert abs(belief.mean[1]) < 2.0


@pytest.mark.parametrize("record", [skh.FilterResult, skh.Belief])
def test_the_docstring_of_a_result_lists_its_fields(record):
    assert [f.name for f in fields(record) if f"``{f.name}``" not in record.__doc__] == []


def log_normal(t, x, y):
    return -0.5 * (y - x[:, 0]) ** 2


LAW = {"observe": lambda t, x, rng: x[0] + rng.standard_normal(), "state_names": ["level"]}


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 0.1), log_normal, **k),
        lambda **k: skh.from_simulator(
            ([0.0], 1.0), lambda t, x, rng: x + rng.standard_normal(x.shape), log_normal, **k
        ),
    ],
    ids=["functions", "simulator"],
)
def test_models_of_functions_may_have_the_law_of_their_observations(make):
    model, rule = make(**LAW), skh.Stratified()
    forecast = skh.ParticleFilter(model, rule, 50, rng=0).predict_observation(draws=4000)
    assert forecast.covariance == pytest.approx(2.0, rel=0.1)
    result = skh.particle_filter(model, [0.1, 0.2], rule, 50, rng=0, history=True)
    assert "level_mean" in result.to_dataframe()
    assert result.pit(model, [0.1, 0.2], rng=0).pit.shape == (2, 1)
    cdf = make(observation_cdf=lambda t, x, y: stats.norm.cdf(y - x))
    exact = skh.pit(cdf, [0.5], rule, n=2000, rng=0)
    assert exact.pit[0, 0] == pytest.approx(stats.norm.cdf(0.5, scale=2**0.5), abs=0.01)
    with pytest.raises(TypeError, match="observe must be a function, got 3"):
        make(observe=3)
    with pytest.raises(TypeError, match="state_names must be a sequence of 1 strings, got 'level'"):
        make(state_names="level")


def test_workers_are_not_sent_the_law_of_the_observations():
    model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 0.1), log_normal, **LAW)
    sent = pickle.loads(pickle.dumps(model.likelihood_only))
    assert model.observe is LAW["observe"]  # a closure, which cannot be pickled
    assert sent.observe is None
    x = np.linspace(-1.0, 1.0, 5)[:, None]
    np.testing.assert_array_equal(sent.log_likelihood(0, x, 0.3), model.log_likelihood(0, x, 0.3))
