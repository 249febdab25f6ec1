"""Compiled kernels against NumPy, and against their own source run by Python."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logsumexp, ndtri
from scipy.stats import qmc

import oracles
import skh
from skh import _numba
from skh._numba import backward_weights
from skh._numba.iterate_history import IterateHistory
from skh.gaussians.hilbert_curve import hilbert_order
from skh.kernels import gaussian_kernel as kernels
from skh.kernels.scale_groups import scale_groups
from skh.rules import energy as mmd_energy
from skh.rules import sampling
from skh.rules import sobol_directions as sobol
from skh.rules.energy import Energy


def test_exp_is_accurate_to_two_units_in_the_last_place():
    def exp(x):
        out = np.zeros_like(x)
        _numba.kernel_rows.add_exp(out, -x, 1.0, 1.0)
        return out

    x = np.concatenate([-np.geomspace(1e-300, 600, 200_001), -np.linspace(0, 600, 200_001)])
    exact = np.exp(x.astype(np.longdouble))
    assert np.abs(exp(x) / exact - 1).max() < 4.5e-16
    assert exp(np.zeros(1))[0] == 1.0
    assert 0 <= exp(np.array([-1e9]))[0] < 1e-260


def block_problem(d, M=2500, K=9, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng,
        rng.normal(size=(d, M)) * 2,
        rng.normal(size=(K, d)) * 2,
        rng.random(K),
        rng.random(K) + 0.1,
    )


@pytest.mark.parametrize("d", [1, 2, 5, 6, 7])
def test_gaussian_sums_equal_numpy(d):
    rng, X, centres, heights, rates = block_problem(d)
    square = ((X.T[:, None] - centres) ** 2).sum(-1)
    out = rng.random(X.shape[1])
    expected = out + np.exp(-rates * square) @ heights
    _numba.gaussian_sums.add_gaussians(out, X, centres, heights, rates)
    np.testing.assert_allclose(out, expected, rtol=1e-12)

    A = np.tril(rng.normal(size=(len(centres), d, d)))
    e = np.einsum("kij,mkj->mki", A, X.T[:, None] - centres)
    expected = out + np.exp(-0.5 * (e**2).sum(-1)) @ heights
    _numba.gaussian_sums.add_skewed_gaussians(out, X, centres, heights, A)
    np.testing.assert_allclose(out, expected, rtol=1e-12)

    D = rng.random((d, len(centres)))
    e = D.T * X.T[:, None] - centres
    expected = out + np.exp(-0.5 * (e**2).sum(-1)) @ heights
    _numba.gaussian_sums.add_aligned_gaussians(
        out, X, np.eye(d), D, np.ascontiguousarray(centres.T), heights
    )
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize("M", [1, 2, 1023, 1024, 1025, 5000])
def test_search_equals_argmin(M):
    rng = np.random.default_rng(M)
    X, mu, g = rng.normal(size=(2, M)), rng.random(M), rng.random(M)
    rates, weights = scales = np.array([[0.5, 3.0], [0.6, 0.4]])
    square = ((X.T - X[:, 0]) ** 2).sum(1)
    expected = 0.75 * g + 0.25 * weights @ np.exp(-np.outer(rates, square))
    history = IterateHistory.start(np.array([0.25]), 0, mu[0], 1.0)
    assert _numba.vertex_search.full_steps(history, 0, 1, g, mu, X, scales, 1 + M % 3) == 1
    np.testing.assert_allclose(g, expected, rtol=1e-12)
    assert history.vertices[1] == np.argmin(g - mu)

    rows, w, active = rng.random((9, M)), rng.random(9), np.array([0, 3, 4, 5, 7, 8])
    j = _numba.vertex_search.combine_and_search(g, mu, rows, active, w)
    one_by_one = np.zeros(M)
    for i in active:
        one_by_one += w[i] * rows[i]
    np.testing.assert_array_equal(g, one_by_one)  # `winner` relies on equal bits
    assert j == np.argmin(g - mu)


@pytest.mark.parametrize("size", [1, 60, 1024, 5_001])
def test_bounds_are_those_of_numpy(size):
    X = np.random.default_rng(size).integers(-9, 9, (3, size)).astype(float)  # many ties
    low, high = _numba.extrema.bounds(X)
    np.testing.assert_array_equal((low, high), (X.min(axis=1), X.max(axis=1)))


def test_search_breaks_ties_by_the_first_index():
    X = np.repeat(np.array([[0.0, 1.0]]), 2000, axis=1).reshape(1, -1)
    g, mu = np.zeros(4000), np.zeros(4000)
    history = IterateHistory.start(
        np.ones(1), 2000, 0.0, 1.0
    )  # from one of the points at 1, away from it
    _numba.vertex_search.full_steps(history, 0, 1, g, mu, X, np.array([[0.5], [1.0]]), 1)
    assert list(history.vertices) == [2000, 0]


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 33])
def test_factors_of_some_dozen_rows_are_those_of_lapack(n):
    X = np.random.default_rng(n).normal(size=(n, n))
    S = X @ X.T + np.eye(n)
    L = S.copy()
    assert _numba.factor.factorize(L)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(S), rtol=1e-12, atol=1e-12)
    S[-1, -1] -= S[-1, -1] - S[-1, :-1] @ np.linalg.solve(S[:-1, :-1], S[:-1, -1]) + 1e-6
    assert not _numba.factor.factorize(S)


def net_arguments(rng):
    bits, m = 8, 4
    directions = sobol.sobol_directions(2, m, bits)
    return directions, rng.random((2, m + 1)), bits


def test_scrambled_net_multiplies_the_digits_by_a_matrix_and_adds_a_shift():
    rng = np.random.default_rng(0)
    directions, numbers, bits = net_arguments(rng)
    random = (numbers * 256).astype(int)
    lead = 1 << (bits - 1 - np.arange(4))
    columns, shift = lead | (random[:, :-1] & (lead - 1)), random[:, -1]

    def digits(x):
        return x[..., None] >> np.arange(bits - 1, -1, -1) & 1

    plain = (qmc.Sobol(2, scramble=False).random_base2(4) * 2**bits).astype(int)
    L = digits(columns).swapaxes(1, 2)  # (2, bits, m): lower triangular with ones on its diagonal
    np.testing.assert_array_equal(np.triu(L, 1), 0)
    np.testing.assert_array_equal(np.diagonal(L, axis1=1, axis2=2), 1)
    expected = (np.einsum("jik,njk->nji", L, digits(plain)[..., :4]) + digits(shift)) % 2
    cell = expected @ (1 << np.arange(bits - 1, -1, -1))
    got = np.empty((2, 16))
    _numba.sobol_net.scrambled_net(got, directions, numbers, bits)
    np.testing.assert_array_equal(got.T, (cell + 0.5) / 2**bits)


@pytest.mark.parametrize("m", [1, 3, 20])
def test_direction_numbers_are_those_of_scipy(m):
    for d in range(1, len(sobol.POLYNOMIALS) + 3):
        got = sobol.sobol_directions(d, m, 52)
        np.testing.assert_array_equal(got, sobol._of_scipy(d, m, 52))


@pytest.mark.parametrize("d", [1, 2, 5, 16])
def test_scrambled_sobol_is_a_net_and_uniform(d):
    n = 256
    u = np.array([sampling.scrambled_sobol(n, d, np.random.default_rng(s)) for s in range(200)])
    cells = np.sort((u * n).astype(int), axis=1)
    np.testing.assert_array_equal(cells, np.broadcast_to(np.arange(n)[:, None], cells.shape))
    if d > 1:  # the first two coordinates: one point in each of the 16 x 16 squares
        squares = (u[..., 0] * 16).astype(int) * 16 + (u[..., 1] * 16).astype(int)
        np.testing.assert_array_equal(np.sort(squares, axis=1), np.tile(np.arange(n), (200, 1)))
    # over the scrambles, each single point is uniform and its coordinates independent
    point = u[:, 37]
    assert np.abs(point.mean(0) - 0.5).max() < 5 / np.sqrt(12 * 200)
    if d > 1:
        assert np.abs(np.corrcoef(point.T) - np.eye(d)).max() < 5 / np.sqrt(200)


@given(
    steps=st.lists(st.sampled_from([0.0, 1e-17, 1e-9, 0.1, 1.0, 7.0]), min_size=1, max_size=30),
    u=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20),
)
def test_inverse_transform_equals_searchsorted(steps, u):
    cumulative = np.cumsum([*steps, 1.0])
    cumulative /= cumulative[-1]
    u = np.array([*u, *cumulative[cumulative < 1]])  # also at the steps themselves
    for numbers in (u, np.sort(u), u[::-1].copy()):
        np.testing.assert_array_equal(
            _numba.resampling.inverse_transform(cumulative, numbers),
            np.searchsorted(cumulative, numbers, side="right"),
        )


@given(
    steps=st.lists(st.sampled_from([0.0, 1e-17, 1e-9, 0.1, 1.0, 7.0]), min_size=1, max_size=30),
    n=st.integers(1, 50),
    offset=st.floats(0, 1, exclude_max=True),
)
def test_systematic_is_inverse_transform_of_an_even_grid(steps, n, offset):
    weights = np.array([*steps, 1.0, 0.0])
    weights /= weights.sum()
    got = _numba.resampling.systematic(weights, n, offset)
    assert (weights[got] > 0).all()
    u, cumulative = (np.arange(n) + offset) / n, np.cumsum(weights)
    low, high = (np.searchsorted(cumulative, u + e, side="right") for e in (-1e-12, 1e-12))
    assert ((low <= got) & (got <= high)).all()  # equal but for rounding


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1e-300, 0.1, 0.1, 0.5]),
            st.sampled_from([-np.inf, -2e4, -650.0, -3.0, 0.5, 700.0]),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_reweighted_is_the_normalised_product(pairs):
    """Against logsumexp; weights below 1e-260 of the largest are zero."""
    w, log_likelihood = np.array(pairs).T
    with np.errstate(divide="ignore"):
        log_w = np.log(w) + log_likelihood
    got = np.empty(len(w))
    total = _numba.reweighting.set_reweighted(got, w.copy(), log_likelihood.copy())
    expected = logsumexp(log_w)
    if expected == -np.inf:
        assert total == -np.inf
        return
    assert total == pytest.approx(expected, rel=1e-14, abs=1e-14)
    np.testing.assert_allclose(got, np.exp(log_w - expected), rtol=1e-12, atol=1e-259)


def test_normal_quantiles_are_those_of_scipy():
    """From 2^-53 to 1 - 2^-53, and on both sides of where the formula changes."""
    edges = np.array([0.075, np.exp(-25.0), 0.5])
    edges = np.concatenate([edges, 1.0 - edges, 1.000001 * edges, 0.999999 * edges])
    powers = 2.0 ** -np.arange(2, 53.5, 0.5)
    u = np.concatenate([powers, 1.0 - powers, np.linspace(1e-4, 1.0 - 1e-4, 999), edges])[None]
    u, z = np.concatenate([u, u[:, ::-1]]), np.empty((u.size, 2))
    _numba.normal_quantiles.set_normals(z, u)
    np.testing.assert_allclose(z, ndtri(u).T, rtol=3e-15, atol=1e-300)


def test_inverse_transform_among_many_uneven_weights():
    rng = np.random.default_rng(0)
    cumulative = np.cumsum(rng.random(5000) ** 40)
    cumulative /= cumulative[-1]
    for u in (rng.random(3000), np.sort(rng.random(3000))):
        np.testing.assert_array_equal(
            _numba.resampling.inverse_transform(cumulative, u),
            np.searchsorted(cumulative, u, side="right"),
        )


def test_compiled_kernels_equal_their_python_source():
    rng, X, centres, heights, rates = block_problem(2, M=7, K=3)
    A = np.tril(rng.normal(size=(3, 2, 2)))
    scales = np.array([[0.5, 3.0], [0.6, 0.4]])
    S = np.einsum("kij,klj->kil", A, A)
    mu, rows, six = rng.random(7), rng.random((3, 7)), rng.normal(size=(6, 7))
    uneven = np.array([0.0, *[1e-3] * 20, 0.3, 0.7 - 20e-3, 0.0])
    uneven[-2] = 1 - uneven[:-2].sum()
    history = IterateHistory.start(np.array([1.0, np.nan, 0.3]), 2, mu[2], 0.5)
    calls = [
        (_numba.gaussian_sums.add_gaussians, (np.zeros(7), X, centres, heights, rates)),
        (_numba.gaussian_sums.add_skewed_gaussians, (np.zeros(7), X, centres, heights, A)),
        (
            _numba.gaussian_sums.add_aligned_gaussians,
            (np.zeros(7), X, A[1], A[0, :, :1], X[:, :1], heights[:1]),
        ),
        (_numba.gaussian_sums.add_affine_square, (np.zeros(7), X[0], 0.3, 0.2)),
        (_numba.kernel_rows.kernel_row, (np.zeros(7), X, centres[0], scales)),
        (_numba.kernel_rows.transposed, (centres,)),
        (_numba.vertex_search.full_steps, (history, 0, 3, np.zeros(7), mu, X, scales, 1)),
        (_numba.vertex_search.catch_up, (history, 2, np.zeros(7), mu, X, scales)),
        (_numba.iterate_history.best_step, (0.3, 0.2, 0.1, 0.4, 2)),
        (_numba.iterate_history.best_step, (0.3, 0.4, 0.1, 0.0, 2)),
        (_numba.vertex_search.combine_and_search, (np.zeros(7), mu, rows, np.arange(3), heights)),
        (
            _numba.pair_sums.pair_sum,
            (heights, S[:, *np.tril_indices(2)].T.copy(), centres.T.copy()),
        ),
        (
            _numba.component_densities.log_densities_along_axes,
            (np.empty((3, 7)), centres, X, np.exp(X), mu),
        ),
        (
            _numba.component_densities.log_densities_skewed,
            (np.empty((3, 7)), centres, X, rng.normal(size=(2, 2, 7)), np.eye(2) == 1.0, mu),
        ),
        (_numba.cholesky.factor, (np.empty((3, 2, 2)), S, 1e-8)),
        (
            _numba.cholesky.semidefinite_cholesky,
            (np.empty((3, 3)), np.ones((3, 3)) + np.diag([0.0, 0.0, 1.0]), np.arange(3)),
        ),
        (
            _numba.cholesky.widen_masses,
            (np.tril(np.ones((1, 3, 3))), np.array([[0, 1, 2]]), np.array([2]), mu[:3]),
        ),
        (
            _numba.cholesky.invert_triangles,
            (np.empty((3, 2, 2)), A, np.tile(np.arange(2), (3, 1))),
        ),
        (
            _numba.vertex_search.step_blocks,
            (np.zeros(1), 0, 1, np.zeros(7), mu, X, centres[0], scales, 0.5),
        ),
        (_numba.hilbert_keys.hilbert_keys, (rng.integers(0, 16, (9, 3)), 4)),
        (_numba.hilbert_keys.hilbert_cells, (centres, 31)),
        (
            _numba.resampling.choose_along,
            (np.empty(9, np.intp), mu, np.arange(6, -1, -1), np.linspace(0, 0.9, 9)),
        ),
        (_numba.resampling.set_distant_neighbours, (np.empty(3), np.array([2, 0, 1]), 0.7)),
        (
            _numba.resampling.choose_in_rows,
            (np.empty(3, np.intp), np.log(rows), np.array([2, 0, 1, 3, 6, 5, 4]), mu),
        ),
        (_numba.kernel_rows.add_square, (np.zeros(7), X[0], 0.3)),
        (_numba.vectors.add_scaled, (np.zeros(7), X[0], 0.3)),
        (_numba.kernel_rows.squared_distances, (np.zeros(3), X, 2, 5, centres[0])),
        (_numba.gaussian_sums.mahalanobis, (np.zeros(3), np.zeros(3), X, 2, 5, centres[0], A[0])),
        (_numba.extrema.lowest, (X[0],)),
        (_numba.vertex_search.lowest_gap, (mu, rows[0], np.zeros(7))),
        (_numba.vertex_search.first_gap, (mu, rows[0], np.array([(mu - rows[0])[4]]))),
        (_numba.kernel_rows.count_blocks, (1025,)),
        (
            _numba.vertex_search.blend_to_gap,
            (np.zeros(7), np.zeros(7) + mu, X[0], rows[0], 0.3, 0.7),
        ),
        (_numba.vertex_search.blend, (np.zeros(7) + mu, X[0], 0.3, 0.7)),
        (_numba.vertex_search.add_four, (np.zeros(7) + mu, *X, *X, 0.3, 0.7, 0.1, 0.2)),
        (
            _numba.vertex_search.combine,
            (mu[2:5].copy(), six, 2, 5, np.arange(5), heights[[0, 1, 2, 1, 0]]),
        ),
        (_numba.kernel_rows.kernel_block, (np.zeros(3), np.zeros(3), X, 2, 5, centres[0], scales)),
        (_numba.kernel_rows.set_square, (np.zeros(7), X[0], 0.3)),
        (_numba.resampling.inverse_transform, (np.array([0.1, 0.4, 1.0]), np.linspace(0, 0.9, 9))),
        (_numba.resampling.merge, (np.array([0.1, 0.4, 1.0]), np.linspace(0, 0.9, 9))),
        (_numba.resampling.look_up, (np.cumsum(uneven), np.linspace(0.9, 0, 9))),
        (_numba.resampling.systematic, (np.array([0.1, 0.5, 0.4]), 9, 0.3)),
        (_numba.reweighting.set_log_weights, (np.empty(4), np.array([0.1, 0.0, 0.1, 0.8]))),
        (_numba.array_checks.first_outside, (np.array([1.0, np.nan]), -1e308, 1e308)),
        (_numba.array_checks.first_outside, (rates, -1e308, 1e308)),
        (_numba.array_checks.first_outside, (np.array([-np.inf, np.inf]), -np.inf, 1e308)),
        (_numba.array_checks.first_outside, (np.array([-np.inf, 1.0]), -np.inf, 1e308)),
        (_numba.vectors.total, (np.array([1.0, -1.0, 2.0]),)),
        (_numba.normal_quantiles.set_normals, (np.empty((3, 1)), np.array([[1e-15, 0.06, 0.6]]))),
        (_numba.array_checks.are_indices, (np.array([0, 3]), 3)),
        (_numba.resampling.guide, (np.cumsum(uneven), 12)),
        (
            _numba.gaussian_draws.place_balls,
            (np.empty_like(centres), centres, A[:, 0, 0].copy(), np.array([2, 0, 2]), centres),
        ),
        (
            _numba.gaussian_draws.place_alike,
            (np.empty((3, 2)), centres, A[0], np.array([2, 0, 2]), rows[:, :2].copy()),
        ),
        (
            _numba.gaussian_draws.place_rows,
            (np.empty_like(centres), centres, A, np.array([2, 0, 2]), centres),
        ),
        (_numba.gaussian_sums.shifted, (A[0], centres[0], 1)),
        (_numba.kernel_rows.squared_distances, (np.zeros(3), six, 2, 5, six[:, 0])),
        (
            _numba.gaussian_sums.mahalanobis,
            (np.zeros(3), np.zeros(3), six, 2, 5, six[:, 0], six[:, :6]),
        ),
        (_numba.sobol_net.scrambled_net, (np.empty((2, 9)), *net_arguments(rng))),
        (_numba.simplex_qp.leading_dot, (heights, rates, 3)),
        (_numba.gaussian_products.product_root, (np.zeros((2, 2)), A[0], A[1] @ A[1].T)),
        (_numba.parabolas.quadratic_features, (centres, A[0], 0.25)),
        (_numba.parabolas.values_of_parabola, (centres, 0.5, centres[0], A[1] @ A[1].T)),
        (_numba.vectors.variance, (rates,)),
    ]
    for kernel, arguments in calls:
        by_compiler, by_python = deepcopy(arguments), deepcopy(arguments)
        expected, got = kernel(*by_compiler), kernel.py_func(*by_python)
        if expected is not None:
            np.testing.assert_allclose(got, expected, rtol=1e-13)
        for a, b in zip(flat(by_compiler), flat(by_python), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-300)


def flat(arguments):
    """Flatten tuples among the arguments."""
    for a in arguments:
        yield from a if isinstance(a, tuple) else (a,)


@pytest.mark.parametrize(("kind", "d"), [("variances", 2), ("matrices", 2), ("matrices", 6)])
def test_compiled_lbfgs_equals_its_python_source(kind, d, monkeypatch):
    rng = np.random.default_rng(0)
    p, kernel = oracles.random_mixture(4, d, rng, kind), skh.GaussianKernel((1.0, 10.0))
    x, w = p.sample(6, rng=rng)[0], rng.dirichlet(np.ones(6))
    mmd2, X, move = Energy(kernel, p), kernel.coordinates(x), (x, w, 12, None, 2.0**-30)
    before, (compiled, there) = mmd2(X, w)[0], mmd2.move(*move)  # more than L-BFGS remembers
    for module in (_numba.mmd_energy, _numba.lbfgs, _numba.displacements, mmd_energy):
        oracles.run_by_python(module, monkeypatch)
    assert mmd2(X, w)[0] == pytest.approx(before, rel=1e-13)
    moved, square = mmd2.move(*move)
    np.testing.assert_allclose(moved.end, compiled.end, atol=1e-8)  # a descent magnifies rounding
    assert square == pytest.approx(there, abs=1e-13)
    assert square == pytest.approx(mmd2.value(compiled.end, w), abs=1e-13)
    assert square < before - 1e-3


@pytest.mark.parametrize("kind", ["variances", "matrices"])
def test_compiled_pair_sums_equal_their_python_source(kind, monkeypatch):
    p, kernel = oracles.random_mixture(40, 2, np.random.default_rng(0), kind), skh.GaussianKernel(1)
    compiled = kernel.mean_norm2(p)
    for module in (_numba.pair_sums, kernels):
        oracles.run_by_python(module, monkeypatch)
    assert kernel.mean_norm2(p) == pytest.approx(compiled, rel=1e-13)


def wide_kernel_programme():
    x = np.random.default_rng(5).normal(size=(30, 1))
    return oracles.gram(1.0, x, x), oracles.gram(1.0, x, np.zeros((1, 1)))[:, 0]


def rank_deficient_programme():
    """A QP whose linear part is outside the range of K, so dependent vertices are exchanged."""
    rng = np.random.default_rng(1)
    B = rng.normal(size=(30, 3)) / 3
    return B @ B.T, 0.001 * rng.normal(size=30)


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_eigenvalues_and_axes_are_those_of_numpy(d):
    rng = np.random.default_rng(d)
    sizes = 10.0 ** rng.uniform(-6, 6, d)
    S = sizes[:, None] * np.cov(rng.normal(size=(d, 9))) * sizes if d > 1 else np.array([[-2.0]])
    for matrix in (S, S - np.diag(2.0 * S.diagonal()), np.zeros((d, d)), np.ones((d, d))):
        values, axes = _numba.eigen.eigen(matrix)
        size = np.abs(matrix).max() + 1e-300
        np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(matrix), atol=1e-14 * size)
        np.testing.assert_allclose((axes * values) @ axes.T, matrix, atol=1e-14 * size)
        np.testing.assert_allclose(axes @ axes.T, np.eye(d), atol=1e-14)


def test_powers_of_two_in_single_precision():
    x = np.append(np.linspace(-115.0, 0.0, 9_999), -1e9).astype(np.float32)
    found = np.array([_numba.exponential.exp2_32(number) for number in x])
    expected = 2.0 ** np.maximum(x.astype(float), -115.0)
    np.testing.assert_allclose(found, expected, rtol=1.3 * 2.0**-24)


@pytest.mark.parametrize("rates", [(0.5, 5.0, 50.0, 500.0), (0.5, 5.0, 7.0), (3.0,)], ids=str)
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_powers_of_exponentials_are_the_exponentials_of_all_scales(rates, precision):
    weights = 1.0 / np.array(rates)  # as in the adaptive kernel: errors of powers cancel
    groups = scale_groups(np.array([rates, weights / weights.sum()])).astype(precision)
    q, row = np.geomspace(1e-6, 1e6, 200).astype(precision), np.empty(200, precision)
    _numba.nested_scales.set_values(row, q, groups)
    exact = np.exp(-np.outer(q.astype(float), rates)) @ (weights / weights.sum())
    np.testing.assert_allclose(row, exact, atol=16 * np.finfo(precision).eps)


@pytest.mark.parametrize("programme", [wide_kernel_programme, rank_deficient_programme])
def test_compiled_simplex_qp_equals_its_python_source(programme, monkeypatch):
    K, c = programme()
    n = len(c)

    def solve():
        w, active = np.zeros(n), np.zeros(n, np.intp)
        return w, *_numba.simplex_qp.solve(K, c, w, np.zeros((n + 5, n)), active, 0, n, 0.0, 3)

    compiled = solve()
    oracles.run_by_python(_numba.simplex_qp, monkeypatch)
    python = solve()
    assert oracles.kkt_residual(K, c, python[0]) < 1e-12
    assert python[2:] == pytest.approx(compiled[2:], abs=1e-13)


@pytest.mark.parametrize(("d", "bits"), [(2, 1), (2, 4), (3, 3), (4, 2)])
def test_hilbert_curve_visits_each_cell_once_and_goes_to_a_neighbour(d, bits):
    cells = np.stack(np.meshgrid(*[np.arange(2**bits)] * d, indexing="ij"), -1).reshape(-1, d)
    keys = _numba.hilbert_keys.hilbert_keys(cells, bits)
    assert sorted(keys) == list(range(2 ** (bits * d)))
    steps = np.abs(np.diff(cells[np.argsort(keys)], axis=0)).sum(axis=1)
    assert (steps == 1).all()


def test_cells_of_the_hilbert_curve_are_logistic_functions_of_standardised_coordinates():
    x = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1e-300, 1e300] + [5.0, 0.0, 0.0]
    with np.errstate(over="ignore", under="ignore"):
        y = x / np.abs(x).max(axis=0)
    unit = expit((y - y.mean(axis=0)) / y.std(axis=0))
    cells = _numba.hilbert_keys.hilbert_cells(x, 20)
    np.testing.assert_allclose((cells + 0.5) * 2.0**-20, unit, atol=2.0**-20)


@pytest.mark.parametrize("K", [7, 150])
def test_components_are_chosen_by_inverse_transform(K):
    rng = np.random.default_rng(0)
    shares, u = rng.dirichlet(np.full(K, 0.3), 200), rng.random(200)
    shares[:, 2] = shares[:, -1] = 0.0
    u[:20], u[20:40] = 0.0, 1.0 - 2.0**-53
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares) + rng.normal(size=(200, 1)) * 100
    chosen, order = np.empty(len(u), np.intp), rng.permutation(K)
    _numba.resampling.choose_in_rows(chosen, log_shares, order, u)
    cumulative = np.cumsum(shares[:, order], axis=1)
    expected = order[(cumulative <= (u * cumulative[:, -1])[:, None]).sum(axis=1)]
    np.testing.assert_array_equal(chosen, expected)
    assert 2 not in chosen


@pytest.mark.parametrize("d", [1, 2, 3, 20, 70])
def test_hilbert_order_is_a_permutation_that_keeps_neighbours_together(d):
    rng = np.random.default_rng(d)
    x = rng.normal(size=(300, min(d, 3))) @ rng.normal(size=(min(d, 3), d))
    order = hilbert_order(x)
    assert sorted(order) == list(range(300))
    jump = np.linalg.norm(np.diff(x[order], axis=0), axis=1).mean()
    assert jump < 0.75 * np.linalg.norm(np.diff(x, axis=0), axis=1).mean()


def test_hilbert_order_of_identical_points_is_stable():
    np.testing.assert_array_equal(hilbert_order(np.ones((5, 2))), np.arange(5))


@pytest.mark.parametrize("prune", [0.0, 0.05])
def test_backward_weights_are_softmaxes_summed_over_neighbours(prune):
    logs = np.random.default_rng(0).normal(size=(5, 12)) * 3
    logs[2, 3] = -np.inf
    logs[3] -= 1e5
    shares = np.exp(logs - logsumexp(logs, axis=1, keepdims=True)).reshape(5, 4, 3).sum(axis=2)
    kept = np.where(shares < prune, 0.0, shares)
    expected = kept / kept.sum(axis=1, keepdims=True)
    compiled = backward_weights.backward_weights
    for function in (compiled, compiled.py_func):
        w, lost, dropped = function(logs.copy(), 3, prune)
        np.testing.assert_allclose(w, expected, atol=1e-14)
        np.testing.assert_allclose(lost, (shares - kept).sum(axis=1), atol=1e-14)
        np.testing.assert_array_equal(dropped, (shares < prune).sum(axis=1))
