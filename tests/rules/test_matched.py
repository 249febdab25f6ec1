"""Points that match the first two moments of their mixture."""

import numpy as np
import pytest

import oracles
import skh
from skh.gaussians.separation import split


def moments(points):
    mean = points.w @ points.x
    e = points.x - mean
    return mean, (points.w * e.T) @ e


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("rule", [skh.MonteCarlo(), skh.default_rule()], ids=["random", "default"])
def test_both_moments_are_those_of_the_mixture(rule, d, kind):
    p = oracles.random_mixture(6, d, np.random.default_rng(d), kind)
    before, after = rule(p, 40, rng=0), skh.Matched(rule)(p, 40, rng=0)
    (mean, covariance), (_, other) = moments(after), moments(before)
    np.testing.assert_allclose(mean, p.mean, atol=1e-12)
    np.testing.assert_allclose(covariance, p.covariance, rtol=1e-7, atol=1e-7)
    off, off_before = (np.abs(S - p.covariance).max() for S in (covariance, other))
    assert off < 1e-4 * off_before  # not matched before
    if split(p, 40, p.covariance, 4 * (d + 1)) is None:  # else parts get their exact masses
        np.testing.assert_array_equal(after.w, before.w)


def test_no_other_linear_map_to_the_same_moments_moves_the_points_less():
    """All of them are L Q C^(-1/2) L^(-1) with a rotation Q."""
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(4, 3, rng, "matrices")
    before, after = (
        rule(p, 30, rng=1) for rule in (skh.MonteCarlo(), skh.Matched(skh.MonteCarlo()))
    )
    L = np.linalg.cholesky(p.covariance)

    def moved(z):
        return (np.linalg.norm(z - np.linalg.solve(L, (before.x - p.mean).T), axis=0) ** 2).sum()

    z = np.linalg.solve(L, (after.x - p.mean).T)
    for _ in range(100):
        Q, _ = np.linalg.qr(np.eye(3) + 0.1 * rng.normal(size=(3, 3)))
        Q *= np.sign(np.diag(Q))
        assert moved(Q @ z) > moved(z)


def test_units_do_not_matter():
    p = oracles.random_mixture(4, 2, np.random.default_rng(0), "matrices")
    units = np.diag([1e6, 1e-6])
    points, scaled = (skh.Matched(skh.Stratified())(q, 30, rng=1) for q in (p, p.linear_map(units)))
    np.testing.assert_allclose(scaled.x, points.x @ units, rtol=1e-6)
    np.testing.assert_array_equal(scaled.component, points.component)


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_too_few_points_match_the_mean_and_the_total_variance(n):
    d = 40
    rng = np.random.default_rng(0)
    p = skh.GaussianMixture([1.0], [rng.normal(size=d)], np.diag(10.0 ** rng.uniform(-3, 3, d)))
    mean, covariance = moments(skh.Matched(skh.Stratified())(p, n, rng=0))
    np.testing.assert_allclose(mean, p.mean, rtol=1e-9, atol=1e-9 * np.sqrt(p.covariance.max()))
    assert (covariance.diagonal() / p.covariance.diagonal()).sum() == pytest.approx(d, rel=1e-6)


def test_points_stay_where_they_have_no_spread():
    p = skh.GaussianMixture(
        [0.5, 0.5], [[0.0, 1.0, 0.0], [2.0, 1.0, 0.0]], np.diag([1.0, 0.0, 4.0])
    )
    points = skh.Matched(skh.Stratified())(p, 20, rng=0)
    assert (points.x[:, 1] == 1.0).all()
    np.testing.assert_allclose(moments(points)[1], p.covariance, atol=1e-6)


def test_a_rule_is_required():
    with pytest.raises(TypeError, match=r"rule must be a rule such as skh.Stratified\(\), got 0.3"):
        skh.Matched(0.3)
