"""Maximum of a noisy evidence by regression: a quadratic through the values of many filters.

It needs nothing but filters, so it also serves models without transition densities, and those whose
transitions are narrower than the gaps of particles: gradients at fixed particles mislead there.
The box of the regression is so wide that the evidence falls by some standard deviations of its
noise: there values far apart tell the maximum best (Ionides and others, 2017, fit profiles so).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize on first use

from skh import _checks
from skh._typing import Array
from skh.inference.ascent import NOISY_OPTIMUM, SURFACE, Ascent, Step, Task
from skh.inference.bounds import Bounds
from skh.inference.local_evidence import inverse
from skh.inference.optimum import Optimum, with_more_particles
from skh.inference.problem import Problem, zero_evidence

FIRST_WIDTH, LARGEST_WIDTH = 0.5, 2.0  # of half the box, on a log or logit scale
LEAST_DROP, NOISES = 2.0, 3.0  # fall of the evidence to the sides: at least, in standard deviations
MOST_WIDENED = 3.0  # factor from one box to the next
SETTLED, INSIDE = 2, 0.9  # maxima well inside the box, one after the other, that end the search
OUTLIER = 1.5  # standard deviations from which a value counts less (Huber, 1964)
ROBUST_ROUNDS = 10


class Quadratic(NamedTuple):
    """``value + gradient u + u curvature u / 2`` within the box ``|u| <= 1``."""

    value: float
    gradient: Array  # (p,)
    curvature: Array  # (p, p)
    noise: float  # standard deviation of what it leaves

    def __call__(self, u: Array) -> float:
        """Evaluate it."""
        return float(self.value + self.gradient @ u + 0.5 * u @ self.curvature @ u)

    def maximum(self) -> Array:
        """Where it is largest in the box."""
        found = scipy.optimize.minimize(  # type: ignore[call-overload]
            lambda u: (-self(u), -(self.gradient + self.curvature @ u)),
            0.5 * np.sign(self.gradient),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-1.0, 1.0)] * len(self.gradient),
        )
        return np.asarray(found.x)

    @classmethod
    def of(cls, U: Array, f: Array) -> Quadratic:
        """Fit it to values at rows of U; those far off count less."""
        p = U.shape[1]
        i, j = np.triu_indices(p)
        A = np.column_stack([np.ones(len(U)), U, U[:, i] * U[:, j]])
        weights, spread = np.ones(len(f)), 0.0
        for _ in range(ROBUST_ROUNDS):
            root = np.sqrt(weights)
            c = np.linalg.lstsq(A * root[:, None], f * root, rcond=None)[0]
            off = np.abs(f - A @ c)
            spread = float(np.median(off)) / 0.6745  # that of a normal law
            weights = np.minimum(1.0, OUTLIER * spread / np.maximum(off, 1e-300))
        H = np.zeros((p, p))
        H[i, j] = c[1 + p :]
        return cls(float(c[0]), c[1 : 1 + p], H + H.T, spread)


@dataclass(frozen=True)
class Surface:
    """Fits quadratics to noisy evidence, with ``runs`` filters for each coefficient.

    The search of `skh.fit` where gradients tell nothing; it goes on with it by itself.

    >>> import skh
    >>> skh.Surface(runs=4)
    Surface(runs=4)
    """

    runs: int = 8

    def __post_init__(self) -> None:
        _checks.positive_int("runs", self.runs)

    def climb(self, task: Task, ascent: Ascent) -> Ascent:
        """Move the box until its middle is the maximum."""
        if ascent.search != SURFACE:
            ascent = replace(ascent, search=SURFACE, maxima=(), scales=None, outcome="")
        return task.iterate(ascent, lambda ascent: self._step(task, ascent))

    def _step(self, task: Task, ascent: Ascent) -> Ascent:
        """Fit a quadratic, and move to its maximum."""
        h = first_widths(task.bounds, ascent)
        q = self._fitted(task, task.problem, ascent, h)
        u, widest = q.maximum(), np.where(task.bounds.unbounded, np.inf, LARGEST_WIDTH)
        z, widths = ascent.z + h * u, np.minimum(h * widening(q), widest)
        record = Step(task.named(ascent.z), q.value, q(u) - q.value, float(h.max()))
        maxima = (*ascent.maxima, z) if np.abs(u).max() < INSIDE else ()
        ascent = replace(ascent, z=z, maxima=maxima, scales=widths, log_evidence=q(u))
        ascent = replace(ascent, steps=(*ascent.steps, record))
        outcome = NOISY_OPTIMUM if len(maxima) == SETTLED else task.given_up(ascent)
        return replace(ascent, outcome=outcome)

    def _fitted(self, task: Task, problem: Problem, ascent: Ascent, h: Array) -> Quadratic:
        """Run filters with seeds of their own all over the box."""
        p, step = len(h), len(ascent.steps)
        size = self.runs * (p + 1) * (p + 2) // 2
        U = hypercube(size, p, np.random.default_rng([problem.seed, step]))
        seeds = [(problem.seed + size * step + k) % 2**63 for k in range(size)]
        filters = [problem.other(seed=seed) for seed in seeds]
        f = task.work.each(filters, [task.named(ascent.z + h * u) for u in U]).sum(axis=1)
        possible = np.isfinite(f)
        if possible.sum() < size / 2:
            raise zero_evidence(task.named(ascent.z))
        return Quadratic.of(U[possible], f[possible])

    def optimum(self, task: Task, ascent: Ascent) -> Optimum:
        """Fit a last quadratic, and one of filters with more particles."""
        h, more = first_widths(task.bounds, ascent), with_more_particles(task.problem)
        q, there = (self._fitted(task, by, ascent, h) for by in (task.problem, more))
        covariance = np.outer(h, h) * inverse(-q.curvature)
        top, u = q(q.maximum()), there.maximum()
        return Optimum(top, covariance, abs(there(u) - top), h * u, False, q.noise)


def hypercube(size: int, p: int, rng: np.random.Generator) -> Array:
    """Latin hypercube: ``size`` points of (-1, 1)^p, evenly spaced in each coordinate."""
    order = np.column_stack([rng.permutation(size) for _ in range(p)])
    return (2.0 * order + 1.0) / size - 1.0


def first_widths(bounds: Bounds, ascent: Ascent) -> Array:
    """Half widths of the box."""
    if ascent.scales is not None:
        return ascent.scales
    size = np.where(ascent.z == 0.0, 1.0, np.abs(ascent.z))
    return FIRST_WIDTH * np.where(bounds.unbounded, size, 1.0)


def widening(q: Quadratic) -> Array:
    """Factors of the widths after which the evidence falls as it should to each side."""
    drop = max(LEAST_DROP, NOISES * q.noise)
    fall = np.maximum(-0.5 * np.diagonal(q.curvature), 1e-3 * drop)
    return np.clip(np.sqrt(drop / fall), 1 / MOST_WIDENED, MOST_WIDENED)
