"""The vertex search that rules points out in single precision.

Kernel values are computed in single precision, sixteen at a time where the processor can.  The
error of the sums is bounded (`frank_wolfe.single_precision_search`), and the few points that may
win within that bound are evaluated again in double precision.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import prange

from skh._numba.compiling import compiled, full_vectors, strict, summing
from skh._numba.exponential import ONE, ZERO, exp32
from skh._numba.extrema import lowest
from skh._numba.iterate_history import look_at, take_step
from skh._numba.kernel_rows import BLOCK, count_blocks, kernel_block, squared_distances

SINGLE_BLOCK = 4 * BLOCK  # the numbers are half or a quarter as long
LIKELY = 1.25  # errors above the least gap up to which points are looked at first
CHUNK = 64  # points that are looked at together; divides a block
SINGLE = 2.0**-24  # what an operation in single precision may be off


@compiled
def to_single(out, out_mu, X, mu, centre, scale):
    """``out = scale (X - centre)``, the centre taken off each coordinate in double precision.

    And ``out_mu = mu``.
    """
    d, M = X.shape
    for b in prange(count_blocks(M)):
        lo, hi = b * BLOCK, min((b + 1) * BLOCK, M)
        for j in range(d):
            row, x, c = out[j, lo:hi], X[j, lo:hi], centre[j]
            for i in range(row.size):
                row[i] = scale * (x[i] - c)
        for i in range(lo, hi):
            out_mu[i] = mu[i]


@compiled
def set_two_squares(q, x, y, a, b):  # pragma: no cover - intrinsic
    """``q = (x - a)^2 + (y - b)^2``: two coordinates in one pass."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(q.size):
        e, f = x[i] - a, y[i] - b
        q[i] = e * e + f * f


@compiled
def single_precision_squares(q, X, lo, hi, c):
    """`squared_distances`, faster in two dimensions at the cost of another last bit."""
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
    folded[half - 1] = low[half - 1]  # for an odd number of them
    for i in range(high.size):
        folded[i] = high[i] if high[i] < low[i] else low[i]
    return lowest(folded)


@summing
def any_below(gap, worst):
    """Whether any of some numbers is at most ``worst``: without a branch for each of them."""
    hits = ZERO
    for i in range(gap.size):
        hits += ONE if gap[i] <= worst else ZERO
    return hits > ZERO


@compiled
def find_below(found, gap, lows, first, last, size, worst):
    """Write down the points of some blocks whose gap is at most ``worst``; how many there are.

    ``lows`` has the least gap of each block of ``size`` points.
    """
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
    """The points of all blocks whose gap is at most ``worst``."""
    found = np.empty(gap.size, np.intp)
    return found[: find_below(found, gap, lows, 0, lows.size, size, worst)]


@strict
def replay_four(r, s, t, u, keep, step):
    """What `blend` makes of zero when it takes in four rows of kernel values, one value at a time.

    Four at once, since each must wait for its last result.
    """
    e = f = g = h = 0.0
    for i in range(step.size):
        a, b = keep[i], step[i]
        e, f, g, h = a * e + b * r[i], a * f + b * s[i], a * g + b * t[i], a * h + b * u[i]
    return e, f, g, h


@compiled
def winner(points, X, mu, scales, centres, keep, step):
    """Among some points the argmin of the exact ``g - mu``, the first one in case of a tie.

    Returns g there, infinite for no points, and the number of kernel evaluations as well.  The
    exact g has taken in the kernels at the columns of ``centres`` one after the other.
    """
    k = step.size
    rows, q = np.zeros((4, k)), np.empty(k)
    best, arg, value = np.inf, 0, np.inf
    for first in range(0, points.size, 4):
        four = points[first : first + 4]
        for i in range(four.size):
            kernel_block(rows[i], q, centres, 0, k, X[:, four[i]], scales)
        g = replay_four(rows[0], rows[1], rows[2], rows[3], keep, step)
        for i in range(four.size):
            m = four[i]
            gap = g[i] - mu[m]
            if gap < best or (gap == best and m < arg):
                best, arg, value = gap, m, g[i]
    return arg, value, k * points.size


@compiled
def decide(args, values, counts, gap, lows, error, X, mu, scales, centres, keep, step):
    """The argmin of the exact ``g - mu``, g there and the number of kernel evaluations.

    ``args`` are the winners among the likely points of each share, those up to LIKELY errors above
    its least gap.  The best of them is usually so low that no other point can be lower, as ``gap``
    is off by at most ``error``; otherwise all points are tried of which this is not certain.
    """
    s = 0
    for i in range(1, args.size):
        ours, theirs = values[i] - mu[args[i]], values[s] - mu[args[s]]
        if ours < theirs or (ours == theirs and args[i] < args[s]):
            s = i
    worst = values[s] - mu[args[s]] + error
    if worst <= lows.min() + LIKELY * error:
        return args[s], values[s], counts.sum()
    points = points_below(gap, lows, SINGLE_BLOCK, worst)
    return winner(points, X, mu, scales, centres, keep, step)


@compiled
def single_precision_steps(
    history, k, n, gap, lows, single, X, mu, scales, centres, keep, errors, shares, futile
):
    """`full_steps` in rough arithmetic, up to a step whose search evaluates too many kernels.

    ``gap`` is ``g - mu`` in single precision, off by at most ``errors[k]`` after k steps;
    ``centres`` and ``keep`` tell of all steps so far.  Returns the steps taken and the kernels
    evaluated after the last of them.
    """
    total, found = 0, np.empty((shares, gap.size), np.intp)
    args, values, counts = np.zeros(shares, np.intp), np.empty(shares), np.empty(shares, np.intp)
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
            count = find_below(found[s], gap, lows, first, last, SINGLE_BLOCK, worst)
            likely = found[s, :count]
            args[s], values[s], counts[s] = winner(likely, X, mu, scales, taken, kept, taking)
        j, g, total = decide(
            args, values, counts, gap, lows, error, X, mu, scales, taken, kept, taking
        )
        look_at(history, k, j, g, mu[j])
    return k, total


@compiled
def next_error(error, single, step, mmd2, next_mmd2):
    """What a gap may be off after one more step; the gap itself is at most the MMD."""
    most = sqrt(max(mmd2, next_mmd2, 0.0))
    rounding = ((6 + single.scales.shape[1]) * most + 12 * step) * SINGLE
    return (1.0 - step) * error + step * single.error + rounding


@compiled
def blend_blocks(gap, lows, first, last, X, mu, scales, c, step):
    """``gap <- (1 - step) gap + step (kernel - mu)`` in some blocks; the least of all of them."""
    scratch = np.empty(SINGLE_BLOCK, np.float32)
    a, b = np.float32(1.0 - step), np.float32(step)
    mine = np.empty(last - first, np.float32)  # one thread's, whose neighbours nobody else writes
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
