"""Parabolas of log-likelihoods: exact where these are parabolas, and near the peak over a floor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skh.filtering.surrogates.envelope import fit_surrogate
from skh.filtering.surrogates.parabola import (
    NOISES,
    Prior,
    Regression,
    Whitening,
    fit_parabola,
    informed,
)
from skh.gaussians.mixture import GaussianMixture


def parabola(d, rng, sharpness=1.0, rank=None):
    """Random (b, H), and points to evaluate it at."""
    B = rng.normal(size=(d, d if rank is None else rank))
    return sharpness * rng.normal(size=d), sharpness * B @ B.T


def values(z, b, H):
    return z @ b - 0.5 * np.einsum("ni,ij,nj->n", z, H, z)


@given(st.integers(0, 50), st.integers(1, 3), st.floats(-2.0, 4.0))
def test_a_parabola_is_found_from_enough_points(seed, d, exponent):
    rng = np.random.default_rng(seed)
    b, H = parabola(d, rng, 10.0**exponent)
    z = rng.normal(size=(25, d))
    fit = fit_surrogate(z, 5.0 + values(z, b, H), None)
    size = np.abs(H).max()
    np.testing.assert_allclose(fit.H, H, atol=0.05 * size)
    np.testing.assert_allclose(fit.b, b, atol=0.05 * size)
    assert fit.unexplained < 0.05


def test_information_is_the_curvature_where_points_are_too_few():
    rng = np.random.default_rng(0)
    b, H = parabola(10, rng, 10.0, rank=2)
    z = rng.normal(size=(25, 10))  # 66 coefficients
    level = values(z, b, H)
    level -= level.max()
    with_it, without = (fit_parabola(z, level, F) for F in (informed(H), None))
    np.testing.assert_allclose(with_it.b, b, atol=0.01 * np.abs(b).max())
    assert with_it.unexplained < 1e-3 < without.unexplained


@pytest.mark.parametrize("kappa", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("d", [1, 3])
def test_features_have_the_covariance_of_the_prior(kappa, d):
    rng = np.random.default_rng(d)
    z, prior = rng.normal(size=(8, d)), Prior(np.zeros((d, d)), rng.normal(size=(d, d)), kappa)
    features, S = prior.features(z), prior.root @ prior.root.T
    s, q = 1.0 + np.trace(S), z @ S @ z.T
    np.testing.assert_allclose(features @ features.T, s**2 / 2 + s * q + kappa * q**2 / 2)
    theta = rng.normal(size=features.shape[1])
    c, b, H = prior.coefficients(theta)
    np.testing.assert_allclose(c + values(z, b, H), features @ theta, atol=1e-12)


def test_errors_left_out_are_those_of_fits_without_a_point():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(12, 2))
    level = -np.abs(z).sum(axis=1)
    level -= level.max()
    prior, size = Prior(np.zeros((2, 2)), np.eye(2), 1.0), 1.0 - level
    fit = Regression(prior, z, level, size, [1.0]).parabola()
    features = prior.features(z)
    K = features @ features.T
    errors = []
    for noise in NOISES:  # one of them was chosen
        left_out = np.empty(12)
        for i in range(12):
            o = np.arange(12) != i
            A = K[np.ix_(o, o)] + np.diag((noise * size[o]) ** 2)
            left_out[i] = K[i, o] @ np.linalg.solve(A, level[o])
        errors.append(np.abs(left_out - fit.left_out).max())
    assert min(errors) < 1e-8


def test_curvature_is_never_negative():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(20, 2))
    fit = fit_surrogate(z, 0.5 * (z**2).sum(axis=1), None)  # a bowl
    assert np.linalg.eigvalsh(fit.H).min() > -1e-9 * max(np.abs(fit.H).max(), 1.0)


def floored(z, peak, H, depth):
    return np.logaddexp(values(z - peak, np.zeros(len(peak)), H), -depth)


@pytest.mark.parametrize("seed", range(5))
def test_the_peak_over_a_floor_is_found_from_its_curvature(seed):
    """Most of the points see only the floor."""
    rng = np.random.default_rng(seed)
    peak, H = np.array([0.5, -0.4]), np.diag([30.0, 50.0])
    z = rng.normal(size=(40, 2))
    fit = fit_surrogate(z, floored(z, peak, H, 20.0), informed(H))
    assert fit.floor
    found = np.linalg.solve(fit.H, fit.b)
    assert np.linalg.norm(found - peak) < 0.3
    assert np.linalg.norm(found - peak) < np.linalg.norm(z - peak, axis=1).min() + 0.1


def test_a_guess_surrounds_the_best_point():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 2))
    level = np.full(30, -40.0)
    level[7] = 0.0  # a needle
    fit = fit_surrogate(z, level, None)
    assert fit.left_out is None
    np.testing.assert_allclose(np.linalg.solve(fit.H, fit.b), z[7], atol=1e-9)


@pytest.mark.parametrize("bad", [-np.inf, -1e300])
def test_zero_likelihoods_give_finite_surrogates(bad):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 2))
    fit = fit_surrogate(z, np.where(z[:, 0] > 0.5, -(z[:, 1] ** 2), bad), None)
    assert np.isfinite(fit.H).all()
    assert np.isfinite(fit.b).all()


def test_equal_values_give_a_flat_surrogate():
    z = np.random.default_rng(0).normal(size=(20, 3))
    fit = fit_surrogate(z, np.full(20, -3.0), None)
    np.testing.assert_allclose(fit(z), 0.0, atol=1e-9)


def test_a_bump_is_the_parabola_in_the_state():
    rng = np.random.default_rng(0)
    p = GaussianMixture([1.0], [[3.0, -2.0]], [[4.0, 1.0], [1.0, 2.0]])
    frame = Whitening.of(p)
    x = rng.normal(size=(15, 2))
    fit = fit_surrogate(frame(x), values(x, np.ones(2), np.eye(2)), None)
    np.testing.assert_allclose(frame.bump(fit).log(x), fit(frame(x)), atol=1e-9)


def test_errors_of_a_clamped_parabola_are_its_own():
    """A likelihood that grows outwards has no maximum: nothing is explained."""
    z = np.random.default_rng(0).normal(size=(30, 2))
    level = 1.5 * (z**2).sum(axis=1)
    fit = fit_parabola(z, level - level.max(), None)
    assert fit.clamped
    assert fit.unexplained > 0.5
