"""One battery of tests over all quadrature rules."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtri

import oracles
import skh
from battery import KERNEL, RULES, SMOOTHING, UNEQUAL_WEIGHTS

EQUAL_WEIGHTS = [name for name in RULES if name not in UNEQUAL_WEIGHTS]
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


@every_rule
@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize(("d", "n"), [(1, 1), (1, 37), (2, 16), (4, 50)])
def test_points_are_a_weighted_sample_of_the_components(rule, kind, d, n):
    p = oracles.random_mixture(6, d, np.random.default_rng(0), kind)
    points = rule(p, n, rng=1)
    m = len(points)
    assert points.x.shape == (m, d)
    assert points.w.shape == points.component.shape == (m,)
    assert 1 <= m <= n
    assert points.w.sum() == pytest.approx(1, abs=1e-12)
    assert (points.w > 0).all()
    assert np.isfinite(points.x).all()


@pytest.mark.parametrize("name", [name for name in RULES if name not in SMOOTHING])
@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize(("d", "n"), [(1, 1), (1, 37), (2, 16), (4, 50)])
def test_points_lie_within_seven_standard_deviations_of_their_component(name, kind, d, n):
    p = oracles.random_mixture(6, d, np.random.default_rng(0), kind)
    points = RULES[name](p, n, rng=1)
    e = points.x - p.means[points.component]
    S = p.covariance_matrices[points.component]
    assert (np.einsum("ni,nij,nj->n", e, np.linalg.inv(S), e) < 49 + 6 * d).all()


@pytest.mark.parametrize("name", EQUAL_WEIGHTS)
def test_rules_of_equal_weights_return_exactly_n(name):
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    points = RULES[name](p, 23, rng=1)
    np.testing.assert_allclose(points.w, np.full(23, 1 / 23), rtol=1e-12)


@every_rule
def test_same_seed_same_points(rule):
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    first, again, other = (rule(p, 20, rng=seed) for seed in (5, np.random.default_rng(5), 6))
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.w, again.w)
    assert not np.array_equal(first.x, other.x[: len(first)])


@every_rule
def test_global_random_state_is_left_alone(rule):
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    before = np.random.get_state()[1].copy()  # noqa: NPY002 # the legacy state is the point
    rule(p, 20)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@every_rule
def test_components_without_weight_are_never_chosen(rule):
    p = skh.GaussianMixture([0, 0.5, 0, 0.5, 0], [[0.0], [1], [2], [3], [4]], 0.01)
    points = rule(p, 64, rng=0)
    assert set(points.component) == {1, 3}


@every_rule
def test_a_dirac_gives_its_point(rule):
    p = skh.GaussianMixture([1.0], [[3.0, -2.0]], 0.0)
    points = rule(p, 5, rng=0)
    np.testing.assert_array_equal(points.x, np.tile([3.0, -2.0], (len(points), 1)))


@every_rule
def test_mean_converges_to_the_mixtures(rule):
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    errors = []
    for seed in range(20):
        points = rule(p, 256, rng=seed)
        errors.append(points.w @ points.x - p.mean)
    # six standard errors of Monte Carlo; the others are better
    allowed = 6 * np.sqrt(np.diag(p.covariance) / (256 * 20))
    assert (np.abs(np.mean(errors, axis=0)) < allowed).all()


@pytest.mark.parametrize("n", [1, 2, 3, 100, 127, 128, 129])
@pytest.mark.parametrize("order", ["storage", "hilbert"])
def test_sobol_accepts_any_number_of_points_without_a_warning(n, order):
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(skh.QuasiMonteCarlo(order)(p, n, rng=0)) == n


@pytest.mark.parametrize("order", ["storage", "hilbert"])
def test_sobol_numbers_choose_each_of_equal_components_equally_often(order):
    """The last coordinate of a Sobol net of 2^m points has one point in each of 2^m intervals."""
    p = skh.GaussianMixture(np.ones(16), np.random.default_rng(0).normal(size=(16, 3)), 1.0)
    points = skh.QuasiMonteCarlo(order)(p, 64, rng=1)
    np.testing.assert_array_equal(np.bincount(points.component), np.full(16, 4))


def test_stratified_and_systematic_choose_by_one_number_in_each_stratum():
    p = skh.GaussianMixture(np.ones(40), np.zeros((40, 1)), 1.0)
    for rule in (skh.Stratified(), skh.Systematic()):
        np.testing.assert_array_equal(rule(p, 40, rng=0).component, np.arange(40))


def test_strata_have_offsets_of_their_own_or_one_in_common():
    """With 1,000 equal components the chosen one reveals the offset within its stratum."""
    p = skh.GaussianMixture(np.ones(1000), np.zeros((1000, 1)), 1.0)
    strata = np.arange(10) * 100
    assert len(set(skh.Systematic()(p, 10, rng=0).component - strata)) == 1
    assert len(set(skh.Stratified()(p, 10, rng=0).component - strata)) > 5


def test_search_points_come_from_the_search_rule():
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    for search in (skh.MonteCarlo(), skh.QuasiMonteCarlo()):
        candidates = search(p, 64, rng=3).x
        points = skh.FWQuad(KERNEL, search_points=64, search=search)(p, 10, rng=3)
        assert all((candidates == x).all(axis=1).any() for x in points.x)


def test_measured_adds_the_mmd_and_changes_nothing_else():
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    plain, measured = skh.Stratified()(p, 20, rng=0), RULES["Measured"](p, 20, rng=0)
    np.testing.assert_array_equal(plain.x, measured.x)
    assert np.isnan(plain.mmd)
    assert measured.mmd == skh.mmd(KERNEL, p, plain.x, plain.w)


AROUND = {
    "matched": skh.Matched,
    "refined": skh.Refined,
    "smoothed": skh.Smoothed,
    "regularized": skh.Regularized,
    "measured": lambda rule: skh.Measured(rule, KERNEL),
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_inner_rules_may_return_lists_and_are_checked(around):
    p = skh.GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 1.0)

    def arrays(p, n, *, rng=None):
        return skh.Stratified()(p, n, rng=0)

    def lists(p, n, *, rng=None):
        points = arrays(p, n)
        return skh.WeightedPoints(points.x.tolist(), points.w.tolist(), points.component.tolist())

    def nonsense(p, n, *, rng=None):
        return skh.WeightedPoints(np.zeros((n, 1)), np.full(n, 1 / n), np.full(n, 2))

    expected, found = (around(rule)(p, 10, rng=0) for rule in (arrays, lists))
    np.testing.assert_array_equal(found.x, expected.x)
    np.testing.assert_array_equal(found.component, expected.component)
    with pytest.raises(ValueError, match=r"rule must return components in 0..1, got"):
        around(nonsense)(p, 10, rng=0)


def test_the_last_stratum_ends_below_one(monkeypatch):
    """(n - 1 + u) / n may round to one, beyond the last component."""
    monkeypatch.setattr("skh.rules.sampling.uniforms", lambda rng, n: np.full(n, 1 - 2.0**-53))
    p = skh.GaussianMixture(np.ones(4), np.arange(4.0)[:, None], 0.0)
    points = skh.Stratified()(p, 100_000, rng=0)
    assert points.component[-1] == 3
    assert points.x[-1, 0] == 3.0


@pytest.mark.parametrize("order", ["storage", "hilbert"])
def test_sobol_chooses_the_component_by_its_last_coordinate(order, monkeypatch):
    u = np.random.default_rng(0).random((50, 3))
    monkeypatch.setattr("skh.rules.sampling.scrambled_sobol", lambda n, d, rng: u[:n, :d])
    p = oracles.random_mixture(6, 2, np.random.default_rng(1), "matrices")
    points = skh.QuasiMonteCarlo(order)(p, 50, rng=0)
    along = np.arange(6) if order == "storage" else p.curve
    cumulative = np.cumsum(p.weights[along])
    component = along[np.searchsorted(cumulative, u[:, 2], side="right")]
    np.testing.assert_array_equal(points.component, component)
    L = np.linalg.cholesky(p.covariances)[component]
    z = ndtri(u[:, :2])
    expected = p.means[component] + np.einsum("nij,nj->ni", L, z)
    np.testing.assert_allclose(points.x, expected, atol=1e-12)
