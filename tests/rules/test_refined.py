"""Refinement of all points: gradients by finite differences, ancestors by Bayes' rule."""

import numpy as np
import pytest

import oracles
import skh
from skh.kernels.quadrature_weights import effective_sample_size
from skh.rules.ancestor_sampling import sample_ancestors
from skh.rules.energy import Energy

METRIC = np.array([[2.0, 0.5], [0.5, 1.0]])
KERNELS = {
    "one scale": skh.GaussianKernel(1.0),
    "several": skh.GaussianKernel((0.1, 1.0, 10.0)),
    "metric": skh.GaussianKernel((0.5, 5.0), metric=METRIC),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@pytest.mark.parametrize("kind", oracles.KINDS)
@every_kernel
def test_energy_is_the_squared_mmd_and_its_gradient_that_of_finite_differences(kernel, kind):
    assert_energy(kernel, oracles.random_mixture(5, 2, np.random.default_rng(3), kind))


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_energy_of_poses(kind):  # six dimensions have kernels of their own
    p = oracles.random_mixture(5, 6, np.random.default_rng(3), kind)
    assert_energy(skh.GaussianKernel((1.0, 10.0)), p)


def assert_energy(kernel, p):
    """Against the MMD in closed form and finite differences."""
    rng = np.random.default_rng(4)
    x, w = p.sample(11, rng=rng)[0], rng.dirichlet(np.ones(11))
    energy, X = Energy(kernel, p), kernel.coordinates(x)
    square, gradient = energy(X, w)
    square += kernel.mean_norm2(p)
    assert square == pytest.approx(skh.mmd(kernel, p, x, w) ** 2, abs=1e-14)
    h = 1e-6
    for index in np.ndindex(X.shape):
        there, back = X.copy(), X.copy()
        there[index] += h
        back[index] -= h
        slope = (energy(there, w)[0] - energy(back, w)[0]) / (2 * h)
        assert gradient[index] == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize("kind", oracles.KINDS)
@every_kernel
def test_refinement_lowers_the_mmd_and_reports_it_exactly(kernel, kind):
    p = oracles.random_mixture(20, 2, np.random.default_rng(0), kind)
    plain = skh.FWQuad(kernel, search_points=500)(p, 30, rng=1)
    moved = skh.FWQuad(kernel, search_points=500, refine=skh.Refine(20))(p, 30, rng=1)
    assert moved.mmd < 0.97 * plain.mmd  # least gain for three wide scales
    assert moved.mmd == pytest.approx(skh.mmd(kernel, p, moved.x, moved.w), abs=1e-9)
    np.testing.assert_array_equal(moved.w, plain.w)
    np.testing.assert_array_equal(moved.mmd_trace, plain.mmd_trace)


@pytest.mark.parametrize("start", [skh.Stratified(), skh.QuasiMonteCarlo("hilbert")])
def test_refinement_needs_no_search(start):
    p = oracles.random_mixture(50, 2, np.random.default_rng(0))
    kernel = skh.GaussianKernel(1.0)
    points = skh.Refined(start, kernel)(p, 50, rng=1)
    assert points.mmd < 0.75 * skh.FWQuad(kernel)(p, 50, rng=1).mmd
    np.testing.assert_array_equal(points.w, np.full(50, 1 / 50))


def test_refinement_reaches_the_known_mmd_on_the_papers_mixtures():
    """K = 100, N = 100: medians over five mixtures."""
    rng = np.random.default_rng(7)
    flat = [paper_mixture(rng, 2) for _ in range(5)]
    kernel = skh.GaussianKernel(1.0)
    free = skh.FWQuad(
        kernel, skh.FullyCorrective(ridge=1e-4), 3_000, refine=skh.Refine(50, reweigh=True)
    )
    assert np.median([free(p, 100, rng=1).mmd for p in flat]) <= 0.0085
    equal = skh.FWQuad(kernel, refine=skh.Refine(30))
    assert np.median([equal(p, 100, rng=1).mmd for p in flat]) <= 0.0150
    wide = skh.Refined(skh.Stratified(), skh.GaussianKernel(100.0), skh.Refine(100))
    assert np.median([wide(paper_mixture(rng, 5), 100, rng=1).mmd for _ in range(5)]) <= 0.0010


def paper_mixture(rng, d, K=100):
    return skh.GaussianMixture(rng.random(K), rng.uniform(-5, 5, (K, d)), rng.uniform(0.1, 4.1, K))


def test_refinement_remeasures_points_of_another_kernel():
    p, kernel = oracles.random_mixture(20, 2, np.random.default_rng(0)), skh.GaussianKernel(1.0)
    points = skh.FWQuad(skh.GaussianKernel(10.0))(p, 20, rng=0)
    moved = skh.Refine(5)(kernel, p, points, rng=0)
    assert moved.mmd == pytest.approx(skh.mmd(kernel, p, moved.x, moved.w), rel=1e-9)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_ancestors_of_moved_points_follow_bayes_rule(kind):
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(4, 2, rng, kind)
    x = p.sample(3, rng=rng)[0]
    S = p.covariance_matrices
    e = x[:, None] - p.means
    square = np.einsum("nki,kij,nkj->nk", e, np.linalg.inv(S), e)
    share = p.weights * np.exp(-0.5 * square) / np.sqrt(np.linalg.det(S))
    share /= share.sum(axis=1, keepdims=True)
    draws = np.array([sample_ancestors(p, x, rng) for _ in range(4000)])
    counted = np.array([(draws == k).mean(axis=0) for k in range(4)]).T
    np.testing.assert_allclose(counted, share, atol=0.03)  # four standard errors


def test_ancestors_are_defined_where_components_have_no_spread():
    p = skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [5.0, 5.0]], 0.0)
    x = np.array([[0.1, 0.0], [4.9, 5.0]])
    np.testing.assert_array_equal(sample_ancestors(p, x, np.random.default_rng(0)), [0, 1])


