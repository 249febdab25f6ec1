"""Linear algebra in units of 12 decades either way per coordinate, singular covariances included.

Covariances are made as D A A' D with known A (d, rank) and units D, so ranks, ranges and
regressions are known exactly; other results are compared with the same computation where D = I.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import skh
from skh.gaussians.linear_algebra import (
    check_and_factorize,
    check_covariance,
    condition,
    congruent,
    factorize,
    inverse_root,
    log_density,
    positive_root,
    right_divide,
)
from skh.gaussians.units import divide, divide_lower, invert, invertible

DECADES = 12
INDEFINITE = [[1.0, 0.0, 0.0], [0.0, 1e-12, 5e-12], [0.0, 5e-12, 1e-12]]  # a correlation of 5
RULES = [
    skh.Stratified(),
    skh.QuasiMonteCarlo(),
    skh.Matched(skh.Stratified()),
    skh.Smoothed(skh.Matched(skh.Stratified())),
]

seeds = st.integers(0, 10**6)
dimensions = st.integers(1, 10)


def units(rng, d):
    return 10 ** rng.uniform(-DECADES, DECADES, d)


def loadings(rng, d, rank):
    """A matrix of the given rank, and no worse conditioned than covariances usually are."""
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return Q[:, :rank] * rng.uniform(0.1, 1.0, rank)


def covariance(A, D):
    S = D[:, None] * A
    return S @ S.T


def relative(S, D):
    """A covariance in units D."""
    return S / D[:, None] / D


@given(seeds, dimensions, st.data())
def test_factors_of_singular_covariances(seed, d, data):
    """L L' = S, the rank is that of A, draws lie in the range of A, and L has the units of D."""
    rank = data.draw(st.integers(0, d))
    rng = np.random.default_rng(seed)
    A, D = loadings(rng, d, rank), units(rng, d)
    S, L = factorize(covariance(A, D))
    np.testing.assert_allclose(relative(L @ L.T, D), A @ A.T, atol=1e-12)
    np.testing.assert_allclose(relative(S, D), A @ A.T, atol=1e-12)
    assert (L != 0.0).any(axis=0).sum() == rank
    draw = (L @ rng.normal(size=d)) / D
    outside = draw - A @ np.linalg.lstsq(A, draw, rcond=None)[0] if rank else draw
    np.testing.assert_allclose(outside, 0.0, atol=1e-7)
    np.testing.assert_allclose(L / D[:, None], factorize(A @ A.T)[1], atol=1e-7)


@given(seeds, dimensions, st.data())
def test_a_stack_is_factorized_matrix_by_matrix(seed, d, data):
    """A regular matrix has the same factor and stays as it is beside a singular one."""
    rng = np.random.default_rng(seed)
    ranks = data.draw(st.lists(st.integers(0, d), min_size=1, max_size=4))
    D = units(rng, d)
    S = np.array([covariance(loadings(rng, d, rank), D) for rank in ranks])
    S = (S + S.swapaxes(1, 2)) / 2
    kept, L = check_and_factorize("S", S)
    for k, rank in enumerate(ranks):
        alone, root = check_and_factorize("S", S[k : k + 1])
        np.testing.assert_array_equal(kept[k], alone[0])
        np.testing.assert_array_equal(L[k], root[0])
        if rank == d:
            np.testing.assert_array_equal(kept[k], S[k])


@given(seeds, st.integers(2, 10), st.floats(1e-6, 1.0))
def test_checks_do_not_depend_on_units(seed, d, size):
    rng = np.random.default_rng(seed)
    D = units(rng, d)
    valid = covariance(loadings(rng, d, d), np.ones(d))
    check_covariance("S", D[:, None] * valid * D)
    sd = np.sqrt(valid.diagonal())
    i, j = rng.choice(d, 2, replace=False)
    beyond, skewed = valid.copy(), valid.copy()
    beyond[i, j] = beyond[j, i] = (1 + size) * sd[i] * sd[j]
    skewed[i, j] += size * sd[i] * sd[j]
    with pytest.raises(ValueError, match="S must be positive semi-definite, got an eigenvalue"):
        check_covariance("S", D[:, None] * beyond * D)
    with pytest.raises(ValueError, match="S must be symmetric"):
        check_covariance("S", D[:, None] * skewed * D)
    for S in (beyond, skewed):
        with pytest.raises(ValueError, match="covariances must be"):
            skh.GaussianMixture([1.0], np.zeros((1, d)), [D[:, None] * S * D])


