"""The fit of `filtering.likelihood_information` to log-likelihoods: two Gaussian processes."""

from __future__ import annotations

from math import exp, log

import numpy as np

from skh._numba.compiling import compiled, inlined, strict
from skh._numba.eigen import eigen
from skh._numba.extrema import highest
from skh._numba.factor import factorize
from skh._numba.kernel_rows import set_exp, transposed
from skh._numba.products import congruent, product
from skh._numba.simplex_qp import backward, forward
from skh._numba.spreads import regular_root
from skh._numba.vectors import add_scaled, dot, fill, total, triple_dot

MAX_FITTED = 100  # number of particles that f is fitted to: the heaviest
MAX_CENTRES = 16  # number of those at which its curvature is evaluated: the heaviest
MAX_DEPTH = 30.0  # log-likelihoods further below the best get the same posterior weight
WHITENING_JITTER = 1e-3  # of each variance of the particles
UNEXPECTED_SHARE = 0.01  # least information expected in a direction, relative to the mean
MAX_INFORMATION = 1e30  # along a direction; its powers must not overflow
MIN_INFORMATION = 1e-3  # least total information expected
DEPTH_LIMIT = 1e12  # keeps squares finite
ACCURACY = 0.05  # of f, relative to 1 + depth below the best: the maximum matters most
SQUARED_LENGTH = 0.3  # of departures from a parabola, relative to the state's spread
REGRESSION_JITTER = 1e-12  # relative to the largest prior variance


@compiled
def relative_to_best(log_likelihood):
    """Subtract the largest log-likelihood; -inf becomes the smallest finite value."""
    top, least = highest(log_likelihood), 0.0
    level = np.empty(log_likelihood.size)
    for i in range(level.size):
        if log_likelihood[i] > -np.inf:
            level[i] = max(log_likelihood[i] - top, -DEPTH_LIMIT)
            least = min(least, level[i])
    for i in range(level.size):
        if not log_likelihood[i] > -np.inf:
            level[i] = least
    return level


@compiled
def largest_first(a, most):
    """Indices of at most so many of the largest numbers, in order; equal ones as they come."""
    kept, count = np.empty(min(most, a.size), np.intp), 0
    for i in range(a.size):
        if count < kept.size:
            count += 1
        elif not a[i] > a[kept[count - 1]]:
            continue
        k = count - 1
        while k > 0 and a[kept[k - 1]] < a[i]:
            kept[k] = kept[k - 1]
            k -= 1
        kept[k] = i
    return kept


@compiled
def centred_and_covariance(x, w):
    """Particles (n, d) less their mean, and their covariance."""
    (n, d), P = x.shape, np.zeros((x.shape[1], x.shape[1]))
    centred = x.copy()
    for j in range(d):
        mean = 0.0
        for i in range(n):
            mean += w[i] * x[i, j]
        for i in range(n):
            centred[i, j] -= mean
    for r in range(d):
        for c in range(r + 1):
            for i in range(n):
                P[r, c] += w[i] * centred[i, r] * centred[i, c]
            P[c, r] = P[r, c]
    return centred, P


