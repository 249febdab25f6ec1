"""Which vertex search an iterate gets: the fast one wherever single precision is enough."""

from __future__ import annotations

from skh.frank_wolfe.single_precision_search import SingleBlend, SingleCombine
from skh.frank_wolfe.vertex_search import (
    BlendingSearch,
    CombiningSearch,
    FullBlend,
    FullCombine,
    Target,
)

MIN_POINTS_FOR_ROWS = 2_500  # with fewer, rows in double precision fit the cache


def blending_search(target: Target, n: int) -> BlendingSearch:
    """Return the search for ``n`` steps that add one vertex at a time."""
    single = target.single
    return FullBlend(target) if single is None else SingleBlend(target, single, n)


def combining_search(target: Target, n: int) -> CombiningSearch:
    """Return the search for ``n`` steps that change all weights."""
    single = None if target.size < MIN_POINTS_FOR_ROWS else target.single
    return FullCombine(target, n) if single is None else SingleCombine(target, single, n)
