"""Metrics of kernels in a few coordinates, where calls of NumPy take longer than the sums."""

from __future__ import annotations

from math import exp, log, sqrt

from skh._numba.cholesky import cholesky, invert_lower
from skh._numba.compiling import compiled
from skh._numba.eigen import eigen
from skh._numba.kernel_rows import transposed
from skh._numba.products import congruent, product, symmetric_product
from skh._numba.vectors import copy_rows

COARSE_INFORMATION = 4.0  # information along an axis that needs no additional points
CERTAIN = 1.0 - 1e-9  # below a bound by more than rounding


@compiled
def clip_information(seen, n):
    """Clip information along axes, in units of the mixture's own, to what n points can resolve.

    Information s along an axis distinguishes about sqrt(s) places, which multiply over axes.  Where
    these outnumber the points, as with a very precise sensor, so fine a kernel sees only single
    points and pulls them to the component means.  So the largest values are clipped at a common
    level: over the axes with s > c = `COARSE_INFORMATION`, the product of s / c is at most n^2 / 2.
    """
    budget, excess = log(n * n / 2.0), 0.0
    for s in seen:
        excess += log(max(s / COARSE_INFORMATION, 1.0))
    if excess < budget + log(CERTAIN):
        return
    # The axes above the level share the budget; each pass may take more axes below it.
    level, above, before = budget / seen.size, 0, -1
    while above != before:
        before, above, rest = above, 0, budget
        for s in seen:
            size = log(max(s / COARSE_INFORMATION, 1.0))
            if size > level:
                above += 1
            else:
                rest -= size
        level = rest / max(above, 1)
    for i in range(seen.size):
        seen[i] = min(seen[i], COARSE_INFORMATION * exp(max(level, 0.0)))


@compiled
def set_expected_metric(metric, L, F, unseen, n):
    """``L A diag(1 / (1 / unseen + s)) A' L'`` for eigenvalues s and axes A of ``L' F L``.

    The eigenvalues are clipped to what n points can resolve.
    """
    seen, axes = eigen(congruent(F, L))
    for k in range(seen.size):
        seen[k] = max(seen[k], 0.0)
    clip_information(seen, n)
    B = product(L, axes)
    for k in range(seen.size):
        size = sqrt(1.0 / unseen + seen[k])
        for i in range(len(B)):
            B[i, k] /= size
    copy_rows(metric, symmetric_product(B, transposed(B)))


@compiled
def set_unit_coordinates(L, T, metric):
    """Set the factor L (1, d, d) with L L' = metric, and its inverse T; False if singular."""
    regular = cholesky(L[0], metric)
    if regular:
        invert_lower(T, L)
    return regular
