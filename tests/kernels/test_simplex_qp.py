"""The quadratic programme on the simplex: optimality, and agreement with a general solver."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import oracles
import skh
from skh.kernels.simplex_qp import SimplexQP


def random_problem(seed, n, rank):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, rank)) / rank**0.5
    return B @ B.T, B @ rng.normal(size=rank) * rng.choice([0.1, 1.0, 5.0])


def general_solver(K, c):
    n = len(c)
    return minimize(
        lambda w: w @ K @ w - 2 * c @ w,
        np.full(n, 1 / n),
        jac=lambda w: 2 * (K @ w - c),
        bounds=[(0, 1)] * n,
        constraints=LinearConstraint(np.ones((1, n)), 1, 1),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )


def check(K, c):
    w = skh.solve_simplex_qp(K, c)
    assert oracles.kkt_residual(K, c, w) < 1e-9
    v = np.maximum(general_solver(K, c).x, 0)  # its solution is infeasible by 1e-9
    v /= v.sum()
    ours, general = (u @ K @ u - 2 * c @ u for u in (w, v))
    assert ours - 1e-13 <= general <= ours + 1e-8
    return w


@pytest.mark.parametrize("block", range(10))
def test_optimal_on_200_random_problems(block):
    for seed in range(20 * block, 20 * block + 20):
        n = 1 + seed % 40
        K, c = random_problem(seed, n, n)
        check(K, c)


@pytest.mark.parametrize("block", range(5))
def test_optimal_on_50_rank_deficient_problems(block):
    for seed in range(10 * block, 10 * block + 10):
        n = 10 + seed % 30
        K, c = random_problem(1000 + seed, n, 1 + seed % 9)
        check(K, c)
        c = 10.0 ** -(seed % 4) * np.random.default_rng(seed).normal(size=n)
        check(K, c)  # c outside the range of K: dependent vertices are exchanged


def test_unique_weights_equal_those_of_the_general_solver():
    K, c = random_problem(7, 12, 12)
    np.testing.assert_allclose(check(K, c), general_solver(K, c).x, atol=1e-6)


@pytest.mark.parametrize("variance", [1.0, 10.0, 1e4])
@pytest.mark.parametrize("d", [1, 2])
def test_optimal_on_numerically_singular_gram_matrices(variance, d):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, d))
    kernel = skh.GaussianKernel(variance)
    K, c = kernel.gram(x, x), kernel.gram(x, rng.normal(size=(500, d))).mean(1)
    assert np.linalg.matrix_rank(K) < 150
    assert oracles.kkt_residual(K, c, skh.solve_simplex_qp(K, c)) < 1e-12


def test_repeated_vertices():
    K = np.ones((5, 5))
    assert (
        oracles.kkt_residual(K, np.full(5, 0.3), skh.solve_simplex_qp(K, np.full(5, 0.3))) < 1e-15
    )


def test_growing_problem_equals_the_problem_solved_at_once():
    K, c = random_problem(3, 30, 20)
    scale = np.abs(K).max()
    K, c = K / scale, c / scale
    qp = SimplexQP(30)
    for n in range(1, 31):
        qp.add(K[n - 1, :n], c[n - 1])
        assert oracles.kkt_residual(K[:n, :n], c[:n], qp.w[:n]) < 1e-12
        assert set(qp.active) == set(np.flatnonzero(qp.w))
        w = skh.solve_simplex_qp(K[:n, :n], c[:n])
        assert qp.objective == pytest.approx(w @ K[:n, :n] @ w - 2 * c[:n] @ w, abs=1e-12)


@pytest.mark.parametrize(
    ("K", "c"), [(np.eye(2), np.ones(3)), (np.ones((2, 3)), np.ones(2)), (np.eye(0), np.ones(0))]
)
def test_wrong_shapes_are_rejected(K, c):
    with pytest.raises(ValueError, match=r"K must be \(n, n\) and c \(n,\)"):
        skh.solve_simplex_qp(K, c)
