"""Pairwise and blended pairwise steps reach the optimum of the quadratic programme."""

import numpy as np
import pytest

import oracles
import skh

KERNEL = skh.GaussianKernel(1.0)
PAIRWISE = {"pairwise": skh.Pairwise(), "blended": skh.BlendedPairwise()}
both = pytest.mark.parametrize("step", PAIRWISE.values(), ids=PAIRWISE)


@both
def test_reaches_the_optimum_over_all_search_points(step):
    p = oracles.random_mixture(8, 2, np.random.default_rng(0))
    candidates = skh.MonteCarlo()(p, 40, rng=1).x
    K, mu = KERNEL.gram(candidates, candidates), KERNEL.mean_map(p, candidates)
    best = skh.mmd(KERNEL, p, candidates, skh.solve_simplex_qp(K, mu))
    found = skh.FWQuad(KERNEL, step, 40)(p, 2_000, rng=1)
    assert best <= found.mmd * (1 + 1e-9)
    assert found.mmd == pytest.approx(best, rel=1e-6)


@both
def test_mmd_is_exact_and_never_rises(step):
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    points = skh.FWQuad(KERNEL, step, 1_000)(p, 60, rng=2)
    assert (np.diff(points.mmd_trace) <= 1e-12).all()
    assert points.mmd == pytest.approx(skh.mmd(KERNEL, p, points.x, points.w), abs=1e-12)


def test_blended_steps_come_close_to_fully_corrective_ones():
    rng = np.random.default_rng(5)
    p = [oracles.random_mixture(100, 2, rng) for _ in range(3)]
    distance = {
        step: np.median([skh.FWQuad(KERNEL, step)(q, 100, rng=1).mmd for q in p])
        for step in (skh.Herding(), skh.BlendedPairwise(), skh.FullyCorrective())
    }
    assert distance[skh.BlendedPairwise()] < 1.2 * distance[skh.FullyCorrective()]
    assert distance[skh.BlendedPairwise()] < 0.7 * distance[skh.Herding()]