def test_an_indefinite_block_in_small_units_is_rejected():
    message = "must be positive semi-definite, got an eigenvalue -4 of the correlations"
    with pytest.raises(ValueError, match=message):
        skh.GaussianMixture([1.0], np.zeros((1, 3)), INDEFINITE)
    with pytest.raises(ValueError, match=message):
        skh.GaussianMixture([1.0], np.zeros((1, 3)), [INDEFINITE])


@pytest.mark.parametrize("residue", [-1e-17, 0.0, 1e-17])
def test_rounding_left_of_a_variance_is_accepted(residue):
    S = np.array([[1.0, residue, 0.3], [residue, residue, 0.0], [0.3, 0.0, 1.0]])
    kept, L = check_and_factorize("S", S)
    np.testing.assert_allclose(L @ L.T, S, atol=1e-16)
    np.testing.assert_allclose(kept, S, atol=1e-16)


@given(seeds, dimensions, st.integers(1, 3), st.data())
def test_regression_on_singular_coordinates(seed, d, k, data):
    """For x = D A u and z = H u with independent u, the regression of z on x recovers H u."""
    rank = data.draw(st.integers(0, d))
    rng = np.random.default_rng(seed)
    A, D, H = loadings(rng, d, rank), units(rng, d), rng.normal(size=(k, rank))
    x = D[:, None] * A
    G = right_divide(H @ x.T, x @ x.T)
    np.testing.assert_allclose(G @ x, H, atol=1e-8)
    np.testing.assert_allclose(G * D, right_divide(H @ A.T, A @ A.T), atol=1e-6)


def test_regression_with_a_regular_and_a_singular_matrix():
    S = np.array([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]])
    G = right_divide(np.array([[1.0, 0.0]]), S)
    np.testing.assert_allclose(G, [[[2 / 3, -1 / 3]], [[0.25, 0.25]]], rtol=1e-14)


@given(seeds, dimensions, st.integers(1, 4), st.data())
def test_conditioning_does_not_depend_on_units(seed, d, m, data):
    """Units of the state and of the measurement, with a singular prior."""
    rank = data.draw(st.integers(0, d))
    rng = np.random.default_rng(seed)
    A, C, R = loadings(rng, d, rank), rng.normal(size=(m, d)), loadings(rng, m, m)
    D, E, residual, mean = units(rng, d), units(rng, m), rng.normal(size=m), rng.normal(size=d)
    plain = condition(mean, A @ A.T, residual, C, R @ R.T)
    scaled = condition(
        *(D * mean, covariance(A, D), E * residual, E[:, None] * C / D, covariance(R, E))
    )
    np.testing.assert_allclose(scaled[0] / D, plain[0], atol=1e-9)
    np.testing.assert_allclose(relative(scaled[1], D), plain[1], atol=1e-9)
    assert scaled[2] + np.log(E).sum() == pytest.approx(plain[2], abs=1e-8)


@given(seeds, dimensions)
def test_densities_and_inverses_of_regular_covariances(seed, d):
    rng = np.random.default_rng(seed)
    A, D, e = loadings(rng, d, d), units(rng, d), rng.normal(size=d)
    S = covariance(A, D)
    expected = multivariate_normal(np.zeros(d), A @ A.T).logpdf(e) - np.log(D).sum()
    assert log_density(D * e, S) == pytest.approx(expected, abs=1e-8)
    L = positive_root("S", S)
    np.testing.assert_allclose(divide_lower(L, L @ e), e, atol=1e-9)
    np.testing.assert_allclose((invert(L) * D) @ (L / D[:, None]), np.eye(d), atol=1e-9)
    np.testing.assert_allclose(divide(S, S) * D[:, None] / D, np.eye(d), atol=1e-9)
    B = D[:, None] * A  # the units of rows and columns differ
    assert all(invertible(matrix) for matrix in (B, B / D))
    assert not invertible(B[:, :0])
    assert not invertible(B @ np.diag([0.0] + [1.0] * (d - 1)))


@given(seeds, st.integers(1, 6), st.integers(0, 6))
def test_roots_of_identity_plus_large_matrices(seed, d, rank):
    """For B = I + X X' with large X the product X' B^-1 X is I, though rounding hides I in B."""
    rng = np.random.default_rng(seed)
    X = 1e9 * 10 ** rng.uniform(0, DECADES, d)[:, None] * loadings(rng, d, min(rank, d))
    W = inverse_root(np.eye(d) + X @ X.T)
    np.testing.assert_allclose((W @ X).T @ (W @ X), np.eye(X.shape[1]), atol=1e-6)


