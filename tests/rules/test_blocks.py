"""Many points are placed in blocks, each for its share of the mixture."""

from __future__ import annotations

import numpy as np
import pytest

import skh
from skh.kernels.adaptive import adaptive_kernel
from skh.rules.blocks import POINTS_PER_BLOCK, cut, place_in_blocks
from skh.rules.energy import MAX_AT_ONCE


def mixture(K: int = 40, d: int = 2) -> skh.GaussianMixture:
    rng = np.random.default_rng(5)
    return skh.GaussianMixture(rng.random(K), rng.uniform(-3.0, 3.0, (K, d)), rng.random(K) + 0.1)


def test_blocks_share_out_all_mass_along_the_curve() -> None:
    p, found = mixture(), np.zeros(40)
    visited: list[int] = []
    for index, mass in cut(p, np.array([0.0, 0.2, 0.5, 1.0])):
        np.add.at(found, index, mass)
        visited += index.tolist()
    np.testing.assert_allclose(found, p.weights, atol=1e-14)
    places = np.argsort(p.curve)[visited]
    assert (np.diff(places) >= 0).all()
    assert len(visited) == 40 + 2  # two components were cut in two


def test_a_component_without_weight_is_in_no_block() -> None:
    p = skh.GaussianMixture([0.5, 0.0, 0.5], [[0.0], [1.0], [2.0]], 1.0)
    assert [index.tolist() for index, _ in cut(p, np.array([0.0, 0.5, 1.0]))] == [[0], [2]]


def test_each_block_gets_its_points_and_mass() -> None:
    sizes = []

    def rule(q: skh.GaussianMixture, n: int, *, rng: object = None) -> skh.WeightedPoints:
        sizes.append(n)
        return skh.Stratified()(q, n, rng=rng)

    p, n = mixture(), 2 * POINTS_PER_BLOCK + 33
    points = place_in_blocks(rule, p, n, np.random.default_rng(0))
    assert sum(sizes) == len(points) == n
    assert max(sizes) <= POINTS_PER_BLOCK
    assert points.w.sum() == pytest.approx(1.0)
    mass = np.bincount(points.component, points.w, minlength=len(p))
    assert np.abs(mass - p.weights).max() < 2.0 / n
    half = points.x[: n // 2].mean(axis=0)  # points of all blocks are taken in turn
    assert np.abs(half - p.mean).max() < 0.5


def mean_mmd(rule: skh.Rule, p: skh.GaussianMixture, n: int, seeds: int) -> float:
    """Geometric mean over seeds: in one dimension single MMDs vary by half."""
    return float(np.exp(np.mean([np.log(rule(p, n, rng=seed).mmd) for seed in range(seeds)])))


@pytest.mark.parametrize(("d", "seeds"), [(1, 8), (2, 2), (3, 2)])
def test_blocks_lose_little_of_the_accuracy(d: int, seeds: int) -> None:
    p, rule, n = mixture(60, d), skh.default_rule(), MAX_AT_ONCE + 40
    kernel = adaptive_kernel(p, n)
    together = skh.FWQuad(kernel, rule.step, rule.search_points_for(n), refine=rule.refine)
    blocks = mean_mmd(rule, p, n, seeds)
    assert blocks < 1.2 * mean_mmd(together, p, n, seeds)
    unsought = skh.Refined(refine=skh.Refine(16))
    assert blocks < mean_mmd(unsought, p, n, seeds)


def test_the_mmd_of_blocks_is_that_of_all_points() -> None:
    p, n = mixture(60), MAX_AT_ONCE + 40
    points = skh.default_rule()(p, n, rng=0)
    exact = skh.mmd(adaptive_kernel(p, n), p, points.x, points.w)
    assert len(points) == n
    assert points.mmd == pytest.approx(exact, rel=1e-3)


def test_accuracy_does_not_jump_where_blocks_begin() -> None:
    p, rule = mixture(60), skh.default_rule()
    before, after = (rule(p, n, rng=0).mmd for n in (MAX_AT_ONCE, MAX_AT_ONCE + 1))
    assert after < 1.15 * before
