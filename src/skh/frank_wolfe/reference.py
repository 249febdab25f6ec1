"""Algorithm 1 in plain NumPy, from the full Gram matrix: the oracle of the compiled steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.kernels.simplex_qp import solve_simplex_qp

# New weights f(k, w, j, K, mu) from the weights w before step k and the vertex j.
Update = Callable[[int, Array, int, Array, Array], Array]


def fw_quad(
    kernel: GaussianKernel, p: GaussianMixture, x: Array, n: int, update: Update
) -> tuple[Array, Array]:
    """Return weights (M,) of the search points ``x`` after ``n`` steps, and the squared MMDs (n,).

    >>> p = GaussianMixture([1.0], [[0.0]], 1.0)
    >>> w, mmd2 = fw_quad(GaussianKernel(1.0), p, p.sample(50, rng=0)[0], 5, herding)
    >>> w[w > 0], bool(mmd2[-1] < mmd2[0])
    (array([0.2, 0.2, 0.4, 0.2]), True)
    """
    K, mu, norm2 = kernel.gram(x, x), kernel.mean_map(p, x), kernel.mean_norm2(p)
    w, mmd2 = np.zeros(len(x)), np.empty(n)  # line 1
    for k in range(n):  # line 2
        j = int(np.argmin(K @ w - mu))  # line 3
        w = update(k, w, j, K, mu)  # lines 4 to 6
        mmd2[k] = w @ K @ w - 2 * w @ mu + norm2
    return w, mmd2  # line 8


def blended(w: Array, j: int, size: float) -> Array:
    """Line 6: shrink all weights by 1 - ``size`` and add ``size`` to the vertex."""
    w = (1.0 - size) * w
    w[j] += size
    return w


def herding(k: int, w: Array, j: int, K: Array, mu: Array) -> Array:
    """Line 4, option (1)."""
    return blended(w, j, 1 / (k + 1))


def open_loop(k: int, w: Array, j: int, K: Array, mu: Array) -> Array:
    """The step size 2/(k+2) of the paper's appendix G."""
    return blended(w, j, 2 / (k + 2))


def line_search(k: int, w: Array, j: int, K: Array, mu: Array) -> Array:
    """Line 5, option (2); the first step has size one, as g_0 = 0 is outside the polytope."""
    direction = w - np.eye(len(w))[j]  # g_k - Phi(x), in weights
    slope, curvature = (K @ w - mu) @ direction, direction @ K @ direction
    return blended(w, j, 1.0 if k == 0 else float(np.clip(slope / curvature, 0.0, 1.0)))


def fully_corrective(k: int, w: Array, j: int, K: Array, mu: Array) -> Array:
    """Optimal weights of the active points and the new vertex."""
    active = np.union1d(np.flatnonzero(w), [j])
    corrected = np.zeros_like(w)
    corrected[active] = solve_simplex_qp(K[np.ix_(active, active)], mu[active])
    return corrected
