"""Invariance of rules to the representation, position and axes of a mixture."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import skh
from skh.gaussians.predictive import Predictive
from skh.kernels.adaptive import adaptive_kernel
from skh.rules.matched import match_moments

KERNEL = skh.GaussianKernel(1.0)
SAME_LAW = {
    "MonteCarlo": skh.MonteCarlo(),
    "Stratified": skh.Stratified(),
    "Systematic": skh.Systematic(),
    "Sobol": skh.QuasiMonteCarlo("storage"),
    "Hilbert": skh.QuasiMonteCarlo("hilbert"),
    "FW": skh.FWQuad(KERNEL, search_points=100),
    "FCFW": skh.FWQuad(KERNEL, skh.FullyCorrective(ridge=1e-3), 100),
    "refined": skh.Refined(skh.Stratified(), KERNEL, skh.Refine(5)),
    "matched": skh.Matched(skh.Stratified()),
}
any_mixture = given(
    seed=st.integers(0, 10**6),
    K=st.integers(1, 6),
    d=st.integers(1, 3),
    kind=st.sampled_from(oracles.KINDS),
)


def rebuilt(p, rows, factor=1.0, offset=0.0):
    """Components ``rows`` of p with weights scaled and means shifted."""
    S = p.covariances
    return skh.GaussianMixture(
        factor * p.weights[rows], p.means[rows] + offset, S[rows] if S.ndim in (1, 3) else S
    )


@any_mixture
@settings(max_examples=15)
@pytest.mark.parametrize("name", SAME_LAW)
def test_splitting_components_in_half_does_not_change_the_points(name, seed, K, d, kind):
    p = oracles.random_mixture(K, d, np.random.default_rng(seed), kind)
    halves = rebuilt(p, np.repeat(np.arange(K), 2), 7.0)
    a, b = (SAME_LAW[name](q, 12, rng=seed) for q in (p, halves))
    np.testing.assert_allclose(b.x, a.x, rtol=0, atol=1e-9)
    np.testing.assert_allclose(b.w, a.w, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(b.component // 2, a.component)


@any_mixture
@settings(max_examples=15)
@pytest.mark.parametrize("name", SAME_LAW)
def test_points_move_with_the_mixture(name, seed, K, d, kind):
    rng = np.random.default_rng(seed)
    p = oracles.random_mixture(K, d, rng, kind)
    offset = rng.normal(size=d)
    a, b = (SAME_LAW[name](q, 12, rng=seed) for q in (p, rebuilt(p, np.arange(K), 1.0, offset)))
    np.testing.assert_allclose(b.x, a.x + offset, rtol=0, atol=1e-9)
    np.testing.assert_allclose(b.w, a.w, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(b.component, a.component)


@any_mixture
def test_closed_forms_and_hilbert_order_do_not_depend_on_storage_order(seed, K, d, kind):
    rng = np.random.default_rng(seed)
    p, order = oracles.random_mixture(K, d, rng, kind), rng.permutation(K)
    q, x, kernel = rebuilt(p, order), rng.normal(size=(5, d)), skh.GaussianKernel((0.3, 2.0))
    np.testing.assert_allclose(kernel.mean_map(q, x), kernel.mean_map(p, x), atol=1e-14)
    assert kernel.mean_norm2(q) == pytest.approx(kernel.mean_norm2(p), abs=1e-14)
    a, b = (skh.QuasiMonteCarlo("hilbert")(r, 16, rng=seed) for r in (p, q))
    np.testing.assert_array_equal(b.x, a.x)
    np.testing.assert_array_equal(order[b.component], a.component)


@any_mixture
def test_mmd_is_invariant_to_rotation_and_translation(seed, K, d, kind):
    """The MMD is invariant to motions; Matched and the metric are equivariant to linear maps."""
    rng = np.random.default_rng(seed)
    p = oracles.random_mixture(K, d, rng, kind)
    x, w, offset = rng.normal(size=(9, d)), rng.random(9), rng.normal(size=d)
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    turned = rebuilt(p, np.arange(K), 1.0, offset).linear_map(Q)
    kernel = skh.GaussianKernel((0.3, 2.0))
    exact = skh.mmd(kernel, p, x, w)
    assert skh.mmd(kernel, turned, (x + offset) @ Q.T, 5 * w) == pytest.approx(exact, abs=1e-7)
    A = Q @ np.diag(rng.uniform(0.5, 2, d))
    q, w = p.linear_map(A), w / w.sum()
    points, mapped = (skh.WeightedPoints(z, w, np.zeros(9, int)) for z in (x, x @ A.T))
    np.testing.assert_allclose(match_moments(q, mapped), match_moments(p, points) @ A.T, atol=1e-6)
    B = rng.normal(size=(d, d))
    F, back = B @ B.T, np.linalg.inv(A)
    metrics = (
        np.array(adaptive_kernel(Predictive.of(r, information=G), 50).metric)
        for r, G in ((p, F), (q, back.T @ F @ back))
    )
    plain, mapped = metrics
    np.testing.assert_allclose(mapped, A @ plain @ A.T, rtol=1e-6, atol=1e-6)
