"""Blocks of neighbours: a search that skips blocks out of reach finds the same points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_vertex_search import assert_the_same

import oracles
import skh
from skh.frank_wolfe.point_blocks import LARGE_BLOCK, SMALL_BLOCK, Blocks
from skh.frank_wolfe.search_mean_map import SearchMeanMap
from skh.frank_wolfe.single_precision_search import SingleCombine
from skh.frank_wolfe.vertex_search import FullCombine, Target
from skh.gaussians.hilbert_curve import coarse_hilbert_order
from skh.kernels.simplex_qp import SimplexQP

STEPS = {
    "FCFW": skh.FullyCorrective(),
    "protected FCFW": skh.FullyCorrective(ridge=1e-3),
    "pairwise": skh.Pairwise(),
}


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_coarse_curve_goes_through_all_points_from_neighbour_to_neighbour(d):
    X = np.random.default_rng(d).uniform(-5, 5, (d, 3000))
    order = coarse_hilbert_order(X)
    assert sorted(order) == list(range(3000))
    length, at_random = (np.abs(np.diff(Y)).sum() for Y in (X[:, order], X))
    assert length < 0.15 * at_random


@pytest.mark.parametrize("d", [1, 2, 3])
def test_coincident_points_keep_their_order(d):
    places = np.random.default_rng(d).normal(size=(d, 20))
    which = np.arange(1000) % 20
    order = coarse_hilbert_order(places[:, which])
    for i in range(20):
        assert (np.diff(order[which[order] == i]) > 0).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_boxes_hold_the_points_of_their_blocks_and_are_small(d):
    X = np.random.default_rng(d).uniform(0, 10, (d, 20_000)).astype(np.float32)
    blocks = Blocks.of(X, 1.0)
    assert blocks.size == SMALL_BLOCK
    np.testing.assert_array_equal(blocks.X, X[:, blocks.order])
    b = np.arange(20_000) // SMALL_BLOCK
    assert ((blocks.low[:, b] <= blocks.X) & (blocks.high[:, b] >= blocks.X)).all()
    assert np.median(blocks.high - blocks.low) < 5


@pytest.mark.parametrize(("d", "reach"), [(2, 6.0), (4, 1.0)])
def test_points_are_not_sorted_if_all_are_within_reach(d, reach):
    X = np.random.default_rng(d).uniform(0, 10, (d, 2000)).astype(np.float32)
    blocks = Blocks.of(X, reach)
    assert blocks.size == LARGE_BLOCK
    np.testing.assert_array_equal(blocks.order, np.arange(2000))


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("variance", [1.0, 0.1, (0.1, 2.0)], ids=str)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_equal_to_the_full_search_on_a_wide_mixture(step, variance, d):
    p = oracles.random_mixture(60, d, np.random.default_rng(d)).linear_map(3.0 * np.eye(d))
    assert_the_same(skh.FWQuad(skh.GaussianKernel(variance), step, 5000), p, 60)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_equal_where_search_points_coincide_far_apart(step):
    means = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0], [9.0, 9.0]]
    p = skh.GaussianMixture([1.0] * 5, means, [0.0, 0.0, 0.0, 1.0, 0.0])
    assert_the_same(skh.FWQuad(skh.GaussianKernel(1.0), step, 3000), p, 30)


def wide_problem(seed, M=3000):
    """Points on both sides of the origin, each four times, with equal mean maps."""
    rng = np.random.default_rng(seed)
    half = rng.uniform(2, 9, M // 8)
    x = rng.permutation(np.concatenate([half, -half] * 4))
    mu = np.exp(-np.abs(np.abs(x) - 8.0))
    return Target(x[None], SearchMeanMap(mu), 1.0, np.array([[0.5], [1.0]]))


def searches(target):
    """The full and the quantized search, each with all weight on a point near the origin."""
    middle = np.array([np.argmin(np.abs(target.X[0]))])
    for make in (FullCombine, lambda t, n: SingleCombine(t, t.single, n)):
        search, qp = make(target, 1), SimplexQP(1)
        qp.add(search.add(middle), 0.0)
        yield search, lambda search=search, qp=qp: search(qp, 1.0)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_ties_go_to_the_first_search_point_in_the_original_order(seed):
    (_, full), (search, single) = searches(wide_problem(seed))
    assert full() == single()
    assert (np.diff(search._order) < 0).any()


def test_a_hidden_point_is_not_found_again():
    target = wide_problem(0)
    (full, look), (single, look_roughly) = searches(target)
    for _ in range(20):
        vertex, _ = look()
        assert look_roughly()[0] == vertex
        full.hide(vertex)
        single.hide(vertex)
    assert np.count_nonzero(full._mu != target.mu) == 20
    np.testing.assert_array_equal(target.mu, wide_problem(0).mu)  # a target is never written to


def test_rows_are_kept_only_in_blocks_within_reach():
    p = oracles.random_mixture(100, 2, np.random.default_rng(0))
    for variance, least, most in ((1.0, 0.3, 0.7), (0.1, 0.05, 0.4), (100.0, 1.0, 1.0)):
        target = Target.of(skh.GaussianKernel(variance), p, p.sample(10_000, rng=0)[0])
        search = SingleCombine(target, target.single, 50)
        chosen = np.arange(50)
        for k in range(50):
            search.add(chosen[: k + 1])
        levels, _, filled = search._to_add[:3]
        assert least <= filled.sum() / (levels.shape[0] * 50) <= most


def test_most_blocks_cannot_hold_the_lowest_score():
    p = oracles.random_mixture(100, 2, np.random.default_rng(0))
    target = Target.of(skh.GaussianKernel(1.0), p, p.sample(10_000, rng=0)[0])
    iterate = skh.FullyCorrective().start(target, 60)
    iterate.run(60)
    lows = iterate.search._to_search[1]
    assert np.isfinite(lows).sum() < 0.5 * lows.size
