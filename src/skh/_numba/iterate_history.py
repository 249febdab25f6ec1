r"""History of an iterate that adds one vertex per step: lines 4 to 6 of Algorithm 1.

.. math:: g_{k+1} = (1 - \gamma_k) g_k + \gamma_k \Phi(x^{(k+1)})

Its squared norm and its inner product with the mean element follow recursions of their own, so the
MMD costs O(1) per step.  The searches of line 3 do many steps in one compiled call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skh._numba.compiling import compiled
from skh._typing import Array, Indices


class IterateHistory(NamedTuple):
    """Records of the iterates g_0, g_1, ...; row k is complete before step k is taken."""

    steps: Array  # (n,): step sizes; NaN for the line search
    vertices: Indices  # (n + 1,): search points found by line 3
    g: Array  # (n + 1,): the iterate at the vertex
    mu: Array  # (n + 1,): the mean map at the vertex
    norm2: Array  # (n + 1,): squared norm of the iterate
    inner: Array  # (n + 1,): its inner product with the mean element
    mmd2: Array  # (n + 1,): its squared distance to the mean element

    @classmethod
    def start(cls, steps: Array, first: int, mu: float, norm2: float) -> IterateHistory:
        """The history of g_0 = 0; its vertex is ``first``, where the mean map is ``mu``."""
        n = len(steps)
        history = cls(steps, np.full(n + 1, first), *(np.zeros(n + 1) for _ in range(5)))
        history.mu[0], history.mmd2[0] = mu, norm2
        return history


@compiled
def take_step(history, k):
    """Set the size of step k and the norms of the next iterate; False if the size is zero."""
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
    """Line search: the step that minimises the MMD towards a vertex where the iterate is g."""
    if k == 0:  # g_0 = 0 is not a convex combination of vertices
        return 1.0
    slope, curvature = norm2 - inner - (g - mu), norm2 - 2 * g + 1.0
    return min(slope / curvature, 1.0) if slope > 0.0 and curvature > 0.0 else 0.0


@compiled
def look_at(history, k, vertex, g, mu):
    """Record the vertex found by line 3 after k steps, with the iterate and mean map there."""
    history.vertices[k], history.g[k], history.mu[k] = vertex, g, mu
