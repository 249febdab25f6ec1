r"""The path of an iterate that takes in one vertex at a time: lines 4 to 6 of Algorithm 1.

.. math:: g_{k+1} = (1 - \gamma_k) g_k + \gamma_k \Phi(x^{(k+1)})

Its squared norm and its product with the mean element follow the same recursion, so the MMD costs
nothing.  The searches of line 3 walk many steps in one compiled call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skh._numba.compiling import compiled
from skh._typing import Array, Indices


class IterateHistory(NamedTuple):
    """What is known of the iterates g_0, g_1, ...; row k is complete before step k is taken."""

    steps: Array  # (n,): the step sizes; NaN for the one that minimises the MMD
    vertices: Indices  # (n + 1,): the search points that line 3 found
    g: Array  # (n + 1,): the iterate there
    mu: Array  # (n + 1,): the mean map there
    norm2: Array  # (n + 1,): the squared norm of the iterate
    inner: Array  # (n + 1,): its inner product with the mean element
    mmd2: Array  # (n + 1,): its squared distance to the mean element

    @classmethod
    def start(cls, steps: Array, first: int, mu: float, norm2: float) -> IterateHistory:
        """The history of g_0 = 0, whose vertex is ``first``, where the mean map is ``mu``."""
        n = len(steps)
        history = cls(steps, np.full(n + 1, first), *(np.zeros(n + 1) for _ in range(5)))
        history.mu[0], history.mmd2[0] = mu, norm2
        return history


@compiled
def take_step(history, k):
    """Step k: its size and the norms of the next iterate; False where the size is zero."""
    if np.isnan(history.steps[k]):
        history.steps[k] = best_step(
            history.norm2[k], history.inner[k], history.g[k], history.mu[k], k
        )
    step, keep = history.steps[k], 1.0 - history.steps[k]
    cross = 2 * keep * step * history.g[k]
    history.norm2[k + 1] = keep * keep * history.norm2[k] + cross + step * step
    history.inner[k + 1] = keep * history.inner[k] + step * history.mu[k]
    history.mmd2[k + 1] = history.norm2[k + 1] - 2 * history.inner[k + 1] + history.mmd2[0]
    return step != 0.0


@compiled
def best_step(norm2, inner, g, mu, k):
    """The step that minimises the MMD on the segment to a vertex where the iterate is g."""
    if k == 0:  # g_0 = 0 is no convex combination of vertices: all the way
        return 1.0
    slope, curvature = norm2 - inner - (g - mu), norm2 - 2 * g + 1.0
    return min(slope / curvature, 1.0) if slope > 0.0 and curvature > 0.0 else 0.0


@compiled
def look_at(history, k, vertex, g, mu):
    """Line 3 found this vertex for the iterate after k steps."""
    history.vertices[k], history.g[k], history.mu[k] = vertex, g, mu
