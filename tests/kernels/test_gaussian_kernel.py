"""Closed forms of the Gaussian kernel against quadrature and a second formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import skh
from skh._numba.pair_sums import PAIRS
from skh.rules.refined import Energy

VARIANCES = (0.3, 1.0, (0.2, 1.0, 5.0))


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize(("d", "step"), [(1, 0.02), (2, 0.15)])
def test_closed_forms_equal_numerical_integration(kind, variance, d, step):
    rng = np.random.default_rng(1)
    means = rng.uniform(-2, 2, (3, d))
    S = oracles.random_covariances(kind, 3, d, rng)
    p = skh.GaussianMixture([0.5, 0.3, 0.2], means, S)
    x, cell = oracles.grid(p, step, reach=16)
    kernel = skh.GaussianKernel(variance)
    probability = oracles.density(p, x) * cell
    at = rng.uniform(-3, 3, (5, d))
    numerical = oracles.gram(variance, at, x) @ probability
    np.testing.assert_allclose(kernel.mean_map(p, at), numerical, rtol=0, atol=1e-9)
    assert kernel.mean_norm2(p) == pytest.approx(probability @ kernel.mean_map(p, x), abs=1e-9)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("with_metric", [False, True])
def test_closed_forms_equal_the_papers_formula_in_five_dimensions(kind, variance, with_metric):
    rng = np.random.default_rng(2)
    p = oracles.random_mixture(7, 5, rng, kind)
    B = rng.normal(size=(5, 5))
    metric = B @ B.T + np.eye(5) if with_metric else None
    kernel = skh.GaussianKernel(variance, metric=metric)
    x, y = rng.normal(size=(11, 5)) * 3, rng.normal(size=(1300, 5)) * 3
    np.testing.assert_allclose(
        kernel.mean_map(p, y), oracles.mean_map(variance, p, y, metric), rtol=1e-11, atol=1e-13
    )
    assert kernel.mean_norm2(p) == pytest.approx(oracles.mean_norm2(variance, p, metric), rel=1e-11)
    np.testing.assert_allclose(
        kernel.gram(x, y), oracles.gram(variance, x, y, metric), rtol=0, atol=1e-12
    )
    w = rng.normal(size=11)
    np.testing.assert_allclose(kernel.weighted_sum(x, w, y), w @ kernel.gram(x, y), atol=1e-13)


def test_the_norm_of_many_skewed_components():
    """Pairs are processed in blocks: 60 components have more than one."""
    p = oracles.random_mixture(60, 3, np.random.default_rng(5), "matrices")
    assert len(p) * (len(p) + 1) // 2 > 2 * PAIRS
    norm2 = skh.GaussianKernel(0.7).mean_norm2(p)
    assert norm2 == pytest.approx(oracles.mean_norm2(0.7, p), rel=1e-11)


def test_dirac_components_make_the_mean_map_a_sum_of_kernels():
    x = np.array([[0.0, 1.0], [2.0, -1.0]])
    w = np.array([0.3, 0.7])
    kernel = skh.GaussianKernel(0.5)
    K = kernel.gram(x, x)
    for zero in (0.0, np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2, 2))):
        p = skh.GaussianMixture(w, x, zero)
        np.testing.assert_allclose(kernel.mean_map(p, x), K @ w, rtol=1e-14)
        assert kernel.mean_norm2(p) == pytest.approx(w @ K @ w, rel=1e-14)
        assert skh.mmd(kernel, p, x, w) == pytest.approx(0, abs=3e-8)


def test_nearly_singular_covariances_and_tiny_variances_give_finite_values():
    rng = np.random.default_rng(0)
    kernel = skh.GaussianKernel(1e-10)
    for _ in range(50):
        v = rng.normal(size=(2, 3))
        S = 1e6 * np.einsum("ki,kj->kij", v, v)
        for covariances in (S[0], S):
            p = skh.GaussianMixture([1, 1], np.zeros((2, 3)), covariances)
            assert np.isfinite(kernel.mean_map(p, np.zeros((1, 3)))).all()
            assert 0 <= kernel.mean_norm2(p) <= 1
    tolerated = skh.GaussianMixture([1], [[0, 0]], np.diag([1e12, -50.0]))
    assert np.isfinite(skh.GaussianKernel(1e-3).mean_map(tolerated, [[0.0, 0.0]])).all()


def test_monte_carlo_has_the_expected_mmd():
    """E MMD^2 of n independent points is (1 - |mu|^2) / n (footnote in section 3.3)."""
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    kernel = skh.GaussianKernel(1.0)
    squares = []
    for seed in range(400):
        x, _ = p.sample(50, rng=seed)
        squares.append(skh.mmd(kernel, p, x, np.full(50, 0.02)) ** 2)
    expected = (1 - kernel.mean_norm2(p)) / 50
    assert np.mean(squares) == pytest.approx(expected, rel=0.05)  # ~3 standard errors


def test_metric_is_a_change_of_coordinates():
    rng = np.random.default_rng(3)
    p = oracles.random_mixture(4, 3, rng, "matrices")
    A = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    x = rng.normal(size=(6, 3))
    moved = skh.GaussianKernel(0.7, metric=A @ A.T)
    np.testing.assert_allclose(
        moved.mean_map(p.linear_map(A), x @ A.T), skh.GaussianKernel(0.7).mean_map(p, x), rtol=1e-10
    )


@pytest.mark.parametrize("d", [1, 2])
def test_a_mean_map_does_not_remember_where_it_was_asked_first(d):
    """On a line it is interpolated around the first points; others lie on both sides of the box."""
    p = oracles.random_mixture(100, d, np.random.default_rng(4), "one variance")
    kernel = skh.GaussianKernel((1.0, 10.0), metric=0.7 * np.eye(d))
    near, everywhere = (np.outer(np.linspace(-r, r, 50), np.ones(d)) for r in (0.1, 8.0))
    kernel.mean_map(p, near)
    fresh = skh.GaussianKernel((1.0, 10.0), metric=0.7 * np.eye(d))
    expected = fresh.mean_map(p, everywhere)
    np.testing.assert_allclose(kernel.mean_map(p, everywhere), expected, rtol=1e-9, atol=1e-13)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 8),
    variance=st.sampled_from([1e-4, 0.1, 1.0, 1e4, (0.01, 100.0)]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_mmd_is_finite_non_negative_and_at_most_root_two(seed, n, variance, scale):
    rng = np.random.default_rng(seed)
    p = skh.GaussianMixture(rng.random(3) + 0.1, scale * rng.normal(size=(3, 1)), rng.random(3))
    x = scale * rng.normal(size=(n, 1))
    assert 0 <= skh.mmd(skh.GaussianKernel(variance), p, x, rng.random(n) + 0.1) <= 2**0.5 + 1e-9


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("with_metric", [False, True])
def test_closed_forms_use_the_weights_of_the_scales(kind, with_metric):
    rng = np.random.default_rng(2)
    p = oracles.random_mixture(6, 3, rng, kind)
    B = rng.normal(size=(3, 3))
    metric = B @ B.T + np.eye(3) if with_metric else None
    variances, weights = (0.3, 1.0, 7.0), np.array([1.0, 2.0, 5.0])
    kernel = skh.GaussianKernel(variances, metric, weights)
    x, y, w = rng.normal(size=(5, 3)), 3 * rng.normal(size=(40, 3)), rng.dirichlet(np.ones(5))

    def weighted(f, *arguments):
        each = zip(weights / 8, variances, strict=True)
        return sum(a * f(v, *arguments, metric) for a, v in each)

    K, mu = weighted(oracles.gram, x, y), weighted(oracles.mean_map, p, y)
    norm2 = weighted(oracles.mean_norm2, p)
    np.testing.assert_allclose(kernel.gram(x, y), K, atol=1e-12)
    np.testing.assert_allclose(kernel.weighted_sum(x, w, y), w @ K, atol=1e-12)
    np.testing.assert_allclose(kernel.mean_map(p, y), mu, rtol=1e-11, atol=1e-13)
    assert kernel.mean_norm2(p) == pytest.approx(norm2, rel=1e-11)
    energy = w @ weighted(oracles.gram, x, x) @ w - 2 * w @ weighted(oracles.mean_map, p, x)
    assert Energy(kernel, p)(kernel.coordinates(x), w)[0] == pytest.approx(energy, abs=1e-12)
