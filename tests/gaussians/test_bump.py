"""Products of mixtures and bumps: against integration on a grid and the pointwise product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import oracles
import skh
from skh.gaussians.bump import Bump
from skh.gaussians.predictive import Predictive


def random_bump(d, rng, rank=None):
    B = rng.normal(size=(d, d if rank is None else rank))
    return Bump(float(rng.normal()), rng.normal(size=d), B @ B.T, rng.normal(size=d))


def density(p, x):
    pairs = zip(p.weights, p.means, p.covariance_matrices, strict=True)
    return sum(w * multivariate_normal.pdf(x, m, S, allow_singular=True) for w, m, S in pairs)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_the_product_is_the_pointwise_one(kind, rank):
    rng = np.random.default_rng(rank)
    p, bump = oracles.random_mixture(4, 3, rng, kind), random_bump(3, rng, rank)
    q, log_Z = p.times(bump)
    x = rng.normal(size=(20, 3))
    np.testing.assert_allclose(
        np.log(density(q, x)) + log_Z, np.log(density(p, x)) + bump.log(x), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_each_component_is_that_of_the_product_with_it_alone(kind):
    rng = np.random.default_rng(0)
    p, bump = oracles.random_mixture(4, 2, rng, kind), random_bump(2, rng)
    q, log_Z = p.times(bump)
    for k in range(4):
        alone = skh.GaussianMixture([1.0], p.means[[k]], p.covariance_matrices[[k]])
        one, log_one = alone.times(bump)
        np.testing.assert_allclose(q.means[k], one.means[0], rtol=1e-12)
        np.testing.assert_allclose(q.covariance_matrices[k], one.covariance, rtol=1e-12)
        np.testing.assert_allclose(np.log(q.weights[k]), np.log(p.weights[k]) + log_one - log_Z)


def test_the_integral_is_that_on_a_grid():
    p = skh.GaussianMixture([0.3, 0.7], [[0.0], [2.0]], [1.0, 0.25])
    bump = Bump(0.2, np.array([0.5]), np.array([[3.0]]), np.array([1.0]))
    x = np.linspace(-12.0, 12.0, 4001)[:, None]
    values = density(p, x) * np.exp(bump.log(x))
    q, log_Z = p.times(bump)
    assert log_Z == pytest.approx(np.log(values.sum() * 0.006), abs=1e-10)
    assert q.mean[0] == pytest.approx(values @ x[:, 0] / values.sum(), abs=1e-10)


def test_dirac_masses_and_singular_components_are_reweighted():
    S = np.stack([np.zeros((2, 2)), np.diag([1.0, 0.0])])
    p = skh.GaussianMixture([0.5, 0.5], [[1.0, 2.0], [0.0, 1.0]], S)
    bump = Bump(0.0, np.zeros(2), np.eye(2), np.zeros(2))
    q, log_Z = p.times(bump)
    masses = 0.5 * np.exp([-2.5, -0.5]) * [1.0, 0.5**0.5]
    assert log_Z == pytest.approx(np.log(masses.sum()))
    np.testing.assert_allclose(q.weights, masses / masses.sum())
    np.testing.assert_allclose(q.covariances, [np.zeros((2, 2)), np.diag([0.5, 0.0])], atol=1e-15)


@given(st.integers(-12, 12), st.integers(-12, 12), st.booleans())
def test_the_product_does_not_depend_on_units(i, j, singular):
    rng = np.random.default_rng(0)
    p, bump = oracles.random_mixture(5, 2, rng, "full"), random_bump(2, rng, 1 if singular else 2)
    unit = np.array([10.0**i, 10.0**j])
    S = p.covariances.copy()
    if singular:
        S[:2] = np.array([[1.0, 2.0], [2.0, 4.0]])
    scaled = skh.GaussianMixture(p.weights, p.means * unit, S * np.outer(unit, unit))
    H = bump.H / np.outer(unit, unit)
    q, log_Z = skh.GaussianMixture(p.weights, p.means, S).times(bump)
    r, log_R = scaled.times(Bump(bump.c, bump.b / unit, H, bump.m * unit))
    assert log_R == pytest.approx(log_Z, abs=1e-9)
    np.testing.assert_allclose(r.weights, q.weights, atol=1e-9)
    np.testing.assert_allclose(r.means / unit, q.means, atol=1e-9)
    np.testing.assert_allclose(r.covariances / np.outer(unit, unit), q.covariances, atol=1e-9)


def test_shared_covariances_stay_shared_and_metadata_is_kept():
    p = Predictive.of(skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [1.0, 1.0]], 2.0), 2)
    q, _ = p.times(Bump(0.0, np.ones(2), np.eye(2), np.zeros(2)))
    assert q.covariances.shape == (2, 2)
    assert isinstance(q, Predictive)
    assert q.components_per_particle == 2


def test_far_from_the_peak_nothing_overflows():
    p = skh.GaussianMixture([0.5, 0.5], [[1e5], [-1e5]], 1.0)
    q, log_Z = p.times(Bump(0.0, np.zeros(1), np.array([[1e8]]), np.array([1e5 + 1.0])))
    assert np.isfinite(log_Z)
    assert q.mean[0] == pytest.approx(1e5 + 1.0)


@pytest.mark.parametrize("bump", [None, Bump(0.0, np.zeros(2), np.eye(2), np.zeros(2))])
def test_another_bump_is_refused(bump):
    with pytest.raises(TypeError, match="bump must be a Bump in 1 dimensions"):
        skh.GaussianMixture([1.0], [[0.0]], 1.0).times(bump)


def test_a_bump_without_a_maximum_is_refused():
    with pytest.raises(ValueError, match="H must be positive semi-definite"):
        Bump(0.0, np.zeros(2), np.diag([1.0, -1.0]), np.zeros(2))


def test_numbers_of_a_bump_are_checked():
    zero, one = np.zeros(1), np.eye(1)
    with pytest.raises(ValueError, match="c must be a finite number, got nan"):
        Bump(float("nan"), zero, one, zero)
    with pytest.raises(ValueError, match="beta must be"):
        Bump(0.0, zero, one, zero).power(-3.0)


def test_a_bump_far_sharper_than_components_keeps_the_directions_it_does_not_see():
    """I + L'HL is then singular but for rounding; variances across the bump must not shrink."""
    p = skh.GaussianMixture([1.0], [[0.0, 0.0, 0.0]], np.eye(3) + 0.5)
    u = np.array([0.6, 0.8, 0.0])
    q, _ = p.times(Bump(0.0, np.zeros(3), 1e10 * np.outer(u, u), np.zeros(3)))
    across = np.array([0.8, -0.6, 0.0])
    gain = p.covariance @ u / (u @ p.covariance @ u)
    exact = p.covariance - np.outer(gain, u @ p.covariance)
    assert across @ q.covariance @ across == pytest.approx(across @ exact @ across, rel=1e-4)
    assert 0.0 <= u @ q.covariance @ u < 1e-8