def test_rao_blackwellization_stays_right_with_moved_points():
    """Both parts of a linear model against the Kalman filter."""
    model = skh.models.lgss3()
    _, ys = model.simulate(40, rng=0)
    exact = skh.kalman_filter(model, ys)
    rb = skh.rao_blackwellize(model, [0, 1])
    kernel = skh.GaussianKernel((0.1, 1.0, 10.0))
    moved = skh.Refined(skh.Stratified(), kernel)
    errors = {}
    for name, rule in {"moved": moved, "drawn": skh.Stratified()}.items():
        results = [skh.particle_filter(rb, ys, rule, 400, rng=seed) for seed in range(1, 5)]
        errors[name] = np.mean([oracles.rmse(r.z_means[:, 0], exact.means[:, 2]) for r in results])
    assert errors["moved"] < 0.7 * errors["drawn"]
    assert errors["moved"] < 0.05


def test_points_of_an_exact_rule_do_not_move():
    p = skh.GaussianMixture([0.5, 0.5], [[0.0], [1.0]], 0.0)
    start = skh.WeightedPoints(p.means, p.weights, np.arange(2))
    moved = skh.Refine(5)(skh.GaussianKernel(1.0), p, start, rng=0)
    np.testing.assert_allclose(moved.x, p.means, atol=1e-4)


def test_points_chosen_among_many_masses_stay_the_rules_own():
    """Of 500 simulated draws: the points of Frank-Wolfe, with their weights and MMD."""
    p = skh.GaussianMixture(np.ones(500), np.random.default_rng(0).standard_normal((500, 2)), 0.0)
    kernel = skh.GaussianKernel(1.0)
    chosen = skh.FWQuad(kernel, skh.FullyCorrective(), 500)(p, 20, rng=1)
    moved = skh.FWQuad(kernel, skh.FullyCorrective(), 500, refine=skh.Refine())(p, 20, rng=1)
    assert np.array_equal(moved.x, chosen.x)
    assert np.array_equal(moved.w, chosen.w)
    assert np.array_equal(p.means[moved.component], moved.x)
    assert moved.mmd == pytest.approx(skh.mmd(kernel, p, chosen.x, chosen.w), rel=1e-6)
    assert moved.mmd < 0.2 * skh.mmd(
        kernel, p, skh.QuasiMonteCarlo()(p, 20, rng=1).x, np.ones(20) / 20
    )


def test_an_invalid_kernel_is_named():
    with pytest.raises(TypeError, match=r"kernel must be a GaussianKernel or None, got 1\.0"):
        skh.Refined(kernel=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iterations": 0}, "iterations must be a positive integer, got 0"),
        ({"ridge": -1.0}, "ridge must be a non-negative number, got -1.0"),
        ({"ridge": np.nan}, "ridge must be a non-negative number, got nan"),
        ({"min_ess": 1.5}, r"min_ess must be a number in \[0, 1\], got 1.5"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        skh.Refine(**arguments)


def test_points_measured_by_another_kernel_get_the_mmd_of_this_one():
    p = oracles.random_mixture(5, 2, np.random.default_rng(0))
    kernel = skh.GaussianKernel(0.05)
    rule = skh.Refined(skh.FWQuad(skh.GaussianKernel(1.0), search_points=300), kernel)
    points = rule(p, 20, rng=0)
    assert points.mmd == pytest.approx(skh.mmd(kernel, p, points.x, points.w), abs=1e-9)


def test_a_point_of_zero_weight_stays_and_the_others_move():
    p = oracles.random_mixture(5, 2, np.random.default_rng(0))
    kernel = skh.GaussianKernel(1.0)

    def lopsided(p, n, *, rng=None):
        points = skh.MonteCarlo()(p, n, rng=rng)
        w = np.full(n, 1 / (n - 1))
        w[0] = 0.0
        return skh.WeightedPoints(points.x, w, points.component)

    before = lopsided(p, 20, rng=0)
    after = skh.Refined(lopsided, kernel, skh.Refine(iterations=40))(p, 20, rng=0)
    assert after.mmd < 0.3 * skh.mmd(kernel, p, before.x, before.w)
    np.testing.assert_allclose(after.x[0], before.x[0], atol=1e-3)


def test_reweighting_keeps_its_floor_and_lowers_the_mmd():
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    kernel = skh.GaussianKernel(20.0)
    kept, free = (
        skh.Refined(skh.Stratified(), kernel, skh.Refine(3, reweigh=r, min_ess=0.8))(p, 30, rng=1)
        for r in (False, True)
    )
    np.testing.assert_array_equal(free.x, kept.x)
    assert free.mmd < kept.mmd
    assert effective_sample_size(free.w) >= 0.8 * 30 - 1e-9
    assert free.mmd == pytest.approx(skh.mmd(kernel, p, free.x, free.w), abs=1e-8)
