"""Log-densities of components, singular ones included, in any units; ancestors by Bayes' rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import multivariate_normal

import oracles
import skh
from skh.rules.ancestor_sampling import sample_ancestors

seeds = st.integers(0, 10**6)


def units(rng, d):
    return 10 ** rng.uniform(-12, 12, d)


def probabilities(p, x):
    return softmax(p.log_densities(x), axis=1)


def in_units(p, D):
    """A mixture with matrices as covariances, in other units."""
    covariances = D[:, None] * p.covariance_matrices * D
    return skh.GaussianMixture(p.weights, D * p.means, covariances)


@pytest.mark.parametrize("distance", [1e5, 1e10])
@pytest.mark.parametrize("kind", [1.0, [1.0, 1.0, 1.0], np.eye(2), [np.eye(2)] * 3])
def test_a_distant_mode_does_not_blur_the_others(kind, distance):
    """Between two components, log-odds are linear in x; the third is far away."""
    p = skh.GaussianMixture([1.0, 1.0, 1.0], [[0.0, 0.0], [4.0, 0.0], [distance] * 2], kind)
    odds = np.exp(4.0 * (0.625 - 2.0))  # of the second: exp(x m - m^2 / 2)
    found = probabilities(p, np.array([[0.625, 0.0]]))[0]
    np.testing.assert_allclose(found, [1 / (1 + odds), odds / (1 + odds), 0.0], atol=1e-5)
    assert found[0] > 0.995


@given(seeds, st.integers(1, 10), st.sampled_from(["matrix", "matrices"]))
def test_regular_components_have_their_exact_density_in_any_units(seed, d, kind):
    rng = np.random.default_rng(seed)
    p, D = oracles.random_mixture(3, d, rng, kind), units(rng, d)
    x = p.sample(5, rng=rng)[0]
    parts = zip(p.weights, p.means, p.covariance_matrices, strict=True)
    exact = np.transpose([np.log(w) + multivariate_normal(m, S).logpdf(x) for w, m, S in parts])
    found = in_units(p, D).log_densities(D * x) + np.log(D).sum()
    np.testing.assert_allclose(found, exact, rtol=1e-8, atol=1e-8)


@given(seeds, st.integers(1, 8), st.data())
def test_components_with_the_same_support_are_compared_on_it(seed, d, data):
    """Components A N(n_k, B_k) + c have the probabilities of the components N(n_k, B_k)."""
    rank = data.draw(st.integers(1, d))
    rng = np.random.default_rng(seed)
    A, c, D = np.linalg.qr(rng.normal(size=(d, d)))[0][:, :rank], rng.normal(size=d), units(rng, d)
    q = oracles.random_mixture(4, rank, rng, "matrices")
    X = D[:, None] * A
    p = skh.GaussianMixture(q.weights, q.means @ X.T + D * c, X @ q.covariances @ X.T)
    v = q.sample(6, rng=rng)[0]
    np.testing.assert_allclose(probabilities(p, v @ X.T + D * c), probabilities(q, v), atol=1e-4)


@given(seeds, st.integers(1, 6))
def test_log_densities_are_finite_and_have_no_units(seed, d):
    """Points on and off the supports of components of any rank."""
    rng = np.random.default_rng(seed)
    axes = (np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(4))
    A = [a[:, : rng.integers(0, d + 1)] for a in axes]
    means, D = rng.normal(size=(4, d)), units(rng, d)
    p = skh.GaussianMixture(rng.random(4) + 0.1, means, [a @ a.T for a in A])
    x = np.vstack([p.sample(4, rng=rng)[0], means, rng.normal(size=(4, d)), 1e6 * np.ones((1, d))])
    found, scaled = p.log_densities(x), in_units(p, D).log_densities(D * x) + np.log(D).sum()
    assert np.isfinite(found).all()
    np.testing.assert_allclose(scaled, found, rtol=1e-4, atol=1e-2)


@given(seeds, st.integers(1, 4), st.sampled_from(["shared", "each", "matrix", "matrices"]))
def test_points_go_to_the_nearest_point_mass_in_units_of_the_mixture(seed, d, kind):
    rng = np.random.default_rng(seed)
    D = units(rng, d)
    shape = {"shared": (), "each": (5,), "matrix": (d, d), "matrices": (5, d, d)}[kind]
    p = skh.GaussianMixture(np.ones(5), D * rng.normal(size=(5, d)), np.zeros(shape))
    x, sd = D * rng.normal(size=(9, d)), np.sqrt(p.covariance.diagonal())
    distance = (((x[:, None] - p.means) / sd) ** 2).sum(-1)
    np.testing.assert_array_equal(sample_ancestors(p, x, rng), distance.argmin(axis=1))
    np.testing.assert_array_equal(sample_ancestors(p, p.means, rng), np.arange(5))


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_point_mass_has_its_own_point_and_no_other(unit):
    S = np.array([np.eye(2), np.zeros((2, 2))])
    p = in_units(skh.GaussianMixture([0.9, 0.1], np.zeros((2, 2)), S), np.array([1.0, unit]))
    x = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1 * unit]])
    np.testing.assert_allclose(probabilities(p, x)[:, 1], [1.0, 0.0, 0.0], atol=1e-6)


def test_a_support_far_from_the_origin_has_its_points():
    """Points of two crossing lines, moved by 1e7 standard deviations, keep their lines."""
    u = np.array([[1.0, 1.0], [1.0, -1.0]])
    S = u[:, :, None] * u[:, None, :]
    p = skh.GaussianMixture([0.5, 0.5], np.full((2, 2), 1e7), S)
    x, component = p.sample(200, rng=0)
    assert (sample_ancestors(p, x, np.random.default_rng(1)) == component).mean() > 0.99


@pytest.mark.parametrize("variance", [1e-320, 1e-200, 1e-40])
def test_spreads_below_rounding_do_not_overflow(variance):
    p = skh.GaussianMixture([0.5, 0.5], [[1.0, 0.0], [2.0, 1e9]], [variance] * 2)
    x = np.array([[1.0, 0.0], [2.0, 1e9], [1e300, -1e300]])
    assert np.isfinite(p.log_densities(x)).all()
    assert sample_ancestors(p, x, np.random.default_rng(0))[:2].tolist() == [0, 1]


@given(seeds, st.integers(1, 4), st.integers(0, 4))
def test_divided_by_singular_covariances(seed, d, rank):
    """S^- S is a projection onto the range of S, in any units."""
    rng = np.random.default_rng(seed)
    D, A = units(rng, d), np.linalg.qr(rng.normal(size=(d, d)))[0][:, : min(rank, d)]
    S = (D[:, None] * A) @ (D[:, None] * A).T
    p = skh.GaussianMixture([1.0, 1.0], rng.normal(size=(2, d)), [S, S])
    np.testing.assert_allclose((S @ p.divided(S))[0] / D[:, None] / D, A @ A.T, atol=1e-8)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_far_points_are_those_beyond_a_distance_from_all_components(kind):
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(9, 3, rng, kind)
    x, component = 2.0 * rng.normal(size=(40, 3)) + p.mean, rng.integers(0, 9, 40)
    off, S = x[:, None] - p.means, p.covariance_matrices
    square = (off * np.linalg.solve(S, off[..., None])[..., 0]).sum(axis=2).min(axis=1)
    far = p.densities.far(np.median(square), x, component)
    np.testing.assert_array_equal(far, square > np.median(square))
    assert p.densities.far(1.001 * square.max(), x, component) is None
