"""Regularized rules: what is smoothed, by how much, and what stays as it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import skh
from skh.gaussians.predictive import Predictive
from skh.rules.regularized import share_of_components

RULE = skh.Regularized(skh.Stratified())


def lumpy(K=50, d=6, seed=0, variance=1e-4):
    """Many narrow components of unequal weights and covariances."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    roots = rng.normal(size=(K, d, d)) * np.sqrt(variance / d)
    means = rng.normal(size=(K, d)) @ A
    return skh.GaussianMixture(rng.uniform(1.0, 2.0, K), means, roots @ roots.swapaxes(1, 2))


def inside(p):
    """Shares of the variance inside components, along the generalised eigenvectors."""
    W = np.einsum("k,kij->ij", p.weights, p.covariance_matrices)
    return np.sort(np.linalg.eigvals(np.linalg.solve(p.covariance, W)).real)


@pytest.mark.parametrize(("K", "d"), [(50, 6), (20, 3), (100, 4)])
def test_moments_are_kept_and_components_are_as_wide_as_the_spacing(K, d):
    p = lumpy(K, d)
    q = RULE.smoothing(p, K).q
    np.testing.assert_allclose(q.mean, p.mean, atol=1e-12)
    np.testing.assert_allclose(q.covariance, p.covariance, atol=1e-11)
    assert inside(p).max() < share_of_components(K, d)
    np.testing.assert_allclose(inside(q), share_of_components(K, d), rtol=1e-8)


