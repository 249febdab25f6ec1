"""Energy of many points: interpolated mean maps and single precision against plain sums."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
import skh
from skh._numba.mmd_energy import energy
from skh._numba.pairs_once import squared_norm
from skh.kernels.interpolation import in_cells, interpolated
from skh.kernels.mean_map import MANY_IN_PLANE, norm2
from skh.kernels.scale_groups import scale_groups
from skh.rules.energy import MAX_AT_ONCE, NOTHING, Energy

N = MAX_AT_ONCE + 11
KERNEL = skh.GaussianKernel((0.1, 1.0, 10.0), weights=(0.01, 0.09, 0.9))


def by_sums(A: np.ndarray, b: np.ndarray, heights: np.ndarray, X: np.ndarray) -> np.ndarray:
    square = ((A[:, None] * X[:, :, None] - b[:, None]) ** 2).sum(axis=0)
    return np.asarray(np.exp(-0.5 * square) @ heights)


@pytest.mark.parametrize("scales", [1, 4])
@pytest.mark.parametrize("d", [1, 2])
def test_interpolation_keeps_all_digits(d: int, scales: int) -> None:
    rng = np.random.default_rng(d)
    A, heights = rng.uniform(0.3, 1.5, (d, 4000)), rng.dirichlet(np.ones(4000))
    A[:, 1000 : 1000 * scales] *= 0.1
    b, X = A * rng.normal(size=(d, 4000)), rng.normal(size=(d, 50)) + 3.0
    found = interpolated(A, b, heights, X, scales)
    assert found is not None
    table, (centre, half) = found
    t = (X - centre.reshape(d, 1)) / half.reshape(d, 1)
    assert np.abs(t).max() < 1.0
    chebyshev = np.polynomial.chebyshev
    values = chebyshev.chebval(*t, table) if d == 1 else chebyshev.chebval2d(*t, table)
    np.testing.assert_allclose(values, by_sums(A, b, heights, X), atol=1e-14)


def test_narrow_bumps_are_not_interpolated() -> None:
    assert interpolated(np.full((2, 9), 1e6), np.ones((2, 9)), np.ones(9), np.eye(2)) is None


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_gradients_of_many_points_are_those_of_plain_sums(d: int, offset: float) -> None:
    rng = np.random.default_rng(3)
    q = oracles.random_mixture(60, d, rng, "variances")
    p = skh.GaussianMixture(q.weights, q.means + offset, q.covariances)
    X, w = p.sample(N, rng=rng)[0].T.copy(), rng.dirichlet(np.ones(N))
    mmd2 = Energy(KERNEL, p)
    start = X[:, :100]  # others may be outside of the box
    mmd2._mean_map(np.tile(start, 2))
    groups = scale_groups(KERNEL.scales)
    a, G, H = mmd2._attraction, np.empty(X.shape), np.empty(X.shape)
    plain = energy(G, X, w, groups, a.A, a.b, a.heights, NOTHING, NOTHING)
    value, gradient = mmd2(X, w)
    rounding = 1e-16 * max(offset, 1e3)  # of coordinates
    assert value == pytest.approx(plain, abs=rounding)
    np.testing.assert_allclose(gradient, G, atol=10 * rounding)
    sums = mmd2._groups_of_sums(X)
    single = energy(H, X, w, sums, *mmd2._slopes_of_mean_map(X, sums))
    assert single == pytest.approx(plain, abs=1e-7)
    np.testing.assert_allclose(H, G, atol=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_cells_and_pairs_in_the_plane_have_single_precision(offset: float) -> None:
    rng = np.random.default_rng(4)
    q = oracles.random_mixture(300, 2, rng, "one variance")
    p = skh.GaussianMixture(q.weights, q.means + offset, q.covariances)
    X, w = p.sample(N, rng=rng)[0].T.copy(), rng.dirichlet(np.ones(N))
    mmd2 = Energy(KERNEL, p)
    A, b, heights, table, box = mmd2._mean_map(X)
    cells = in_cells(table, box, A)
    G, H, X[:, :3] = np.empty(X.shape), np.empty(X.shape), X[:, :3] + 30.0  # outside of the box
    groups = mmd2._groups_of_sums(X)
    plain = energy(G, X, w, scale_groups(KERNEL.scales), A, b, heights, NOTHING, NOTHING)
    assert groups.itemsize == 4
    assert energy(H, X, w, groups, A, b, heights, cells, box) == pytest.approx(plain, abs=1e-7)
    np.testing.assert_allclose(H, G, atol=1e-8)
    assert mmd2.value(X, w) == pytest.approx(plain, abs=1e-14 * max(offset, 1.0))


def test_the_norm_of_many_components_is_the_sum_over_pairs() -> None:
    rng = np.random.default_rng(5)
    w, means = rng.dirichlet(np.ones(MANY_IN_PLANE)), rng.normal(size=(MANY_IN_PLANE, 2))
    for S in (np.array([[0.1, 0.4]]), np.array([[1e-12, 0.1]])):  # the latter not by interpolation
        found = norm2(w, means, S, KERNEL.scales)
        assert found == pytest.approx(squared_norm(w, means, S, KERNEL.scales), abs=1e-13)


def test_far_points_never_fling_others_away() -> None:
    """The slopes vanish far away, so that they alone would not notice."""
    p = oracles.random_mixture(300, 2, np.random.default_rng(0), "one variance")
    kernel = skh.GaussianKernel((0.1, 1.0, 10.0))
    before = skh.Measured(skh.MonteCarlo(), kernel)(p, 300, rng=0).mmd
    moved = skh.Refined(skh.MonteCarlo(), kernel, skh.Refine(20))(p, 300, rng=0)
    assert moved.mmd < 0.3 * before
    assert moved.mmd == pytest.approx(skh.mmd(kernel, p, moved.x, moved.w), rel=1e-6)
