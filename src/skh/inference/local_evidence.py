"""The log-evidence around one point of the parameters: values, gradient, curvature.

Where transitions have densities it is that of `FixedParticles`, which is smooth; elsewhere it is
that of the filter run anew with the same random numbers, which jumps by a few thousandths, so that
differences are taken over a large part of a standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skh._typing import Array
from skh.gaussians.linear_algebra import symmetric
from skh.inference.bounds import Bounds
from skh.inference.fixed_particles import FixedParticles, has_densities
from skh.inference.problem import Problem, described
from skh.inference.work import Work

RIDGE = 1e-8  # of the scores' products, so that parameters without influence do not divide by zero
MOST_SCALINGS = 40  # tenfold, in search of a change of the parameter that the evidence shows
FLAT = 0.7  # standard error, nearly a factor of two, of a parameter that hardly matters
FAR_STEPS = (-4.0, -2.0, 2.0, 4.0)  # where else it is tried, on its log or logit scale
SCORE_STEP = 0.3  # standard errors over which gradients are compared
LARGEST_DROP = 3.0  # of the log-evidence over such a step: the filter there has lost the state
SHOWN, LARGE = 0.01, 1.0  # changes of the log-evidence between which a step is right to begin with
HARDLY, JUMPS = (-2e-9, -1e-9, 1e-9, 2e-9), 3.0  # steps that show jumps; so many times are no jump


LogPrior = Callable[[Array], float]  # of free coordinates


class JumpsError(ValueError):
    """The log-evidence jumps by more than differences can bear."""


def no_prior(z: Array) -> float:
    """Return 0: maximum likelihood."""
    return 0.0


class Steps(NamedTuple):
    """Lengths of differences in standard errors, and the gain below which an optimum is reached."""

    gradient: float
    curvature: float
    tolerance: float


SMOOTH = Steps(1e-4, 0.1, 1e-3)
JUMPING = Steps(0.3, 0.7, 1e-2)


@dataclass(frozen=True, eq=False)
class LocalEvidence:
    """The log-evidence around free coordinates ``z``, where a filter was run."""

    bounds: Bounds
    z: Array
    base: Array  # (T + 1,), the increments of the log-evidence at z, and the log-prior
    local: FixedParticles | Problem
    work: Work
    steps: Steps
    log_prior: LogPrior = no_prior

    @property
    def log_evidence(self) -> float:
        """The log-evidence at z."""
        return float(self.base.sum())

    @classmethod
    def at(
        cls,
        problem: Problem,
        bounds: Bounds,
        z: Array,
        work: Work,
        log_prior: LogPrior = no_prior,
        *,
        jumping: bool = False,
    ) -> LocalEvidence | None:
        """Run the filter at ``z``; None where the evidence is zero.

        ``jumping``: run it anew for other parameters, even if transitions have densities.
        """
        values = bounds.named(z)
        smooth = not jumping and has_densities(problem.model(values))
        result = problem.run(values, history=smooth)
        work.count(result)
        if result is None or not np.isfinite(result.log_evidence):
            return None
        local: FixedParticles | Problem = problem
        if smooth and result.history is not None:
            local = FixedParticles.of(problem, values, result.history)
            work.n_likelihood_evaluations += local.n_likelihood_evaluations
        base = np.append(result.log_evidence_increments, log_prior(z))
        return cls(bounds, z, base, local, work, SMOOTH if smooth else JUMPING, log_prior)

    def increments(self, Z: Iterable[Array]) -> Array:
        """Increments of the log-evidence at some free coordinates and the log-prior, (m, T + 1)."""
        Z = list(Z)
        rows = self.work.map(self.local, [self.bounds.named(z) for z in Z])
        return np.column_stack([rows, [self.log_prior(z) for z in Z]])

    def values(self, Z: Iterable[Array]) -> Array:
        """The log-evidence at some free coordinates, (m,)."""
        return np.asarray(self.increments(Z).sum(axis=1))

    def scales(self) -> Array:
        """Changes of each coordinate by which the log-evidence changes, but not by much."""
        shown = max(SHOWN, JUMPS * self._jump())
        return np.array([self._scale(k, shown) for k in range(len(self.z))])

    def _jump(self) -> float:
        """By how much the log-evidence changes where parameters hardly do."""
        if self.steps is SMOOTH:
            return 0.0
        size = np.where(self.bounds.unbounded, np.abs(self.z), 1.0)
        beside = [self.z + h * size for h in HARDLY]
        return float(np.abs(self.values(beside) - self.log_evidence).max())

    def _scale(self, k: int, shown: float) -> float:
        step = 0.1 * (abs(self.z[k]) or 1.0) if self.bounds.unbounded[k] else 0.1
        axis, factor = np.eye(len(self.z))[k], 10.0
        direction, jump = 0, 0.0
        for _ in range(MOST_SCALINGS):
            change = abs(self.values([self.z + step * axis])[0] - self.log_evidence)
            towards = 1 if change < shown else -1 if not change <= LARGE else 0
            if towards == 0:
                return float(step)
            if towards == -direction:  # jumped over: be finer
                factor = factor**0.5
            direction, jump = towards, change if towards < 0 else jump
            step *= factor**towards
        name, place = self.bounds.names[k], described(self.bounds.named(self.z))
        if jump > 0:
            raise JumpsError(
                f"the log-evidence jumps by {jump:.2g} beside {name} near {place}: "
                "use more particles, or start elsewhere"
            )
        raise ValueError(
            f"the evidence does not depend on {name} near {place}: "
            "leave it out of start, or start elsewhere"
        )

    def differences(self, z: Array, base: Array, shifts: Array) -> Array:
        """Changes of the increments along ``shifts``, (p, T + 1); central ones where they jump."""
        if self.steps is SMOOTH:
            return self.increments(z + shifts) - base
        ahead, behind = np.split(self.increments([*(z + shifts), *(z - shifts)]), 2)
        return 0.5 * (ahead - behind)

    def metric(self, scales: Array) -> Metric:
        """Gradient and the sum of products of the increments' gradients, by differences."""
        h = self.steps.gradient * scales
        G = self.differences(self.z, self.base, np.diag(h)).T / h
        if not np.isfinite(G).all():
            raise ValueError(
                "the evidence is zero beside the parameters "
                f"{described(self.bounds.named(self.z))}: start elsewhere"
            )
        B = G.T @ G
        sd = np.sqrt(np.diagonal(B))
        if not (sd > 0).all():
            raise ValueError(
                f"the evidence does not depend on {self.bounds.names[int(sd.argmin())]} near "
                f"{described(self.bounds.named(self.z))}: leave it out, or start elsewhere"
            )
        B = B + np.diag(~self.bounds.unbounded)  # a unit is at most a factor e
        sd = np.sqrt(np.diagonal(B))
        R = B / np.outer(sd, sd) + RIDGE * np.eye(len(sd))
        return Metric(G.sum(axis=0), np.linalg.inv(np.linalg.cholesky(R)).T / sd[:, None])

    def agrees(self, problem: Problem, metric: Metric) -> bool:
        """Whether filters one standard error away have the evidence expected at fixed particles.

        Not so for very precise observations: particles that were placed where they are for one
        width of the likelihood do not reach as far as a wider one.
        """
        Z = list(self.z + metric.axes.T)
        expected = self.values(Z) - self.log_evidence
        filters = replace(self, local=problem)
        actual = filters.values(Z) - self.log_evidence
        with np.errstate(invalid="ignore"):
            return bool((np.abs(actual - expected) < 0.05 + 0.5 * np.abs(expected)).all())

    def noise(self, problem: Problem, runs: int) -> float:
        """Standard deviation of the log-evidence of filters with other seeds."""
        others = [problem.other(seed=problem.seed ^ (1 + k)) for k in range(runs)]
        f = self.work.each(others, [self.bounds.named(self.z)] * runs).sum(axis=1)
        return float(np.std(f, ddof=1)) if np.isfinite(f).all() else np.inf

    def elsewhere(
        self, problem: Problem, metric: Metric, *, everywhere: bool, noise: float
    ) -> Array | None:
        """Return a better point far along a parameter that hardly matters here, if there is one.

        A variance that is far too small is on a plateau, say, with a maximum beyond it.
        ``everywhere``: along any parameter with bounds.  It is better by several times the noise.
        """
        flat = np.flatnonzero((everywhere | (metric.scales > FLAT)) & ~self.bounds.unbounded)
        Z = [self.z + step * axis for axis in np.eye(len(self.z))[flat] for step in FAR_STEPS]
        if not Z:
            return None
        f = replace(self, local=problem).values(Z)
        best = int(f.argmax())
        better = f[best] > self.log_evidence + max(SHOWN, JUMPS * noise)
        return Z[best] if better else None

    def information(self, metric: Metric) -> Array:
        """Minus the second derivatives of the log-evidence in the metric's coordinates u."""
        p, h = len(self.z), self.steps.curvature
        e = h * np.eye(p)
        pairs = [(i, j) for i in range(p) for j in range(i)]
        U = [np.zeros(p), *e, *-e]
        U += [s * (e[i] + d * e[j]) for i, j in pairs for d in (1, -1) for s in (1, -1)]
        f = self.values([self.z + metric.axes @ u for u in U])
        H = np.diag(f[1 : p + 1] + f[p + 1 : 2 * p + 1] - 2 * f[0])
        for (i, j), four in zip(pairs, f[2 * p + 1 :].reshape(-1, 4), strict=True):
            H[i, j] = H[j, i] = 0.25 * (four[0] + four[1] - four[2] - four[3])
        return -H / h**2

    def information_by_scores(self, problem: Problem, metric: Metric) -> Array:
        """The same from differences of gradients, each at the particles of a filter run there.

        At the particles of one run the maximum looks sharper than it is: they are too few to stand
        for the states of other parameters.
        """
        if self.local is problem:  # gradients are themselves differences of filters
            return self.information(metric)
        rows = []
        for axis in SCORE_STEP * metric.axes.T:
            ends = [(s, self._gradient(problem, metric, s * axis)) for s in (1, -1)]
            ends = [(s, gradient) for s, gradient in ends if gradient is not None]
            if not ends:
                return self.information(metric)
            ends = ends if len(ends) == 2 else [*ends, (0, metric.axes.T @ metric.gradient)]
            (first, ahead), (last, behind) = ends
            rows.append((ahead - behind) / (SCORE_STEP * (first - last)))
        return -symmetric(np.array(rows))

    def _gradient(self, problem: Problem, metric: Metric, shift: Array) -> Any:
        """The gradient in the metric's coordinates after a shift, None if the filter is lost."""
        there = LocalEvidence.at(problem, self.bounds, self.z + shift, self.work, self.log_prior)
        if there is None or there.log_evidence < self.log_evidence - LARGEST_DROP:
            return None
        return metric.axes.T @ there.metric(metric.scales).gradient


class Metric(NamedTuple):
    """Coordinates u, z = z_0 + axes u, in which the information is about the identity.

    The information is estimated by the sum of products of the increments' scores (Berndt, Hall,
    Hall and Hausman, 1974).  A unit of u is a standard error, in whatever units parameters are.
    """

    gradient: Array  # (p,), of the log-evidence in z
    axes: Array  # (p, p)

    @property
    def scales(self) -> Array:
        """Standard errors of each coordinate of z while the others are fixed."""
        return 1.0 / np.sqrt(np.diagonal(np.linalg.inv(self.axes @ self.axes.T)))


def inverse(information: Array) -> Array:
    """Return the inverse of the information, NaN if it is not positive definite."""
    values, vectors = np.linalg.eigh(information)
    if not values.min() > 0:
        return np.full(information.shape, np.nan)
    return np.asarray((vectors / values) @ vectors.T)
