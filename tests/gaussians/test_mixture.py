"""Moments and draws of a mixture, for all forms of covariances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import oracles
import skh
from skh.gaussians.linear_algebra import check_and_factorize


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_moments_equal_those_of_the_components(kind):
    p = oracles.random_mixture(4, 3, np.random.default_rng(0), kind)
    mean = sum(w * m for w, m in zip(p.weights, p.means, strict=True))
    second = sum(
        w * (S + np.outer(m, m))
        for w, m, S in zip(p.weights, p.means, p.covariance_matrices, strict=True)
    )
    np.testing.assert_allclose(p.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(p.covariance, second - np.outer(mean, mean), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 6, 9])
def test_factors_of_a_stack_are_those_of_numpy(d):
    B = np.random.default_rng(d).normal(size=(20, d, d))
    S = B @ B.swapaxes(1, 2) + 0.1 * np.eye(d)
    S = (S + S.swapaxes(1, 2)) / 2
    before = S.copy()
    kept, L = check_and_factorize("S", S)
    np.testing.assert_array_equal(kept, before)
    np.testing.assert_allclose(L, np.linalg.cholesky(before), rtol=1e-12, atol=1e-13)


def test_a_singular_matrix_in_a_stack_is_accepted():
    S = np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0]), np.zeros((3, 3))])
    kept, L = check_and_factorize("S", S)
    np.testing.assert_allclose(kept, S, atol=1e-15)
    np.testing.assert_allclose(L @ L.swapaxes(1, 2), S, atol=1e-15)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_draws_of_a_component_have_its_moments(kind):
    p = oracles.random_mixture(3, 2, np.random.default_rng(1), kind)
    x, component = p.sample(200_000, rng=2)
    np.testing.assert_allclose(np.bincount(component) / len(x), p.weights, atol=0.005)
    for k in range(3):
        np.testing.assert_allclose(x[component == k].mean(0), p.means[k], atol=0.05)
        np.testing.assert_allclose(np.cov(x[component == k].T), p.covariance_matrices[k], atol=0.1)


@pytest.mark.parametrize(
    "singular",
    [0.0, [0.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], [np.zeros((2, 2)), [[1.0, 1.0], [1.0, 1.0]]]],
)
def test_singular_covariances_are_allowed(singular):
    p = skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [5.0, 1.0]], singular)
    x, component = p.sample(10_000, rng=0)
    e = x - p.means[component]
    for k in range(2):
        np.testing.assert_allclose(np.cov(e[component == k].T), p.covariance_matrices[k], atol=0.1)
    if np.ndim(singular) >= 2:  # all mass on the diagonal, or none
        np.testing.assert_allclose(e[:, 0], e[:, 1], atol=1e-7)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_linear_map_transforms_the_moments(kind):
    rng = np.random.default_rng(3)
    p = oracles.random_mixture(4, 3, rng, kind)
    A = rng.normal(size=(2, 3))
    q = p.linear_map(A)
    np.testing.assert_allclose(q.mean, A @ p.mean, rtol=1e-12)
    np.testing.assert_allclose(q.covariance, A @ p.covariance @ A.T, rtol=1e-11)


@given(
    weights=st.lists(st.sampled_from([0.0, 1e-300, 1e-12, 0.3, 1.0, 7.0]), min_size=1, max_size=9),
    u=st.floats(0, 1, exclude_max=True),
)
def test_inverse_transform_never_chooses_a_component_without_weight(weights, u):
    if sum(weights) == 0:
        weights[0] = 1.0
    p = skh.GaussianMixture(weights, np.zeros((len(weights), 1)), 1.0)
    assert p.weights[p.choose(np.array([u]))[0]] > 0


def test_length_and_dimension():
    p = skh.GaussianMixture([1.0, 1.0], np.zeros((2, 3)), 1.0)
    assert (len(p), p.d) == (2, 3)


@pytest.mark.parametrize("covariances", [1.0, [1.0, 2.0], np.eye(2), [np.eye(2)] * 2])
def test_place_accepts_any_real_type_and_rejects_unknown_components(covariances):
    p = skh.GaussianMixture([0.5, 0.5], [[0.5, 0.25], [1.5, 0.75]], covariances)
    whole = p.place(np.array([0, 1]), np.zeros((2, 2), dtype=int))
    np.testing.assert_array_equal(whole, p.means)
    assert p.place(np.array([0]), np.zeros((1, 2), np.float32)).dtype == np.float64
    with pytest.raises(ValueError, match=r"component must hold numbers in 0..1, got \[0 7\]"):
        p.place(np.array([0, 7]), np.zeros((2, 2)))


@pytest.mark.parametrize("kind", [1e-12, [1e-12, 2e-12], 1e-12 * np.eye(60)])
def test_log_densities_of_many_narrow_dimensions_are_finite(kind):
    p = skh.GaussianMixture([0.3, 0.7], [[0.0] * 60, [1.0] * 60], kind)
    log_densities = p.log_densities(p.means)
    assert np.isfinite(log_densities).all()
    assert (log_densities.argmax(axis=1) == [0, 1]).all()


def test_a_linear_map_must_be_finite_and_fit():
    p = skh.GaussianMixture([1.0], [[0.0, 0.0]], 1.0)
    with pytest.raises(ValueError, match="A must be finite, got nan"):
        p.linear_map(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match=r"A must have shape \(m, 2\), got \(2, 3\)"):
        p.linear_map(np.ones((2, 3)))


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_log_densities_are_those_of_scipy(kind):
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(4, 3, rng, kind)
    x = p.sample(5, rng=rng)[0]
    parts = zip(p.weights, p.means, p.covariance_matrices, strict=True)
    expected = [np.log(w) + multivariate_normal(m, S).logpdf(x) for w, m, S in parts]
    np.testing.assert_allclose(p.log_densities(x), np.transpose(expected), rtol=1e-11)
