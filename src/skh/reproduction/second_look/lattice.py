r"""A filter on lattices, far more exact than particles: the reference of sharp models up to d = 4.

The filtering density at t is known at the points of a lattice that covers its support.  One step is

.. math::

    p(x | y_{0:t}) \propto p(y_t | x) \sum_i w_i\, \mathcal N(x | f(x_i), Q)

at the points of a new lattice, and sums over a lattice integrate smooth densities with an error
that decreases exponentially in 1/spacing^2 (Gaussian of unit deviation, spacing 1: 3e-9).  The new
lattice is scaled by moments of a tempered importance sample, shifted at random, and grown from the
sample's best points to all neighbours with more than exp(-`CUTOFF`) of the highest density.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy.special import logsumexp

from skh._typing import Array, Indices
from skh.filtering.model_protocols import Model, predictive
from skh.gaussians.linear_algebra import mixture_moments
from skh.gaussians.mixture import GaussianMixture

CUTOFF = 18.0  # log of the density, relative to the highest, below which a point is left out
SEED_DEPTH = 12.0  # the same, for points of the sample from which the lattice is grown
FIRST_SAMPLE = 4_000  # points from the predictive
SAMPLE = 2_000  # points of each further importance sample
TEMPERED_ESS = 0.1  # smallest share of effective points when a likelihood is tempered
MOST_TEMPERINGS = 40
STALLED = 1.3  # a power that grows by less calls for a closer look at the best points,
BEST = 20  # so many of them,
ZOOM = 0.25  # with this factor on the covariance of the predictive, each time
WIDENED = 2.0  # factor on the covariance of a proposal
BLOCK = 1 << 22  # numbers per block of a matrix
LONGEST = 1 << 14  # half of the most lattice points along one axis

LogDensity = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Weighted:
    """Points of a lattice with the filtering density's weights."""

    x: Array
    w: Array
    log_evidence_increment: float


def lattice_filter(
    model: Model, ys: Array, seed: int, *, fineness: float = 1.0, spacing: Array | None = None
) -> tuple[Array, float]:
    """Filtered means (T, d) and the log-evidence.

    ``fineness`` is the spacing in standard deviations of the posterior; ``spacing`` (d,) fixes it
    in the units of the state instead, for posteriors that are not of one piece.
    """
    rng = np.random.default_rng(seed)
    p, means, log_evidence = model.prior(), [], 0.0
    for t, y in enumerate(ys):
        found = one_step(model, t, y, p, rng, fineness, spacing)
        means.append(found.w @ found.x)
        log_evidence += found.log_evidence_increment
        p = predictive(model.transition(t, found.x), found.w)
    return np.array(means), log_evidence


def one_step(
    model: Model,
    t: int,
    y: Array,
    p: GaussianMixture,
    rng: np.random.Generator,
    fineness: float = 1.0,
    spacing: Array | None = None,
) -> Weighted:
    """Filter one observation, given the predictive mixture ``p``."""
    before = log_density_of(p)

    def likelihood(x: Array) -> Array:
        return model.log_likelihood(t, x, y)

    if spacing is not None:
        x, _ = p.sample(FIRST_SAMPLE, rng=rng)
        seeds, basis = _above([(x, before(x) + likelihood(x))], SEED_DEPTH), np.diag(spacing)
    else:
        seeds, covariance = explore(p, before, likelihood, rng)
        basis = np.asarray(fineness * np.linalg.cholesky(covariance), dtype=np.float64)
    x, log_f = grow(lambda x: before(x) + likelihood(x), seeds, basis, rng)
    total = float(logsumexp(log_f))
    log_volume = float(np.linalg.slogdet(basis)[1])
    return Weighted(x, np.exp(log_f - total), total + log_volume)


