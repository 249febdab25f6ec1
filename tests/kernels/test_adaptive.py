"""The adaptive kernel, the information that it uses, and the default rule."""

import numpy as np
import pytest

import oracles
import skh
from skh._numba.metrics import COARSE_INFORMATION, clip_information
from skh.filtering.likelihood_information import LearnedInformation
from skh.gaussians.predictive import Predictive
from skh.kernels.adaptive import SCALES, adaptive_kernel, unseen_factor
from skh.kernels.quadrature_weights import effective_sample_size


def learned(known, x, w, log_likelihood):
    """The information after one more step of a filter whose rule uses it."""
    if known is None:
        return LearnedInformation(x, w, log_likelihood)
    return known.then(x, w, log_likelihood, known.matrix)


def metric(p):
    return np.array(adaptive_kernel(p, 100).metric)


def test_the_metric_is_the_scaled_posterior_covariance():
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(10, 3, rng, "matrices")
    C = rng.standard_normal((1, 3))
    F = C.T @ C / 0.1
    seen = Predictive.of(p, information=F)
    expected = np.linalg.inv(np.linalg.inv(unseen_factor(100, 3) * p.covariance) + F)
    np.testing.assert_allclose(metric(seen), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        metric(p), unseen_factor(100, 3) * p.covariance, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(("n", "d", "narrowest"), [(100, 1, 0.01), (100, 3, 0.1), (20, 15, 1.0)])
def test_scales_are_no_finer_than_the_points_are_dense(n, d, narrowest):
    kernel = adaptive_kernel(skh.GaussianMixture([1.0], np.zeros((1, d)), 1.0), n)
    assert min(kernel.variance) == narrowest
    assert max(kernel.variance) == max(SCALES)


def test_a_flat_mixture_has_a_regular_metric():
    flat = skh.GaussianMixture([0.5, 0.5], [[0.0, 1.0], [2.0, 3.0]], 0.0)  # on a line
    assert np.linalg.eigvalsh(metric(flat)).min() > 0
    point = skh.GaussianMixture([1.0], [[0.0, 1.0]], 0.0)
    assert np.isfinite(metric(point)).all()
    assert len(skh.default_rule()(flat, 10, rng=0)) == 10


def gaussian_observation(C, R, d, n, rng):
    """Particles of a standard normal state and their log-likelihoods for a random observation."""
    x = rng.standard_normal((n, d))
    y = C @ rng.standard_normal(d) + np.sqrt(R) * rng.standard_normal()
    return x, np.full(n, 1 / n), -0.5 * (y - x @ C) ** 2 / R


@pytest.mark.parametrize(("n", "steps"), [(50, 10), (30, 30)])
def test_information_finds_the_only_observed_direction(n, steps):
    """15 dimensions, hardly more particles, one observed coordinate."""
    C, R = np.eye(15)[3] * 2, 0.1
    for seed in range(3):
        rng, known = np.random.default_rng(seed), None
        for _ in range(steps):
            known = learned(known, *gaussian_observation(C, R, 15, n, rng))
            assert known.matrix.shape == (15, 15)
        values, axes = np.linalg.eigh(known.matrix)
        assert abs(axes[3, -1]) > 0.95
        assert np.abs(values[:-1]).max() < 0.1 * values[-1]
        assert 0.5 < values[-1] / (C @ C / R) < 2  # the Fisher information


def test_information_of_a_parabola_is_its_curvature():
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (60, 2))
    known = learned(None, x, np.full(60, 1 / 60), 3.0 * x[:, 1] - 4.5 * x[:, 0] ** 2)
    np.testing.assert_allclose(known.matrix, [[9.0, 0.0], [0.0, 0.0]], atol=0.1)


def test_information_is_local_for_a_likelihood_with_two_modes():
    """Two modes at -2 and 2, each of information 25."""
    x = np.linspace(-4, 4, 81)[:, None]
    level = -12.5 * (np.abs(x[:, 0]) - 2) ** 2
    known = learned(None, x, np.full(81, 1 / 81), level)
    known = learned(known, x, np.full(81, 1 / 81), level)
    assert known.matrix[0, 0] == pytest.approx(25.0, rel=0.3)


def test_information_is_learned_after_uninformative_observations():
    rng, known, nothing = np.random.default_rng(3), None, np.zeros(30)
    for t in range(20):
        x, w, level = gaussian_observation(np.array([1.0, 0.0]), 0.01, 2, 30, rng)
        known = learned(known, x, w, nothing if t < 5 else level)
        assert np.isfinite(known.matrix).all()
        assert t >= 5 or abs(known.matrix).max() < 1e-6
    assert known.matrix[0, 0] > 30


