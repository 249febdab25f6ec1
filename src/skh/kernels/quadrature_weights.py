r"""Optimal weights on the simplex with a ridge and a minimum effective sample size (ESS).

With a wide kernel the optimal weights concentrate on a few points ("this phenomenon needs to be
carefully studied further", says the paper): the ESS :math:`1 / \|w\|^2` collapses, and with it the
next step of the filter.  A ridge on the weights,

.. math:: \min_w\; w^\top K w - 2 c^\top w + \rho \|w\|^2 \quad \text{on the simplex},

costs little MMD: where K is nearly singular, many weights, even ones too, are nearly optimal.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

import numpy as np

from skh._typing import Array
from skh.kernels.simplex_qp import solve_simplex_qp

RIDGE_GROWTH = 4.0  # factor of the ridge until the ESS is large enough


@lru_cache(maxsize=64)
def resolution(n: int, d: int) -> float:
    """Squared distance between neighbours among n points of unit spread in d dimensions.

    >>> resolution(100, 1), resolution(100, 2)
    (0.0001, 0.01)
    """
    return round(float(n ** (-2.0 / d)), 15)  # rounded, to compare equal to a scale such as 0.01


def effective_sample_size(w: Array) -> float:
    """Effective sample size of normalised weights."""
    return float(1.0 / (w @ w))


def protected_weights(K: Array, c: Array, ridge: float, min_ess: float) -> Array:
    """Optimal positive weights with at least this ``ridge`` and an ESS of at least ``min_ess`` n.

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
    """Mix in just enough equal weight for ESS >= ``min_ess`` n and w >= ``least`` / n."""
    n = len(w)
    even = 1.0 / n
    spread = float(w @ w) - even
    keep = 1.0
    if spread > 0.0 and min_ess > 0.0:
        keep = min(1.0, sqrt(even * (1.0 / min_ess - 1.0) / spread))
    if w.min() < least * even:
        keep = min(keep, (1.0 - least) / (1.0 - float(w.min()) / even))
    return keep * w + (1.0 - keep) * even
