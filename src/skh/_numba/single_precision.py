"""Vertex search that rules points out in single precision and decides in double precision.

The error of the single-precision sums is bounded (`frank_wolfe.single_precision_search`); the few
points that may win within that bound are evaluated again in double precision.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import prange

from skh._numba.compiling import compiled, full_vectors, strict, summing
from skh._numba.exponential import ONE, ZERO, exp32
from skh._numba.extrema import first_lowest, lowest
from skh._numba.iterate_history import look_at, take_step
from skh._numba.kernel_rows import BLOCK, count_blocks, kernel_block, squared_distances
from skh._numba.partial_mean_map import mean_map_at

SINGLE_BLOCK = 4 * BLOCK  # points; they take half the memory or a quarter
LIKELY = 1.1  # points within LIKELY errors of the lowest gap are evaluated first
CHUNK = 64  # points that are compared together; divides a block
SINGLE = 2.0**-24  # relative rounding error in single precision


@compiled
def to_single(out, X, centre, scale):
    """``out = scale (X - centre)``, computed in double precision."""
    d, M = X.shape
    for b in prange(count_blocks(M)):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, M)
        for j in range(d):
            row, x, c = out[j, lo:hi], X[j, lo:hi], centre[j]
            for i in range(row.size):
                row[i] = scale * (x[i] - c)


@compiled
def set_two_squares(q, x, y, a, b):  # pragma: no cover - intrinsic
    """``q = (x - a)^2 + (y - b)^2``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        e, f = x[i] - a, y[i] - b
        q[i] = e * e + f * f


@compiled
def single_precision_squares(q, X, lo, hi, c):
    """`squared_distances`, faster in two dimensions, where the last bit differs."""
    if X.shape[0] == 2:
        set_two_squares(q, X[0, lo:hi], X[1, lo:hi], c[0], c[1])
    else:
        squared_distances(q, X, lo, hi, c)


@compiled
def blend_gap(gap, mu, q, keep, step, height, rate):  # pragma: no cover - intrinsic
    """``gap <- keep * gap - step * mu + height * exp(-rate * q)`` in single precision."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(gap.size):
        gap[i] = (keep * gap[i] - step * mu[i]) + height * exp32(-rate * q[i])


@compiled
def add_exp32(out, q, height, rate):  # pragma: no cover - intrinsic
    """``out += height * exp(-rate * q)`` in single precision."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(out.size):
        out[i] += height * exp32(-rate * q[i])


@compiled
def lowest_of(gap, q):
    """``min(gap)``; ``q`` is scratch."""
    half = (gap.size + 1) // 2
    low, high, folded = gap[:half], gap[half:], q[:half]
    folded[half - 1] = low[half - 1]  # unpaired if the size is odd
    for i in range(high.size):
        folded[i] = high[i] if high[i] < low[i] else low[i]
    return lowest(folded)


@summing
def any_below(gap, worst):
    """``any(gap <= worst)`` without a branch per point."""
    hits = ZERO
    for i in range(gap.size):
        hits += ONE if gap[i] <= worst else ZERO
    return hits > ZERO


@compiled
def find_below(found, gap, lows, first, last, size, worst):
    """Write the points of some blocks with gap <= worst to ``found``; return their number."""
    count, worst = 0, np.float32(worst)
    for b in range(first, last):
        if lows[b] > worst:
            continue
        for lo in range(b * size, min((b + 1) * size, gap.size), CHUNK):
            chunk = gap[lo : lo + CHUNK]
            if any_below(chunk, worst):
                for i in range(chunk.size):
                    if chunk[i] <= worst:
                        found[count] = lo + i
                        count += 1
    return count


@compiled
def points_below(gap, lows, size, worst):
    """``flatnonzero(gap <= worst)``, using the lowest gaps of the blocks."""
    found = np.empty(gap.size, np.intp)
    return found[: find_below(found, gap, lows, 0, lows.size, size, worst)]


@strict
def replay_four(r, s, t, u, keep, step):
    """`blend` all values of a row into g = 0, to the same bits; four rows, to hide latency."""
    e = f = g = h = 0.0
    for i in range(step.size):
        a, b = keep[i], step[i]
        e, f, g, h = a * e + b * r[i], a * f + b * s[i], a * g + b * t[i], a * h + b * u[i]
    return e, f, g, h


@compiled
def winner(points, X, mean_map, scales, centres, keep, step):
    """Argmin of the exact ``g - mu`` among some points, the first one in case of a tie.

    Also returns g, inf for no points, and mu there.  ``centres``, ``keep`` and ``step`` are the
    vertices and step sizes that make up g.
    """
    k = step.size
    rows, q = np.zeros((4, k)), np.empty(k)
    arg, value, mean = 0, np.inf, 0.0
    for first in range(0, points.size, 4):
        four = points[first : first + 4]
        for i in range(four.size):
            kernel_block(rows[i], q, centres, 0, k, X[:, four[i]], scales)
        g = replay_four(rows[0], rows[1], rows[2], rows[3], keep, step)
        for i in range(four.size):
            m = four[i]
            mu = mean_map_at(mean_map, m)
            gap, best = g[i] - mu, value - mean
            if gap < best or (gap == best and m < arg):
                arg, value, mean = m, g[i], mu
    return arg, value, mean