def test_information_is_not_computed_for_rules_that_do_not_use_it():
    model = skh.models.lgss3()
    _, ys = model.simulate(6, rng=0)
    given = skh.GaussianKernel(1.0)
    for rule, steps in [
        (skh.Stratified(), 0),
        (skh.Matched(skh.Systematic()), 0),
        (skh.FWQuad(given, search_points=50), 0),
        (skh.Refined(skh.Stratified(), given), 0),
        (skh.Measured(skh.Stratified(), given), 0),
        (skh.FWQuad(search_points=50), 5),
        (skh.Refined(), 5),
        (skh.Smoothed(skh.Matched(skh.default_rule())), 5),
        (lambda p, n, *, rng=None: skh.default_rule()(p, n, rng=rng), 5),  # used by default
    ]:
        pf = skh.ParticleFilter(model, rule, 10, rng=0)
        known = [pf.step(y) for y in ys][-1].information
        assert known.steps == steps
        assert (known.pooled is None) == (steps == 0)


@pytest.mark.parametrize("rule", [None, skh.Stratified()])
def test_reading_the_information_changes_nothing(rule):
    model = skh.models.lgss3()
    _, ys = model.simulate(6, rng=0)
    plain, watched = (skh.ParticleFilter(model, rule, 10, rng=0) for _ in range(2))
    for y in ys:
        a, b = plain.step(y), watched.step(y)
        assert np.isfinite(b.information.matrix).all()
        np.testing.assert_array_equal(a.x, b.x)
    assert a.information.steps == b.information.steps
    np.testing.assert_array_equal(a.information.matrix, b.information.matrix)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_mixtures_derived_from_a_predictive_keep_its_information(kind):
    rng = np.random.default_rng(0)
    p, B = oracles.random_mixture(6, 3, rng, kind), rng.normal(size=(3, 3))
    F = B @ B.T
    p = Predictive.of(p, 2, F)
    for q in (p.widened(2.0), p.shrunk(0.3), p.with_information(F)):
        assert q.components_per_particle == 2
        np.testing.assert_array_equal(q.information, F)
    A = rng.normal(size=(3, 3))
    q = p.linear_map(A)
    assert q.components_per_particle == 2
    np.testing.assert_allclose(A.T @ q.information @ A, F, rtol=1e-9)  # e' F e is the same number
    for singular in (A[:2], np.diag([1.0, 1.0, 0.0])):  # x does not follow from A x
        q = p.linear_map(singular)
        assert (q.components_per_particle, q.information) == (2, None)


def test_information_given_by_the_model_is_checked():
    class Wrong(type(skh.models.nonlinear_benchmark())):
        def observation_metric(self, t, x):
            return np.zeros((2, 2))

    with pytest.raises(ValueError, match=r"observation_metric at t=0 .* got shape \(2, 2\)"):
        skh.ParticleFilter(Wrong(), n=10, rng=0).step(1.0)


class Scaled:
    """A model in other units: x' = s x."""

    def __init__(self, model, s):
        self.model, self.s = model, np.asarray(s)

    def prior(self):
        return self.model.prior().linear_map(np.diag(self.s))

    def transition(self, t, x):
        means, S = self.model.transition(t, x / self.s)
        S = S * np.eye(len(self.s)) if np.ndim(S) == 0 else S
        return means * self.s, self.s[:, None] * S * self.s

    def log_likelihood(self, t, x, y):
        return self.model.log_likelihood(t, x / self.s, y)


@pytest.mark.parametrize("s", [(1e-6, 1.0, 1e6), (1e6, 1e-3, 1e-6)])
def test_units_do_not_matter(s):
    model = skh.models.lgss3()
    _, ys = model.simulate(8, rng=0)
    plain = skh.particle_filter(model, ys, n=20, rng=1)
    scaled = skh.particle_filter(Scaled(model, s), ys, n=20, rng=1)
    np.testing.assert_allclose(scaled.means / np.array(s), plain.means, atol=1e-5)
    assert scaled.log_evidence == pytest.approx(plain.log_evidence, abs=1e-4)


