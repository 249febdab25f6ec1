r"""Weights that cannot collapse: the quadratic programme of FCFW with a floor under the ESS.

With a wide kernel the best weights on the simplex put everything on a few points ("this phenomenon
needs to be carefully studied further", says the paper): the effective sample size
:math:`1 / \|w\|^2` collapses, and with it the next step of the filter.  A ridge on the weights,

.. math:: \min_w\; w^\top K w - 2 c^\top w + \rho \|w\|^2 \quad \text{on the simplex},

costs next to nothing in MMD: where K is nearly singular many weights are nearly as good, and the
ridge takes the most even of them.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from skh._typing import Array
from skh.kernels.simplex_qp import solve_simplex_qp

RIDGE_GROWTH = 4.0  # of the ridge until the floor is reached


def resolution(n: int, d: int) -> float:
    """The squared distance between neighbours among n points of unit spread in d dimensions.

    >>> resolution(100, 1), resolution(100, 2)
    (0.0001, 0.01)
    """
    return round(float(n ** (-2.0 / d)), 15)  # so that 100 points reach a scale of 0.01, not 0.1


def effective_sample_size(w: Array) -> float:
    """The effective sample size of weights that sum to one."""
    return float(1.0 / (w @ w))


def protected_weights(K: Array, c: Array, ridge: float, min_ess: float) -> Array:
    """The best weights with a ridge of at least ``ridge`` and an ESS of ``min_ess`` n, all > 0.

    >>> K, c = np.eye(2), np.array([2.0, 0.5])  # without protection: (1, 0)
    >>> protected_weights(K, c, 0.0, 0.8).round(2)
    array([0.64, 0.36])
    """
    n = len(c)
    while True:
        w = solve_simplex_qp(K + ridge * np.eye(n), c)
        w = w / w.sum()
        if effective_sample_size(w) >= min_ess * n or ridge > 64.0:
            return mix_with_equal_weights(w, min_ess)
        ridge = max(ridge * RIDGE_GROWTH, 1e-12)


def mix_with_equal_weights(w: Array, min_ess: float, least: float = 1e-3) -> Array:
    """``w`` blended with equal weights by as little as the floor, and no weight zero, demand."""
    n = len(w)
    even = 1.0 / n
    spread = float(w @ w) - even
    keep = 1.0
    if spread > 0.0 and min_ess > 0.0:
        keep = min(1.0, sqrt(even * (1.0 / min_ess - 1.0) / spread))
    if w.min() < least * even:
        keep = min(keep, (1.0 - least) / (1.0 - float(w.min()) / even))
    return keep * w + (1.0 - keep) * even
