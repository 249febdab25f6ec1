"""The inverse of curvatures in near and far parts, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from skh._numba.curvature import (
    CURVATURE_DAMPING,
    MAX_LANDMARKS,
    curvature_factor,
    inverse_curvatures,
)
from skh._numba.lbfgs import precondition
from skh.kernels.scale_groups import scale_groups

SCALES = np.array([[50.0, 5.0, 0.5, 0.05, 0.2], [0.001, 0.009, 0.09, 0.8, 0.1]])
GROUPS = scale_groups(SCALES)
NOTHING = np.empty(0)


def dense(X: np.ndarray) -> np.ndarray:
    d, q = len(X), ((X[:, :, None] - X[:, None]) ** 2).sum(axis=0)
    K = sum(2 * r * a * (1 - 2 * r / d * q) * np.exp(-r * q) for r, a in SCALES.T)
    return np.asarray(K + CURVATURE_DAMPING * K[0, 0] * np.eye(len(q)))


def along_curve(n: int, d: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).normal(size=(d, n)), axis=1)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_factor_is_that_of_all_pairs(d: int) -> None:
    X = along_curve(20, d)
    L = np.tril(curvature_factor(X, GROUPS))
    np.testing.assert_allclose(L @ L.T, dense(X), atol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("n", [MAX_LANDMARKS - 5, 203])
def test_both_parts_are_nearly_the_inverse(d: int, n: int) -> None:
    X = along_curve(n, d)
    near, far = inverse_curvatures(X, GROUPS)
    w, v = np.linspace(1.0, 2.0, n) / n, np.random.default_rng(1).normal(size=(d, n))
    found = v.copy()
    precondition(found, w, near, far)
    expected = 0.5 * np.linalg.solve(dense(X), (v / w).T).T / w
    exact = n <= MAX_LANDMARKS  # all points are landmarks
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert error < (1e-4 if exact else 0.15)
    assert (found * v).sum() > 0.0


def test_points_without_weight_do_not_move() -> None:
    X, v, w = along_curve(30, 2), np.ones((2, 30)), np.full(30, 1 / 29)
    w[3] = 0.0
    for parts in ((curvature_factor(X, GROUPS), NOTHING), inverse_curvatures(X, GROUPS)):
        moved = v.copy()
        precondition(moved, w, *parts)
        np.testing.assert_array_equal(moved[:, 3], 0.0)