@pytest.mark.parametrize("model", [skh.models.lgss3(), skh.models.nonlinear_benchmark()])
def test_the_default_returns_all_particles_and_keeps_their_weights_even(model):
    _, ys = model.simulate(15, rng=0)
    pf, sizes = skh.ParticleFilter(model, n=30, rng=1), []
    for y in ys:
        pf.step(y)
        p = pf.predict().with_information(pf.belief.information.matrix)
        points = skh.default_rule()(p, 30, rng=1)
        sizes.append(effective_sample_size(points.w) / 30)
        assert len(points) == 30
    assert min(sizes) >= 0.5 - 1e-9


def test_the_default_rule_beats_random_sampling_on_three_models():
    """N = 50, medians of three series; the bounds leave a factor of two."""
    for model, bound in [
        (skh.models.lgss3(), 0.3),
        (skh.models.nonlinear_benchmark(), 0.4),
    ]:
        ratios = []
        for seed in range(3):
            _, ys = model.simulate(50, rng=seed)
            many = skh.particle_filter(model, ys, skh.Stratified(), 50_000, rng=9).means
            few = [
                np.sqrt(
                    np.mean((skh.particle_filter(model, ys, rule, 50, rng=1).means - many) ** 2)
                )
                for rule in (None, skh.Stratified())
            ]
            ratios.append(few[0] / few[1])
        assert np.median(ratios) < bound


def test_a_tolerance_makes_the_number_of_particles_follow_the_target():
    """Two modes need more particles than one, and never more than the budget."""
    rule = skh.FWQuad(skh.GaussianKernel(1.0), skh.FullyCorrective(), 1_000, tol=0.02)
    model = skh.models.nonlinear_benchmark()
    _, ys = model.simulate(30, rng=0)
    counts = skh.particle_filter(model, ys, rule, 60, rng=1).n_particles
    assert counts.max() <= 60
    assert counts.max() >= 2 * counts.min()


@pytest.mark.parametrize("constant", [0.1, 3.0, 1234.567])
def test_a_coordinate_that_is_known_exactly_changes_nothing(constant):
    """Its variance is that of rounding, which is not a spread."""

    class WithConstant:
        def __init__(self, c):
            self.c = c

        def prior(self):
            return skh.GaussianMixture([1.0], [[0.0, self.c]], np.diag([1.0, 0.0]))

        def transition(self, t, x):
            return x * [0.9, 1.0], np.diag([0.5, 0.0])

        def log_likelihood(self, t, x, y):
            return -0.5 * (y - x[:, 0]) ** 2 / 0.1

    ys = np.sin(np.arange(8.0))
    rule = skh.default_rule()
    results = [skh.particle_filter(WithConstant(c), ys, rule, 50, rng=0) for c in (0.0, constant)]
    np.testing.assert_allclose(results[1].means[:, 0], results[0].means[:, 0], atol=0.01)
    # The two runs differ by rounding, so their MMDs agree only as those of two seeds do.
    assert np.mean(results[1].mmd) == pytest.approx(np.mean(results[0].mmd), rel=0.3)
    np.testing.assert_array_less(results[1].mmd, 2 * results[0].mmd)


def test_log_likelihoods_of_any_size_raise_no_warning():
    x, w = np.linspace(-1, 1, 5)[:, None], np.full(5, 0.2)
    known = learned(None, x, w, np.array([1e308, -1e308, 0.0, -np.inf, 1.0]))
    assert np.isfinite(known.matrix).all()


def test_a_model_that_gives_its_information_has_smaller_errors():
    model = skh.models.lgss15()
    F = model.C.T @ np.linalg.inv(model.R) @ model.C
    functions = model.prior(), model.transition, model.log_likelihood
    telling = skh.model_from_functions(*functions, observation_metric=lambda t, x: F)
    _, ys = model.simulate(30, rng=0)
    exact = skh.kalman_filter(model, ys).means

    def rmse(m):
        return oracles.rmse(skh.particle_filter(m, ys, n=50, rng=1).means, exact)

    assert rmse(telling) < 0.75 * rmse(model)  # 0.16 against 0.29


def test_information_given_by_the_model_is_averaged_over_the_components():
    heard = []

    def listening(p, n, *, rng=None):
        heard.append((p, p.information))
        return skh.Stratified()(p, n, rng=rng)

    def metric(t, x):
        return (t + x[:, :1, None] ** 2) * np.eye(3)

    model = skh.models.lgss3()
    functions = model.prior(), model.transition, model.log_likelihood
    told = skh.model_from_functions(*functions, observation_metric=metric)
    skh.particle_filter(told, [0.1, 0.5, -0.2], listening, 20, rng=0)
    for t, (p, F) in enumerate(heard):
        expected = (t + p.weights @ p.means[:, 0] ** 2) * np.eye(3)
        np.testing.assert_allclose(F, expected, rtol=1e-12)
    assert len(heard) == 3