@compiled
def set_information(F, x, w, log_likelihood, ascending, pooled, new):
    """Set ``F`` to the ``pooled`` information with a share ``new`` of what particles x add to it.

    The fit is to the heaviest particles, and its curvature that at the first of them.
    ``ascending`` are the sorted log-likelihoods.  Returns the second result of `mean_curvature`.
    """
    level, posterior = relative_to_best(log_likelihood), np.empty(w.size)
    for i in range(w.size):
        posterior[i] = w[i] * exp(max(level[i], -MAX_DEPTH))
    heaviest, middle = largest_first(posterior, MAX_FITTED), relative_to_best(ascending)
    depth = -0.5 * (middle[(w.size - 1) // 2] + middle[w.size // 2])
    centred, P = centred_and_covariance(x, w)
    L, T = regular_root(P, x, WHITENING_JITTER)
    m, d = heaviest.size, len(P)
    some, values, share = np.empty((d, m)), np.empty(m), np.empty(min(m, MAX_CENTRES))
    for k in range(m):
        values[k] = level[heaviest[k]]
        for j in range(d):
            some[j, k] = centred[heaviest[k], j]
    for k in range(share.size):
        share[k] = posterior[heaviest[k]]
    z, size = product(T, some), total(share)
    for k in range(share.size):
        share[k] /= size
    seen, axes = eigen(congruent(pooled, L))
    found, regular = fitted_information(z, values, seen, axes, depth, share, T)
    for i in range(d):
        for j in range(d):
            F[i, j] = (1.0 - new) * pooled[i, j] + new * found[i, j]
    return regular


@strict
def expected_information(seen, axes, depth):
    """The information S that the fit expects, given the eigenvalues and axes of that before.

    A likelihood of information S falls by about trace(S) / 2 over the spread of the particles.  If
    it falls by more, S must be raised for the fit to learn from it.
    """
    d, known, scaled = seen.size, 0.0, np.empty(axes.shape)
    for k in range(d):
        known += min(max(seen[k], 0.0), MAX_INFORMATION)
    total = max(known, depth, MIN_INFORMATION)
    if known <= MIN_INFORMATION:
        for k in range(d):
            for i in range(d):
                scaled[i, k] = total / d if i == k else 0.0
        return scaled
    for k in range(d):
        size = min(max(seen[k], 0.0), MAX_INFORMATION) * (total / known)
        for i in range(d):
            scaled[i, k] = axes[i, k] * (size + UNEXPECTED_SHARE * total / d)
    return product(scaled, transposed(axes))


@inlined
def fitted_information(z, values, seen, axes, depth, share, T):
    """The information of the function fitted to ``values`` at z, in the coordinates x = T^-1 z.

    Points z are (d, m).  The second result is that of `mean_curvature`.
    """
    S = expected_information(seen, axes, depth)
    moved = product(S, z)
    F, regular = mean_curvature(moved, product(transposed(z), moved), S, values, share)
    return congruent(F, T), regular


@inlined
def set_bumps(bumps, q, total, whole):
    """Set covariances of the departure from a parabola, for products ``q`` of the points.

    The lower triangle will do, but for some ``whole`` rows.
    """
    rate, height = 0.5 / (SQUARED_LENGTH * total), (1.0 + total) ** 2
    squares = np.empty(len(q))
    for i in range(len(q)):
        squares[i] = q[i, i]
    for i in range(len(q)):
        row = bumps[i] if i < whole else bumps[i, : i + 1]
        for j in range(row.size):
            row[j] = max(squares[i] + squares[j] - 2.0 * q[i, j], 0.0)
        set_exp(row, row, height, rate)


@compiled
def regression(A, values, alpha):
    """Set the coefficients of a Gaussian process with covariance ``A``, noise included.

    Return the log marginal likelihood, NaN if A is not positive definite; A becomes its factor.
    """
    n, evidence = len(A), 0.0
    if not factorize(A):
        return np.nan
    for i in range(n):
        evidence -= log(A[i, i])
        alpha[i] = values[i]
    forward(A, n, alpha)
    evidence -= 0.5 * dot(alpha, alpha)
    backward(A, n, alpha)
    return evidence


@inlined
def mean_curvature(moved, q, S, values, share):
    """Minus the mean Hessian of the likelier fit, at the first points, weighted by ``share``.

    ``moved`` (d, m) are the points times the metric ``S``, ``q`` (m, m) their products with the
    points.  The second result says whether both covariances were positive definite.
    """
    (d, m), trace = moved.shape, 0.0
    for j in range(d):
        trace += S[j, j]
    plain, bumps, bumpy = np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
    set_bumps(bumps, q, trace, share.size)
    largest = 0.0
    for i in range(m):
        for j in range(i + 1):
            plain[i, j] = 0.5 * (1.0 + trace + q[i, j]) ** 2
        largest = max(largest, plain[i, i])
    for i in range(m):
        plain[i, i] += (ACCURACY * (1.0 - values[i])) ** 2 + REGRESSION_JITTER * largest
        for j in range(i + 1):
            bumpy[i, j] = plain[i, j] + bumps[i, j]
    alpha, other, F = np.empty(m), np.empty(m), np.empty((d, d))
    fill(F.reshape(d * d), 0.0)
    evidence, other_evidence = regression(plain, values, alpha), regression(bumpy, values, other)
    if other_evidence > evidence:
        alpha = other
        add_bumps(F, moved, S, alpha, bumps, share, SQUARED_LENGTH * trace)
    for r in range(d):
        for c in range(d):
            F[r, c] -= triple_dot(alpha, moved[r], moved[c])
    return F, evidence + other_evidence == evidence + other_evidence


@inlined
def add_bumps(F, moved, S, alpha, bumps, share, length2):
    """Add the curvature of the departure from a parabola: of each bump S - e e' / length2.

    Here e = u - v for two points; the coefficients of v v' are added to ``alpha``.
    """
    d, m, sum_of_all = len(moved), alpha.size, 0.0
    weights, row, u, v = np.zeros(m), np.empty(m), np.empty(d), np.empty(d)
    for i in range(share.size):
        for j in range(m):
            row[j] = share[i] * bumps[i, j] * alpha[j] / length2
            weights[j] += row[j]
        size = total(row)
        for r in range(d):
            u[r], v[r] = moved[r, i], dot(row, moved[r])
        for r in range(d):
            for c in range(d):
                F[r, c] += (u[r] * v[c] + v[r] * u[c] - size * u[r] * u[c]) / length2
        sum_of_all += size
    for j in range(m):
        alpha[j] += weights[j] / length2
    for r in range(d):
        add_scaled(F[r], S[r], sum_of_all)