def test_directions_with_wide_components_are_not_smoothed():
    p = lumpy(50, 4)
    S = p.covariance_matrices + np.diag([0.0, 0.0, 0.0, 100.0])
    p = skh.GaussianMixture(p.weights, p.means, S)
    q, rho = RULE.smoothing(p, 50).q, share_of_components(50, 4)
    np.testing.assert_allclose(inside(q), np.maximum(inside(p), rho), rtol=1e-8)
    np.testing.assert_allclose(q.covariance, p.covariance, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("d", [1, 2])
def test_where_nothing_is_lumpy_points_are_those_of_the_rule(d, kind):
    p = oracles.random_mixture(6, d, np.random.default_rng(d), kind)
    points, plain = (rule(p, 400, rng=1) for rule in (RULE, skh.Stratified()))
    np.testing.assert_array_equal(points.x, plain.x)
    np.testing.assert_array_equal(points.component, plain.component)
    assert points.shift is None


def test_units_do_not_matter():
    p, unit = lumpy(), 10.0 ** np.array([-12, 12, 0, 6, -6, 3])
    scaled = skh.GaussianMixture(
        p.weights, p.means * unit, p.covariance_matrices * np.multiply.outer(unit, unit)
    )
    q, r = RULE.smoothing(p, 50).q, RULE.smoothing(scaled, 50).q
    np.testing.assert_allclose(r.means / unit, q.means, rtol=1e-7, atol=1e-9)
    S = r.covariance_matrices / np.multiply.outer(unit, unit)
    np.testing.assert_allclose(S, q.covariance_matrices, rtol=1e-7, atol=1e-9)


def test_directions_without_variance_are_not_smoothed():
    """A mode number, a sum that is known exactly, and a constant beside lumpy coordinates."""
    p, rng = lumpy(50, 4), np.random.default_rng(1)
    A = np.zeros((7, 4))
    A[:4], A[4, 0], A[4, 1] = np.eye(4), 1.0, 2.0  # x_4 = x_0 + 2 x_1 + a parameter
    means = p.means @ A.T
    parameter, mode = rng.normal(size=50), rng.integers(3, size=50)
    means[:, 4] += parameter
    means[:, 5], means[:, 6] = mode, 0.7
    r = skh.GaussianMixture(p.weights, means, A @ p.covariance_matrices @ A.T)
    points = RULE(r, 200, rng=0)
    assert points.shift is not None
    i = points.component
    np.testing.assert_array_equal(points.x[:, 5], mode[i])
    np.testing.assert_array_equal(points.x[:, 6], 0.7)
    left = points.x[:, 4] - points.x[:, 0] - 2.0 * points.x[:, 1]
    np.testing.assert_allclose(left, parameter[i], atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.floats(1.5, 12.0),
    st.sampled_from([20, 50, 200]),
    st.floats(0.25, 0.75),
)
def test_modes_that_are_far_apart_never_merge(seed, d, decades, n, share):
    rng = np.random.default_rng(seed)
    modes = [rng.normal(size=(15, d)) for _ in range(2)]
    offset = rng.normal(size=d)
    offset *= 10.0**decades / np.linalg.norm(offset)
    w = np.repeat([share / 15, (1.0 - share) / 15], 15)
    p = skh.GaussianMixture(w, np.concatenate([modes[0], modes[1] + offset]), 1e-3)
    smoothing = RULE.smoothing(p, n)
    q = p if smoothing is None else smoothing.q
    for rows in (slice(0, 15), slice(15, 30)):
        a, b = (law.selected(np.arange(30)[rows]) for law in (p, q))
        size = np.abs(p.means[rows]).max()
        np.testing.assert_allclose(b.mean, a.mean, atol=1e-9 + 1e-14 * size)
        np.testing.assert_allclose(np.trace(b.covariance), np.trace(a.covariance), rtol=0.05)


def test_a_light_far_mode_does_not_widen_the_main_one():
    means = np.random.default_rng(0).normal(size=(50, 6))
    means[:3] += 1e6
    p = skh.GaussianMixture(np.full(50, 0.02), means, 1e-3)
    q = RULE.smoothing(p, 50).q.selected(np.arange(3, 50))
    np.testing.assert_allclose(q.covariance, p.selected(np.arange(3, 50)).covariance, atol=1e-9)


@pytest.mark.parametrize("far", [0.0, 100.0], ids=["one part", "two parts"])
def test_shift_is_the_posterior_of_the_displacement(far):
    """Against the conditional law of the displacement given the point, from a joint covariance."""
    p = lumpy(40, 3)
    p = skh.GaussianMixture(p.weights, p.means + far * (np.arange(40) < 20)[:, None], p.covariances)
    smoothing, points = RULE.smoothing(p, 30), RULE(p, 30, rng=0)
    H = np.broadcast_to(smoothing.kernel, (40, 3, 3))
    assert (smoothing.part is None) == (far == 0.0)
    found = zip(points.x, points.component, points.shift.mean, points.shift.root, strict=True)
    for x, i, shift, L in found:
        gain = H[i] @ np.linalg.inv(H[i] + p.covariance_matrices[i])
        m = smoothing.q.means[i]
        np.testing.assert_allclose(shift, m - p.means[i] + gain @ (x - m), atol=1e-8)
        np.testing.assert_allclose(L @ L.T, H[i] - gain @ H[i], atol=1e-8)
    added = smoothing.q.covariance_matrices - p.covariance_matrices
    np.testing.assert_allclose(added, H, atol=1e-12)


def test_a_mixture_that_must_not_be_smoothed_is_left_alone():
    p = lumpy()
    assert RULE.smoothing(Predictive.of(p), 50) is not None
    fixed = Predictive.of(p, smoothable=False)
    assert RULE.smoothing(fixed, 50) is None
    assert RULE.smoothing(fixed.with_information(np.eye(6)).selected(np.arange(40)), 50) is None
    np.testing.assert_array_equal(RULE(fixed, 20, rng=0).x, skh.Stratified()(p, 20, rng=0).x)


@pytest.mark.parametrize(
    "p",
    [
        skh.GaussianMixture([1.0], [[1.0, 2.0]], 0.0),
        skh.GaussianMixture([0.5, 0.5], [[1.0, 2.0], [3.0, 2.0]], 0.0),
        skh.GaussianMixture([1.0], [[1.0, 2.0]], np.diag([1.0, 0.0])),
        skh.GaussianMixture([0.0, 1.0], [[1.0, 2.0], [1e9, 0.0]], 1.0),
    ],
    ids=["known", "two points", "singular", "weight zero"],
)
def test_degenerate_mixtures_are_not_smoothed(p):
    assert RULE.smoothing(p, 20) is None


@pytest.mark.parametrize("inner", [skh.Smoothed(skh.Stratified()), RULE, skh.Matched(RULE)])
def test_smoothing_twice_is_refused(inner):
    for around in (skh.Smoothed, skh.Regularized):
        with pytest.raises(ValueError, match="rule must not smooth as well, got "):
            around(inner)