def log_density_of(p: GaussianMixture) -> LogDensity:
    """The log-density of a mixture with one covariance, in blocks."""
    W = np.linalg.inv(np.linalg.cholesky(p.matrices))
    centre = p.mean
    some = p.weights > 0.0
    means = (p.means[some] - centre) @ W.T
    height = np.log(p.weights[some]) - 0.5 * (means**2).sum(axis=1)
    constant = float(np.linalg.slogdet(W)[1]) - 0.5 * p.d * log(2 * pi)
    rows = max(BLOCK // len(p), 1)

    def block(x: Array) -> Array:
        u = (x - centre) @ W.T
        exponents = u @ means.T
        exponents += height
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        sums = np.exp(exponents, out=exponents).sum(axis=1)
        return np.asarray(np.log(sums) + top - 0.5 * (u**2).sum(axis=1) + constant)

    return lambda x: np.concatenate([block(x[i : i + rows]) for i in range(0, len(x), rows)])


def explore(
    p: GaussianMixture, before: LogDensity, likelihood: LogDensity, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Points of high posterior density, and the posterior covariance.

    Importance sampling of ``p`` times a power of the likelihood, which increases to one.  Where it
    does not increase, between the floor of a likelihood and its peak, the next sample is taken
    around the best points so far, ever more closely.
    """
    x, _ = p.sample(FIRST_SAMPLE, rng=rng)
    log_p, log_l = before(x), likelihood(x)
    log_q, seen = log_p, [(x, log_p + log_l)]
    last, zooms, most, scale = 0.0, 0, 0.0, p.covariance
    for _ in range(MOST_TEMPERINGS):
        power, w = temper(log_p - log_q, log_l)
        mean, covariance = mixture_moments(w, x, np.zeros((len(x), p.d, p.d)))
        if power == 1.0 and len(seen) > 1:
            return _above(seen, SEED_DEPTH), covariance
        if power > most:  # as narrow as a Gaussian's would become
            most, scale = power, power * covariance
        proposal = GaussianMixture([1.0], mean[None], WIDENED * covariance)
        if power < STALLED * last:
            zooms += 1
            best = _above(seen, 0.0, at_least=BEST)
            proposal = GaussianMixture(np.ones(BEST), best, ZOOM**zooms * p.covariance)
        last = power
        x, _ = proposal.sample(SAMPLE, rng=rng)
        log_p, log_l, log_q = before(x), likelihood(x), log_density_of(proposal)(x)
        seen.append((x, log_p + log_l))
    return _above(seen, SEED_DEPTH), np.asarray(scale)


def _above(seen: list[tuple[Array, Array]], depth: float, at_least: int = 1) -> Array:
    """The points at most ``depth`` below the highest log-density, or the best ``at_least``."""
    x, log_f = (np.concatenate(part) for part in zip(*seen, strict=True))
    enough = np.sort(log_f)[-at_least]
    return np.asarray(x[log_f >= min(enough, log_f.max() - depth)])


def temper(base: Array, log_l: Array) -> tuple[float, Array]:
    """The largest power of the likelihood with enough effective points, and their weights."""

    def weights(power: float) -> Array:
        log_w = base + power * log_l
        w = np.exp(log_w - log_w.max())
        return np.asarray(w / w.sum())

    low, high = 0.0, 1.0
    enough = TEMPERED_ESS * len(base)
    if 1 / (weights(1.0) ** 2).sum() >= enough:
        return 1.0, weights(1.0)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 / (weights(middle) ** 2).sum() >= enough else (low, middle)
    return low, weights(low)


def grow(
    log_f: LogDensity, seeds: Array, basis: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Points of a randomly shifted lattice where the density is not negligible, and its logarithm.

    Columns of ``basis`` span the lattice.
    """
    d = len(basis)
    origin = seeds.mean(axis=0) + basis @ rng.random(d)
    place = np.int64(2 * LONGEST) ** np.arange(d)  # of an axis in the number of a point
    neighbours = np.concatenate([place, -place])

    def points(numbers: Indices) -> Array:
        k = numbers[:, None] // place % (2 * LONGEST) - LONGEST
        return np.asarray(origin + k @ basis.T)

    k = np.rint(np.linalg.solve(basis, (seeds - origin).T).T).astype(np.int64)
    frontier = np.unique((k + LONGEST) @ place)
    known, heights, highest = frontier[:0], np.empty(0), -np.inf
    while len(frontier):
        new = log_f(points(frontier))
        highest = max(highest, float(new.max()))
        known, heights = np.concatenate([known, frontier]), np.concatenate([heights, new])
        kept = frontier[new > highest - CUTOFF]
        around = np.unique((kept[:, None] + neighbours).ravel())
        frontier = np.setdiff1d(around, known, assume_unique=True)
    kept = heights > highest - CUTOFF
    return points(known[kept]), heights[kept]
