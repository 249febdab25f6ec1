"""Protected weights: the floor under the effective sample size holds, and costs little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import skh
from skh.kernels.quadrature_weights import (
    effective_sample_size,
    mix_with_equal_weights,
    protected_weights,
    resolution,
)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 30), floor=st.floats(0.0, 1.0))
def test_the_floor_holds_and_all_weights_are_positive(seed, n, floor):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    K = oracles.gram(5.0, x, x)
    w = protected_weights(K, rng.random(n), 1e-6, floor)
    assert w.sum() == pytest.approx(1, abs=1e-12)
    assert w.min() > 0
    assert effective_sample_size(w) >= floor * n * (1 - 1e-9)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 30), floor=st.floats(0.05, 1.0))
def test_mixing_with_equal_weights_stops_at_the_floor(seed, n, floor):
    w = np.random.default_rng(seed).dirichlet(np.full(n, 0.2))
    even = mix_with_equal_weights(w, floor, least=0.0)
    if effective_sample_size(w) >= floor * n:
        np.testing.assert_array_equal(even, w)
    else:
        assert effective_sample_size(even) == pytest.approx(floor * n, rel=1e-6)


def test_weights_above_the_floor_are_those_of_the_quadratic_programme():
    x = np.array([[0.0], [3.0], [6.0]])
    K = oracles.gram(1.0, x, x)
    c = np.array([0.4, 0.3, 0.3])
    np.testing.assert_allclose(
        protected_weights(K, c, 0.0, 0.5), skh.solve_simplex_qp(K, c), atol=1e-12
    )


def test_protected_steps_return_all_points_with_a_floor_at_little_loss():
    """A wide kernel, with which the unprotected step drops most points."""
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    kernel = skh.GaussianKernel(20.0)
    plain = skh.FWQuad(kernel, skh.FullyCorrective(), 2_000)(p, 60, rng=1)
    step = skh.FullyCorrective(ridge=1e-4, min_ess=0.5)
    kept = skh.FWQuad(kernel, step, 2_000)(p, 60, rng=1)
    assert len(plain) < 60
    assert len(kept) == len(np.unique(kept.x, axis=0)) == 60
    assert effective_sample_size(kept.w) >= 30 - 1e-9
    assert kept.mmd == pytest.approx(skh.mmd(kernel, p, kept.x, kept.w), abs=1e-8)
    assert kept.mmd < 0.1 * skh.FWQuad(kernel, search_points=2_000)(p, 60, rng=1).mmd


def test_protection_needs_as_many_search_points_as_particles():
    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    rule = skh.FWQuad(skh.GaussianKernel(1.0), skh.FullyCorrective(ridge=1e-3), 10)
    with pytest.raises(ValueError, match="search_points must be at least n = 11, got 10"):
        rule(p, 11, rng=0)


@pytest.mark.parametrize(("ridge", "used"), [(0.05, 0.05), (None, resolution(20, 2))])
def test_protected_weights_are_optimal_with_their_ridge(ridge, used):
    step = skh.FullyCorrective(ridge=ridge, min_ess=0.1)
    rule = skh.FWQuad(skh.GaussianKernel(1.0), step, 300)
    p = oracles.random_mixture(8, 2, np.random.default_rng(0))
    points = rule(p, 20, rng=1)
    K, mu = oracles.gram(1.0, points.x, points.x), oracles.mean_map(1.0, p, points.x)
    assert oracles.kkt_residual(K + used * np.eye(20), mu, points.w) < 1e-10