def test_impossible_particles_do_not_disturb_the_information():
    x = np.linspace(-1, 1, 50)[:, None]
    parabola = -4.5 * x[:, 0] ** 2
    for likelihood in (parabola, np.where(x[:, 0] > 0.9, -np.inf, parabola)):
        known = learned(None, x, np.full(50, 0.02), likelihood)
        assert known.matrix.item() == pytest.approx(9, rel=0.05)


@pytest.mark.parametrize("sds", [[0.001], [0.01, 0.01], [0.001, 0.001], [0.001, 0.003, 0.01]])
def test_a_sensor_far_more_precise_than_the_points_are_dense_does_no_harm(sds):
    """Fifty points; the predictive distribution is 30 to 300 times as wide as the likelihood."""
    unit = np.eye(len(sds))
    model = skh.models.LinearGaussian(
        0.9 * unit, unit, 0.1 * unit, np.diag(sds) ** 2, np.zeros(len(sds)), unit
    )
    errors = {"default": [], "random": []}
    for seed in range(12):
        _, ys = model.simulate(20, rng=seed)
        exact = skh.kalman_filter(model, ys).means
        for name, rule in (("default", None), ("random", skh.Stratified())):
            result = skh.particle_filter(model, ys, rule, 50, rng=seed)
            errors[name].append(oracles.rmse(result.means, exact))
    assert np.median(errors["default"]) < np.median(errors["random"])


def resolvable_information(seen, n):
    clip_information(seen, n)
    return seen


def test_information_beyond_what_points_can_resolve_is_cut_off():
    np.testing.assert_allclose(resolvable_information(np.array([1e9]), 50), [2 * 50**2])
    for seen in ([1e300] * 4, [1e5, 1e3, 1e4, 3.0, 0.0]):
        cut = resolvable_information(np.array(seen), 50)
        assert np.prod(np.maximum(cut / COARSE_INFORMATION, 1)) == pytest.approx(50**2 / 2)
        np.testing.assert_array_equal(cut, np.minimum(seen, cut.max()))
    for little in ([100.0, 0.1, 0.0], [0.0, 0.0], [3.9] * 15):
        np.testing.assert_array_equal(resolvable_information(np.array(little), 50), little)
    np.testing.assert_array_equal(
        resolvable_information(np.array([1e9, 1.0]), 1), [COARSE_INFORMATION, 1.0]
    )


def test_covariances_grow_correctly_without_observations():
    """A random walk in three dimensions, one observed for 20 steps, then none for 60."""
    walk = skh.model_from_functions(
        prior=(np.zeros(3), 1.0),
        transition=lambda t, x: (x, 0.01),
        log_likelihood=lambda t, x, y: -0.5 * (x[:, 0] - y) ** 2 / 0.01,
    )
    ys = [*np.random.default_rng(0).normal(0, 0.1, 20), *[None] * 60]
    for n in (20, 50):
        result = skh.particle_filter(walk, ys, n=n, rng=0)
        seen_last, end = (np.diagonal(result.covariances[t])[1:] for t in (19, 79))
        np.testing.assert_allclose(end, seen_last + 60 * 0.01, rtol=0.3)  # 0.15 of its root


def test_a_rule_gets_information_only_before_an_observation():
    heard = []

    def listening(p, n, *, rng=None):
        heard.append(p.information is not None)
        return skh.Stratified()(p, n, rng=rng)

    pf = skh.ParticleFilter(skh.models.lgss3(), listening, 20, rng=0)
    for y in (0.1, 0.5, None, 0.3):
        pf.step(y)
    assert heard == [False, True, False, True]
    pf.predict(3)
    assert heard[4:] == [False, False]


def test_a_failed_step_does_not_affect_later_steps():
    plain, hit = (skh.ParticleFilter(skh.models.lgss3(), n=20, rng=0) for _ in range(2))
    for pf in (plain, hit):
        pf.step(0.1)
    with pytest.raises(skh.ZeroLikelihoodError, match=r"at t=1 is zero at all 20 particles"):
        hit.step(1e200)
    np.testing.assert_array_equal(hit.predict(2).means, plain.predict(2).means)
    np.testing.assert_array_equal(hit.step(None).x, plain.step(None).x)
    np.testing.assert_array_equal(hit.step(0.2).x, plain.step(0.2).x)