def test_a_variance_in_small_units_is_not_regularised_away():
    """The fallback for singular A must leave coordinates in small units alone."""
    B = np.eye(3) + 1e24 * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    W = inverse_root(B)
    np.testing.assert_allclose(W[2], [0.0, 0.0, 1.0], atol=1e-10)


@given(seeds, st.integers(1, 5))
def test_variances_that_cancel_are_zero(seed, k):
    """Differences of coordinates that are equal have no variance, and no correlations."""
    rng = np.random.default_rng(seed)
    a, D = rng.normal(size=(2, k)), units(rng, 2)
    C = np.array([np.r_[a[0], -a[0]], np.r_[a[1], a[1]]])
    B = loadings(rng, k, k)
    P = np.tile(B @ B.T, (2, 2))
    S = congruent(D[:, None] * C, P, np.zeros((2, 2)))
    assert S[0, 0] == S[0, 1] == S[1, 0] == 0.0
    assert S[1, 1] == pytest.approx(D[1] ** 2 * 4 * a[1] @ B @ B.T @ a[1], rel=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("own", [False, True])
@given(seeds, st.integers(1, 5))
@example(164, 5)  # point masses and components of rank two
@example(243, 4)
@settings(max_examples=25)
def test_points_of_singular_mixtures_have_the_units_of_the_mixture(rule, own, seed, d):
    rng = np.random.default_rng(seed)
    means, D, w = rng.normal(size=(3, d)), units(rng, d), rng.random(3) + 0.1
    A = [loadings(rng, d, rng.integers(0, d + 1)) for _ in range(3 if own else 1)]

    def placed(D):
        S = np.array([covariance(a, D) for a in A])
        return rule(skh.GaussianMixture(w, D * means, S if own else S[0]), 16, rng=seed)

    plain, scaled = placed(np.ones(d)), placed(D)
    np.testing.assert_allclose(scaled.x / D, plain.x, atol=1e-6)
    np.testing.assert_array_equal(scaled.component, plain.component)


@given(seeds, st.integers(1, 5))
def test_a_metric_in_any_units(seed, d):
    rng = np.random.default_rng(seed)
    A, D, x = loadings(rng, d, d), units(rng, d), rng.normal(size=(4, d))
    S = loadings(rng, d, max(1, d - 1))
    plain, scaled = (skh.GaussianKernel(1.0, covariance(A, E)) for E in (np.ones(d), D))
    np.testing.assert_allclose(scaled.gram(D * x, D * x), plain.gram(x, x), atol=1e-9)
    p = skh.GaussianMixture([1.0, 2.0], x[:2], [S @ S.T, A @ A.T])
    q = skh.GaussianMixture([1.0, 2.0], D * x[:2], [covariance(S, D), covariance(A, D)])
    np.testing.assert_allclose(scaled.mean_map(q, D * x), plain.mean_map(p, x), atol=1e-9)
    with pytest.raises(ValueError, match="metric must be positive"):
        skh.GaussianKernel(1.0, covariance(np.ones((d + 1, 1)), np.append(D, 1.0)))


@given(seeds, st.integers(1, 4))
def test_the_kalman_filter_in_any_units(seed, d):
    rng = np.random.default_rng(seed)
    A, C, D, E = 0.9 * loadings(rng, d, d), rng.normal(size=(2, d)), units(rng, d), units(rng, 2)
    Q, P, R = loadings(rng, d, d - 1), loadings(rng, d, 1), loadings(rng, 2, 2)
    mean, ys = rng.normal(size=d), rng.normal(size=(5, 2))

    def filtered(D, E):
        return skh.kalman_filter(
            skh.models.LinearGaussian(
                *(D[:, None] * A / D, E[:, None] * C / D, covariance(Q, D), covariance(R, E)),
                *(D * mean, covariance(P, D)),
            ),
            E * ys,
        )

    plain, scaled = filtered(np.ones(d), np.ones(2)), filtered(D, E)
    np.testing.assert_allclose(scaled.means / D, plain.means, atol=1e-8)
    np.testing.assert_allclose(scaled.covariances / D[:, None] / D, plain.covariances, atol=1e-8)
    offset = 5 * np.log(E).sum()
    assert scaled.log_evidence + offset == pytest.approx(plain.log_evidence, abs=1e-7)