@compiled
def decide(args, values, means, gap, lows, error, X, mean_map, scales, centres, keep, step):
    """The argmin of the exact ``g - mu``, g and mu there and the number of points evaluated.

    ``args`` are the winners among the likely points of each thread's share.  As ``gap`` has an
    error of at most ``error``, the best of them usually rules out all other points; otherwise every
    point that is not ruled out is evaluated.
    """
    s = 0
    for i in range(1, args.size):
        ours, theirs = values[i] - means[i], values[s] - means[s]
        if ours < theirs or (ours == theirs and args[i] < args[s]):
            s = i
    worst = values[s] - means[s] + error
    if worst <= lows[first_lowest(lows)] + LIKELY * error:
        return args[s], values[s], means[s], 0
    points = points_below(gap, lows, SINGLE_BLOCK, worst)
    j, g, mu = winner(points, X, mean_map, scales, centres, keep, step)
    return j, g, mu, points.size


@compiled
def single_precision_steps(
    history, k, n, gap, lows, single, X, mean_map, scales, centres, keep, errors, shares, futile
):
    """`full_steps` in single precision, until a search needs more than ``futile`` exact kernels.

    ``gap`` is ``g - mu`` with an error of at most ``errors[k]`` after k steps; ``centres`` and
    ``keep`` record the steps.  Returns the number of steps and of exact kernels in the last search.
    """
    total, found = 0, np.empty((shares, gap.size), np.intp)
    args, counts = np.zeros(shares, np.intp), np.empty(shares, np.intp)
    values, means = np.empty(shares), np.empty(shares)
    while k < n and total <= futile and take_step(history, k):
        j, step = history.vertices[k], history.steps[k]
        c, keep[k] = single.X[:, j].copy(), 1.0 - step
        for i in range(X.shape[0]):
            centres[i, k] = X[i, j]
        error = next_error(errors[k], single, step, history.mmd2[k], history.mmd2[k + 1])
        k += 1
        errors[k], taken, kept, taking = error, centres[:, :k], keep[:k], history.steps[:k]
        for s in prange(shares):
            first, last = s * lows.size // shares, (s + 1) * lows.size // shares
            low = blend_blocks(gap, lows, first, last, single.X, single.mu, single.scales, c, step)
            worst = low + LIKELY * error
            counts[s] = find_below(found[s], gap, lows, first, last, SINGLE_BLOCK, worst)
            likely = found[s, : counts[s]]
            exact = winner(likely, X, mean_map, scales, taken, kept, taking)
            args[s], values[s], means[s] = exact
        j, g, mu, count = decide(
            args, values, means, gap, lows, error, X, mean_map, scales, taken, kept, taking
        )
        look_at(history, k, j, g, mu)
        for s in range(shares):
            count += counts[s]
        total = k * count
    return k, total


@compiled
def next_error(error, single, step, mmd2, next_mmd2):
    """Bound on the error of a gap after one more step; the gap itself is at most the MMD."""
    most = sqrt(max(mmd2, next_mmd2, 0.0))
    rounding = ((6 + single.scales.shape[1]) * most + 12 * step) * SINGLE
    return (1.0 - step) * error + step * (single.error + single.mu_error) + rounding


@compiled
def blend_blocks(gap, lows, first, last, X, mu, scales, c, step):
    """``gap <- (1 - step) gap + step (kernel - mu)`` in some blocks; return the lowest gap."""
    scratch = np.empty(SINGLE_BLOCK, np.float32)
    a, b = np.float32(1.0 - step), np.float32(step)
    mine = np.empty(last - first, np.float32)  # a thread's own: no false sharing
    for block in range(first, last):
        lo, hi = block * SINGLE_BLOCK, min((block + 1) * SINGLE_BLOCK, gap.size)
        q, out = scratch[: hi - lo], gap[lo:hi]
        single_precision_squares(q, X, lo, hi, c)
        blend_gap(out, mu[lo:hi], q, a, b, b * scales[1, 0], scales[0, 0])
        for s in range(1, scales.shape[1]):
            add_exp32(out, q, b * scales[1, s], scales[0, s])
        mine[block - first] = lowest_of(out, q)
    least = mine[0] if mine.size else np.float32(np.inf)
    for i in range(mine.size):
        least = min(least, mine[i])
        lows[first + i] = mine[i]
    return least
