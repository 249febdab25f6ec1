"""The squared MMD as a function of all positions: its value and its gradient.

The constant, the squared norm of the mean element, is omitted.
"""

from __future__ import annotations

import numpy as np

from skh._numba.attraction import attraction
from skh._numba.compiling import compiled
from skh._numba.pair_forces import repulsion
from skh._numba.pairs_once import pair_values
from skh._numba.plane_pairs import repulsion_in_plane
from skh._numba.plane_table import values_in_plane
from skh._numba.vectors import dot, fill


@compiled
def energy(G, X, w, groups, A, b, heights, table, box):
    """Return the squared MMD without its constant; set ``G`` to its gradient.

    Sums are in the precision of ``groups`` (see `nested_scales`); for the rest see `attraction`.
    """
    for k in range(len(G)):
        fill(G[k], 0.0)
    pull = attraction(G, X, w, A, b, heights, table, box, groups)
    if table.ndim == 4:  # known at compile time
        return repulsion_in_plane(G, X, w, groups) - pull
    return repulsion(G, X, w, groups) - pull


@compiled
def squared_mmd(X, w, groups, A, b, heights, table, box):
    """`energy` without its gradient, in double precision."""
    pairs = pair_values(X, w, groups)
    if table.ndim == 2:
        return pairs - 2.0 * dot(w, values_in_plane(X, A, b, heights, table, box))
    slopes = np.empty(X.shape)  # unused
    return pairs - attraction(slopes, X, w, A, b, heights, table, box, groups)
