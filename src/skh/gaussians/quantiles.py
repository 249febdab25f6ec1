r"""Quantiles of the coordinates of a Gaussian mixture.

Each coordinate has the distribution function
:math:`F(x) = \sum_i \pi_i \Phi((x - \mu_i) / \sigma_i)`, a step where :math:`\sigma_i = 0`, and the
quantile of level q is the least x with :math:`F(x) \ge q`.  It is found by bisection, for levels
above one half with the tail :math:`1 - F`, which is small there and so has all its digits.
Floating-point numbers are bisected in their order, not by their size: 64 halvings
find the least one in any units, and the exact place of a point mass.
"""

from __future__ import annotations

import numpy as np
import scipy  # loads scipy.special on first use
from numpy.typing import NDArray

from skh._typing import Array

FARTHEST = 40.0  # standard deviations; the normal tail beyond is zero in double precision
SIGN = np.int64(-(2**63))  # the bits of -0.0
TINY = np.finfo(np.float64).tiny
Ranks = NDArray[np.int64]


def marginal_quantiles(w: Array, means: Array, deviations: Array, levels: Array) -> Array:
    """Quantiles (..., d) of mixtures with weights (K,), means and deviations (K, d)."""
    q = levels.ravel()
    found = [_quantiles(w, means[:, k], deviations[:, k], q) for k in range(means.shape[1])]
    return np.stack(found, axis=-1).reshape(*levels.shape, means.shape[1])


def _quantiles(w: Array, m: Array, s: Array, q: Array) -> Array:
    """Quantiles of a mixture in one dimension; level 0 and 1 are the ends of its support."""
    w, m, s = (a[w > 0.0] for a in (w, m, s))
    with np.errstate(over="ignore"):
        ends = np.nan_to_num([(m - FARTHEST * s).min(), (m + FARTHEST * s).max()])
    below, above = (np.full(len(q), rank) for rank in _order(ends.view(np.int64)))
    below -= 1  # a number that does not reach any level
    while (below + 1 < above).any():
        middle = (below & above) + ((below ^ above) >> 1)  # their sum may overflow
        reached = _reached(w, m, s, np.maximum(q, TINY), _order(middle).view(np.float64))
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    x = _order(above).view(np.float64)
    if s.any():
        x[q == 0.0], x[q == 1.0] = -np.inf, np.inf
    return x


def _reached(w: Array, m: Array, s: Array, q: Array, x: Array) -> NDArray[np.bool_]:
    """Whether F(x) >= q, for each of several x and q."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = (x[:, None] - m) / s
    z[np.isnan(z)] = np.inf  # at a point mass
    low = q <= 0.5
    mass = scipy.special.ndtr(np.where(low[:, None], z, -z)) @ w
    return np.asarray(np.where(low, mass >= q, mass <= 1.0 - q))


def _order(bits: Ranks) -> Ranks:
    """Map the bits of floats to integers in the order of the floats; its own inverse."""
    return np.where(bits >= 0, bits, SIGN - bits)
