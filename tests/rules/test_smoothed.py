"""Smoothed rules: bandwidth, shifts, ancestors, and their effect in a filter."""

from dataclasses import replace

import numpy as np
import pytest

import oracles
import skh
from skh.rules.smoothed import squared_bandwidth


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_shrinking_keeps_mean_and_covariance(share, kind):
    p = oracles.random_mixture(6, 3, np.random.default_rng(0), kind)
    q = p.shrunk(share)
    np.testing.assert_allclose(q.mean, p.mean, atol=1e-12)
    np.testing.assert_allclose(q.covariance, p.covariance, atol=1e-12)
    within = q.covariance_matrices - p.covariance_matrices
    np.testing.assert_allclose(within, share * covariance_of_means(p), atol=1e-12)
    spread = np.linalg.norm(q.means - q.mean) / np.linalg.norm(p.means - p.mean)
    assert spread == pytest.approx((1 - share) ** 0.5, abs=1e-12)


def test_the_share_must_be_between_zero_and_one():
    p = oracles.random_mixture(3, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"share must be a number in \[0, 1\], got 1.5"):
        p.shrunk(1.5)


def covariance_of_means(p):
    e = p.means - p.mean
    return np.broadcast_to(np.einsum("k,ki,kj->ij", p.weights, e, e), (len(p), p.d, p.d))


def test_bandwidth_is_silvermans_and_counts_components_by_their_weight():
    equal = skh.GaussianMixture(np.full(50, 0.02), np.random.default_rng(0).normal(size=(50, 6)), 1)
    assert squared_bandwidth(equal) ** 0.5 == pytest.approx((4 / (8 * 50)) ** (1 / 10))
    few = np.append(np.full(10, 0.1), np.zeros(40))
    assert squared_bandwidth(skh.GaussianMixture(few, equal.means, 1)) == pytest.approx(
        (1 / 20) ** 0.2
    )
    assert squared_bandwidth(skh.GaussianMixture([1.0], [[0.0]], 1.0)) == 1.0


def test_one_component_is_not_smoothed():
    p = skh.GaussianMixture([1.0], [[1.0, 2.0]], np.diag([1.0, 4.0]))
    plain, smooth = skh.Stratified()(p, 20, rng=1), skh.Smoothed(skh.Stratified())(p, 20, rng=1)
    np.testing.assert_allclose(smooth.x, plain.x, rtol=1e-12)


def test_points_fill_the_gap_between_two_components():
    p = skh.GaussianMixture([0.5, 0.5], [[-1.0], [1.0]], 0.01)
    points = skh.Smoothed(skh.QuasiMonteCarlo())(p, 200, rng=0)
    assert (np.abs(points.x) < 0.5).sum() > 20


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_shift_is_the_posterior_of_the_kernel_displacement(kind):
    """Against the conditional law of delta given delta + e, from the joint covariance."""
    p = oracles.random_mixture(6, 2, np.random.default_rng(1), kind)
    points = skh.Smoothed(skh.Stratified())(p, 30, rng=0)
    h2, B = squared_bandwidth(p), covariance_of_means(p)[0]
    found = zip(points.x, points.component, points.shift.mean, points.shift.root, strict=True)
    for x, i, shift, L in found:
        shrunk = p.mean + (1 - h2) ** 0.5 * (p.means[i] - p.mean)
        joint = np.block([[h2 * B, h2 * B], [h2 * B, h2 * B + p.covariance_matrices[i]]])
        gain = joint[:2, 2:] @ np.linalg.inv(joint[2:, 2:])
        delta = gain @ (x - shrunk)
        np.testing.assert_allclose(shift, shrunk + delta - p.means[i], atol=1e-8)
        np.testing.assert_allclose(L @ L.T, h2 * B - gain @ joint[2:, :2], atol=1e-8)


def test_a_known_state_is_not_moved():
    p = skh.GaussianMixture([1.0], [[1.0, 2.0]], np.zeros((2, 2)))
    points = skh.Smoothed(skh.Stratified())(p, 5, rng=0)
    np.testing.assert_array_equal(points.shift.mean, 0.0)
    np.testing.assert_array_equal(points.shift.root, 0.0)


