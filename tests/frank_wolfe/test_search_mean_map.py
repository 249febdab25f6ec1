"""The mean map at search points: in part to the bit, everywhere up to a known error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import skh
from skh.frank_wolfe import search_mean_map
from skh.frank_wolfe.search_mean_map import SearchMeanMap
from skh.frank_wolfe.vertex_search import Target

LAZY_KINDS = ("one variance", "variances", "one matrix")


@pytest.fixture(autouse=True)
def _lazy(monkeypatch):
    monkeypatch.setattr(search_mean_map, "MIN_LAZY_POINTS", 1)


def problem(seed, d, kind, variance=1.0, M=300, K=7):
    rng = np.random.default_rng(seed)
    p, kernel = oracles.random_mixture(K, d, rng, kind), skh.GaussianKernel(variance)
    X = kernel.coordinates_of(p.sample(M, rng=rng)[0])
    return kernel.mean_map_at(p, X), SearchMeanMap.of(kernel, p, X)


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 7),
    K=st.integers(1, 40),
    kind=st.sampled_from(LAZY_KINDS),
    variance=st.sampled_from([1.0, 0.01, 30.0]),
)
@settings(max_examples=60, deadline=None)
def test_values_one_by_one_have_the_bits_of_all_at_once(seed, d, K, kind, variance):
    everywhere, lazy = problem(seed, d, kind, variance, K=K)
    assert not lazy.is_known
    np.testing.assert_array_equal([lazy.at(j) for j in range(300)], everywhere)
    assert not lazy.is_known
    np.testing.assert_array_equal(lazy.everywhere(), everywhere)


def test_values_one_by_one_for_an_average_of_kernels():
    everywhere, lazy = problem(0, 2, "variances", (0.3, 1.0, 10.0))
    np.testing.assert_array_equal([lazy.at(j) for j in range(300)], everywhere)


@pytest.mark.parametrize(("kind", "variance"), [("matrices", 1.0), ("one matrix", (0.5, 2.0))])
def test_where_whitening_differs_all_values_are_known_at_once(kind, variance):
    everywhere, known = problem(0, 2, kind, variance)
    assert known.is_known
    np.testing.assert_array_equal(known.everywhere(), everywhere)


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 7),
    kind=st.sampled_from(LAZY_KINDS),
    variance=st.sampled_from([1.0, 0.01, 30.0]),
    far=st.sampled_from([0.0, 1e2, 1e5, 1e30]),
)
@settings(max_examples=60, deadline=None)
def test_single_precision_is_within_its_error_bound(seed, d, kind, variance, far):
    rng = np.random.default_rng(seed)
    p, kernel = oracles.random_mixture(30, d, rng, kind), skh.GaussianKernel(variance)
    X = kernel.coordinates_of(p.sample(200, rng=rng)[0])
    means = p.means.copy()
    means[0] += far  # a component that no search point is near
    lazy = SearchMeanMap.of(kernel, skh.GaussianMixture(p.weights, means, p.covariances), X)
    rough, error = lazy.in_single_precision()
    exact = lazy.everywhere()
    assert np.abs(rough - exact).max() <= error
    assert lazy.highest(rough, error) == np.argmax(exact)


def test_the_first_of_equal_maxima_is_found_and_few_values_are_computed():
    p, kernel = skh.GaussianMixture([1.0], [[0.0]], 1.0), skh.GaussianKernel(1.0)
    x = np.append(np.linspace(-3.0, -1.0, 5_000), [0.1, -0.1, 0.1])[:, None]
    target = Target.of(kernel, p, x)
    assert target.first == 5_000
    assert np.isfinite(target.mean_map.partial.values).sum() == 3


def test_herding_asks_for_few_values():
    p = oracles.random_mixture(100, 2, np.random.default_rng(0))
    target = Target.of(skh.GaussianKernel(1.0), p, p.sample(10_000, rng=0)[0])
    skh.Herding().start(target, 100).run(100)
    assert np.isfinite(target.mean_map.partial.values).sum() < 500
