"""Which filters sample a posterior: the first stage's rule, the second's unbiased estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from skh._typing import Array
from skh.filtering.model_protocols import as_carrying, gather, prior_of
from skh.filtering.observations import is_missing
from skh.inference.emulator import Emulator
from skh.inference.priors import Prior
from skh.inference.problem import Problem
from skh.rules.sampling import QuasiMonteCarlo

CHEAP_SECONDS = 5e-6  # per likelihood: below, many points are sooner drawn than few are placed
CHEAP_FACTOR = 8  # times as many points, where they are drawn
UNBIASED_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # of balanced Sobol nets
TRIAL_RUNS = 16  # runs that estimate the variance of the log-evidence
LARGE_VARIANCE = 4.0  # of the log-evidence: too few particles to be measured well
TRIMMED_NORMAL = 0.55  # variance of 16 standard normal values without the two outermost
STEP_SECONDS, POINT_SECONDS = 1e-4, 2e-7  # of a filter with sorted Sobol points, rounded


class Stage(NamedTuple):
    """A filter that estimates the evidence, and why it was chosen."""

    problem: Problem
    reason: str
    likelihood_seconds: float
    n_filters: int = 0  # run to choose it
    n_likelihood_evaluations: int = 0

    @property
    def cost(self) -> int:
        """Likelihoods per run."""
        return self.problem.n * self.problem.observed


def first_stage(problem: Problem, values: Mapping[str, float]) -> Stage:
    """Choose the rule that the emulator learns from, by the cost of a likelihood."""
    cost = likelihood_seconds(problem, values)
    if problem.rule is not None:
        return Stage(problem, f"the given rule, {problem.n} particles", cost)
    said = f"a likelihood takes {1e6 * cost:.2g} us per particle"
    if cost >= CHEAP_SECONDS:
        return Stage(problem, f"the default rule, {problem.n} particles: {said}", cost)
    many = CHEAP_FACTOR * problem.n
    cheap = problem.other(rule=QuasiMonteCarlo("hilbert"), n=many)
    return Stage(cheap, f"sorted Sobol points, {many} particles: {said}", cost)


def likelihood_seconds(problem: Problem, values: Mapping[str, float]) -> float:
    """Measure the seconds of a likelihood per particle, beyond those of a call."""
    model = as_carrying(problem.model(values))
    t = next((t for t, y in enumerate(problem.ys) if not is_missing(y)), None)
    if t is None:
        raise ValueError("ys must hold at least one observation that is not missing")
    x = prior_of(model).sample(2 * problem.n, rng=0)[0]
    carry = model.initial_carry(x)
    sizes = problem.n, 2 * problem.n

    def seconds(n: int) -> float:
        began = perf_counter()
        model.log_likelihood(t, x[:n], problem.ys[t], gather(carry, np.arange(n)))
        return perf_counter() - began

    with np.errstate(all="ignore"):
        times = [min(seconds(n) for _ in range(3)) for n in sizes]
    return max(times[1] - times[0], 0.0) / (sizes[1] - sizes[0])


@dataclass(frozen=True, eq=False)
class Target:
    """The log-posterior of free coordinates z = mode + axes u, by one filter run."""

    problem: Problem
    prior: Prior
    mode: Array
    axes: Array
    fresh: bool  # a new seed for each run

    def __call__(self, u: Array, seed: int) -> tuple[float, float]:
        """Return the log-posterior at u, up to a constant, and the log-evidence."""
        z = self.mode + self.axes @ u
        log_prior = self.prior.log_density(z)
        if not log_prior > -np.inf:
            return -np.inf, -np.inf
        problem = self.problem.other(seed=seed) if self.fresh else self.problem
        evidence = problem.log_evidence(self.prior.bounds.named(z))
        return log_prior + evidence, evidence

    def values(self, U: Array, executor: Any = None) -> Array:
        """Return the log-posterior at rows of U."""
        if executor is None:
            return np.array([self(u, self.problem.seed)[0] for u in U])
        futures = [executor.submit(self, u, self.problem.seed) for u in U]
        return np.array([future.result()[0] for future in futures])


def second_stage(target: Target, emulator: Emulator, U: Array, cost: float) -> Stage:
    """Choose the number of particles of an unbiased estimate: sorted, randomised Sobol points.

    The variance is that of the estimate less the emulator at draws ``U`` of the emulated posterior,
    by which chains decide.  The time of a run, if a likelihood takes ``cost`` seconds, times
    exp(3 variance) is made small.  An independent draw takes about exp(1.5 variance) draws if the
    estimates are lognormal, and more if they vary more in some places than in others.
    """
    expected = np.array([emulator(u) for u in U])
    found: list[tuple[float, int, float]] = []
    for n in UNBIASED_SIZES:
        problem = target.problem.other(rule=QuasiMonteCarlo("hilbert"), n=n)
        estimates = replace(target, problem=problem, fresh=True)
        runs = np.array([estimates(u, problem.seed + k)[0] for k, u in enumerate(U)])
        variance = trimmed_variance(runs - expected)
        found.append((float(np.log(step_seconds(n, cost))) + 3 * variance, n, variance))
        if variance < LARGE_VARIANCE and len(found) > 1 and found[-1][0] > found[-2][0]:
            break
    _, n, variance = min(found)
    reason = f"sorted Sobol points, {n} particles: log-evidence with variance {variance:.2g}"
    chosen = target.problem.other(rule=QuasiMonteCarlo("hilbert"), n=n)
    tried = sum(size for _, size, _ in found) * len(U) * chosen.observed
    return Stage(chosen, reason, cost, len(found) * len(U), tried)


def step_seconds(n: int, cost: float) -> float:
    """Seconds of a step with n sorted Sobol points.

    The measured cost counts by its power of ten, so that the same seed gives the same draws.
    """
    rounded = 10.0 ** np.round(np.log10(max(cost, 1e-9)))
    return float(STEP_SECONDS + n * (POINT_SECONDS + rounded))


def trimmed_variance(x: Array) -> float:
    """Estimate the variance without the eighth of the values that is farthest from the median."""
    with np.errstate(invalid="ignore"):
        distances = np.abs(x - np.median(x))
    kept = x[np.argsort(distances)[: len(x) - len(x) // 8]]
    return float(np.var(kept)) / TRIMMED_NORMAL if np.isfinite(kept).all() else np.inf
