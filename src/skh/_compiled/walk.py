r"""The path of an iterate that takes in one vertex at a time: lines 4 to 6 of Algorithm 1.

.. math:: g_{k+1} = (1 - \gamma_k) g_k + \gamma_k \Phi(x^{(k+1)})

Its squared norm and its product with the mean element follow the same recursion, so the MMD costs
nothing.  The searches of line 3 walk many steps in one compiled call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from skh._compiled.base import compiled, count_blocks, first_gap, step_blocks
from skh._typing import Array, Indices


class Walk(NamedTuple):
    """What is known of the iterates g_0, g_1, ...; row k is complete before step k is taken."""

    steps: Array  # (n,): the step sizes; NaN for the one that minimises the MMD
    vertices: Indices  # (n + 1,): the search points that line 3 found
    g: Array  # (n + 1,): the iterate there
    mu: Array  # (n + 1,): the mean map there
    norm2: Array  # (n + 1,): the squared norm of the iterate
    inner: Array  # (n + 1,): its inner product with the mean element
    mmd2: Array  # (n + 1,): its squared distance to the mean element

    @classmethod
    def start(cls, steps: Array, first: int, mu: float, norm2: float) -> Walk:
        """The walk from g_0 = 0, whose vertex is ``first``, where the mean map is ``mu``."""
        n = len(steps)
        walk = cls(steps, np.full(n + 1, first), *(np.zeros(n + 1) for _ in range(5)))
        walk.mu[0], walk.mmd2[0] = mu, norm2
        return walk


@compiled
def take_step(walk, k):
    """Step k: its size and the norms of the next iterate; False where the size is zero."""
    if np.isnan(walk.steps[k]):
        walk.steps[k] = best_step(walk.norm2[k], walk.inner[k], walk.g[k], walk.mu[k], k)
    step, keep = walk.steps[k], 1.0 - walk.steps[k]
    cross = 2 * keep * step * walk.g[k]
    walk.norm2[k + 1] = keep * keep * walk.norm2[k] + cross + step * step
    walk.inner[k + 1] = keep * walk.inner[k] + step * walk.mu[k]
    walk.mmd2[k + 1] = walk.norm2[k + 1] - 2 * walk.inner[k + 1] + walk.mmd2[0]
    return step != 0.0


@compiled
def best_step(norm2, inner, g, mu, k):
    """The step that minimises the MMD on the segment to a vertex where the iterate is g."""
    if k == 0:  # g_0 = 0 is no convex combination of vertices: all the way
        return 1.0
    slope, curvature = norm2 - inner - (g - mu), norm2 - 2 * g + 1.0
    return min(slope / curvature, 1.0) if slope > 0.0 and curvature > 0.0 else 0.0


@compiled
def look_at(walk, k, vertex, g, mu):
    """Line 3 found this vertex for the iterate after k steps."""
    walk.vertices[k], walk.g[k], walk.mu[k] = vertex, g, mu


# --- the full search, at all points --------------------------------------------------------------


@compiled
def full_steps(walk, k, n, g, mu, X, scales, shares):
    """Steps k to n, each followed by its search: how many have then been taken.

    The blocks are dealt out in as many shares as there are threads; the result is the same.
    """
    lows = np.empty(count_blocks(g.size))
    while k < n and take_step(walk, k):
        c, step = X[:, walk.vertices[k]].copy(), walk.steps[k]
        for s in prange(shares):
            first, last = s * lows.size // shares, (s + 1) * lows.size // shares
            step_blocks(lows, first, last, g, mu, X, c, scales, step)
        k, vertex = k + 1, first_gap(g, mu, lows)
        look_at(walk, k, vertex, g[vertex], mu[vertex])
    return k


@compiled
def catch_up(walk, k, g, mu, X, scales):
    """The first k steps of a walk whose vertices are known."""
    lows = np.empty(count_blocks(g.size))
    for i in range(k):
        c = X[:, walk.vertices[i]].copy()
        step_blocks(lows, 0, lows.size, g, mu, X, c, scales, walk.steps[i])