def test_the_inner_rule_gets_the_information():
    heard = []

    def listening(p, n, *, rng=None):
        heard.append(p.information)
        return skh.Stratified()(p, n, rng=rng)

    model = skh.models.lgss3()
    _, ys = model.simulate(5, rng=0)
    skh.particle_filter(model, ys, skh.Smoothed(listening), 20, rng=0)
    assert heard[0] is None
    assert all(information is not None for information in heard[2:])


def test_smoothing_harms_where_the_filter_has_two_modes():
    """As documented: errors of 2.8 against 0.13 over 8 sets of 100 steps."""
    model = skh.models.nonlinear_benchmark()
    _, ys = model.simulate(40, rng=0)
    exact = skh.particle_filter(model, ys, skh.Stratified(), 50_000, rng=1).means

    def error(rule):
        return np.sqrt(
            np.mean((skh.particle_filter(model, ys, rule, 50, rng=0).means - exact) ** 2)
        )

    assert error(skh.Smoothed(skh.default_rule())) > 3 * error(skh.default_rule())


WRAPPED = {
    "Matched": skh.Matched(skh.Smoothed(skh.Stratified())),
    "Refined": skh.Refined(skh.Smoothed(skh.Stratified()), skh.GaussianKernel(1.0)),
    "search": skh.FWQuad(
        skh.GaussianKernel(1.0), search=skh.Smoothed(skh.Stratified()), search_points=200
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_ancestors_of_moved_points_are_those_of_the_unsmoothed_mixture(name):
    """Two narrow components: the ancestor of a point is the nearer unsmoothed component."""
    p = skh.GaussianMixture([0.5, 0.5], [[-1.0], [1.0]], 0.01)
    points = WRAPPED[name](p, 30, rng=0)
    x = points.x[:, 0]
    assert points.shift is None
    far = np.abs(x) > 0.1  # odds of exp(20) and more
    assert far.sum() > 15
    np.testing.assert_array_equal(points.component[far], (x[far] > 0).astype(int))


def test_mmd_is_nan_unless_measured():
    p = oracles.random_mixture(6, 2, np.random.default_rng(0))
    kernel = skh.GaussianKernel(1.0)
    rule = skh.Smoothed(skh.FWQuad(kernel))
    assert np.isnan(rule(p, 10, rng=0).mmd)
    points = skh.Measured(rule, kernel)(p, 10, rng=0)
    assert points.mmd == skh.mmd(kernel, p, points.x, points.w)
    np.testing.assert_array_equal(points.shift.mean, rule(p, 10, rng=0).shift.mean)


def test_a_shift_must_have_one_row_per_point():
    def careless(p, n, *, rng=None):
        points = skh.Smoothed(skh.Stratified())(p, n, rng=rng)
        return replace(points, shift=replace(points.shift, mean=points.shift.mean[:-1]))

    with pytest.raises(ValueError, match=r"shift .* must have shape \(10, 3\), got \(9, 3\)"):
        skh.ParticleFilter(skh.models.lgss3(), careless, 10, rng=0).step([0.0, 0.0])


def test_points_of_the_inner_rule_are_checked():
    def astray(p, n, *, rng=None):
        return replace(skh.Stratified()(p, n, rng=rng), component=np.full(n, len(p)))

    with pytest.raises(ValueError, match=r"rule must return components in 0..0"):
        skh.Smoothed(astray)(skh.GaussianMixture([1.0], [[0.0]], 1.0), 5)


def test_a_rule_is_required():
    with pytest.raises(TypeError, match=r"rule must be a rule such as skh.Stratified\(\), got 0.3"):
        skh.Smoothed(0.3)
    with pytest.raises(ValueError, match="rule must not smooth as well"):
        skh.Smoothed(skh.Smoothed(skh.Stratified()))
    with pytest.raises(ValueError, match="rule must not smooth as well, got Matched"):
        skh.Smoothed(skh.Matched(skh.Smoothed(skh.Stratified())))
