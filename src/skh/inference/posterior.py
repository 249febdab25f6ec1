"""Samples of the posterior of a model's parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np

from skh import _checks
from skh._runtime.progress import Report, progress_bar
from skh._typing import RNG, Array
from skh.filtering.plans import Plan
from skh.inference.ascent import Ascent, Climber, Task
from skh.inference.bounds import checked_values
from skh.inference.delayed_acceptance import Chain, Walk, run_chain
from skh.inference.emulator import Emulator
from skh.inference.fit import checked_executor
from skh.inference.local_evidence import inverse
from skh.inference.posterior_result import Posterior
from skh.inference.priors import Prior
from skh.inference.problem import MakeModel, Problem
from skh.inference.stages import TRIAL_RUNS, Stage, Target, first_stage, second_stage
from skh.inference.work import Work
from skh.rules.base import Rule

FIRST_POINTS, MORE_POINTS = 15, 10  # of the emulator, per parameter and round
MOST_ROUNDS = 8
GOOD = 0.3  # error of the emulator where its chain goes, root mean square
SEARCH_FACTOR = 2  # times n particles find the mode: pairs of them are compared
WARM_UP = 0.1  # of the draws, before those that are kept


def sample_posterior(
    make_model: MakeModel,
    ys: Iterable[Any],
    prior: Mapping[str, Any],
    *,
    draws: int = 1000,
    chains: int = 4,
    exact: bool = True,
    start: Mapping[str, float] | None = None,
    n: int = 50,
    rule: Rule | Plan | None = None,
    rng: RNG = None,
    executor: Executor | None = None,
    progress: bool | Report = False,
) -> Posterior:
    """Draw parameters from their posterior by Metropolis with delayed acceptance.

    Parameters
    ----------
    make_model : ``f(**parameters) -> model``
    ys : observations
    prior : dict of distributions
        A frozen distribution of SciPy for each parameter, such as ``scipy.stats.uniform(-1, 2)``,
        or an object with ``logpdf``, ``support`` (else everywhere) and ``median`` (else ``start``).
    draws, chains : int
        Number of draws of each chain, after a warm-up of a tenth as many, and of chains.
    exact : bool
        Correct proposals by an unbiased estimate of the evidence: the posterior then has no
        numerical bias.  Else by the first stage's evidence with fixed random numbers, which for
        placed particles is nearly exact, and takes fewer draws.
    start : dict, optional
        Where the search for the mode starts; by default at the priors' medians.
    n, rule : as in `particle_filter`
        Of the first stage.  Without a rule it is chosen by the measured cost of a likelihood:
        placed particles if that is expensive, else more of sorted Sobol points; see
        ``posterior.first_stage``.
    rng : Generator, int or None
    executor : Executor, optional
        Runs filters and chains by workers, with the same draws.
    progress : bool or f(done, total)

    The first stage is an emulator of the log-posterior, learned from filter runs around the mode
    and then where its own chain goes.  The second stage decides by a filter.  See
    docs/parameters.md.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> import skh
    >>> def local_level(q, r):
    ...     one = np.eye(1)
    ...     return skh.models.LinearGaussian(one, one, q * one, r * one, np.zeros(1), 10 * one)
    >>> ys = local_level(0.5, 1.0).simulate(8, rng=0)[1]
    >>> prior = {"q": stats.gamma(2, scale=0.5), "r": stats.gamma(2, scale=0.5)}
    >>> posterior = skh.sample_posterior(local_level, ys, prior, draws=20, chains=2, n=10, rng=0)
    >>> posterior.draws["q"].shape
    (2, 20)
    """
    law, executor = Prior.of(prior), checked_executor(executor)
    begin = checked_values("start", law.start() if start is None else start, law.bounds)
    draws, chains = _checks.positive_int("draws", draws), _checks.positive_int("chains", chains)
    exact, generator = _checks.boolean("exact", exact), _checks.generator(rng)
    problem = Problem.of(make_model, ys, rule, n, generator)
    work = Work(executor)
    stage = first_stage(problem, begin)
    searching = stage.problem.other(n=min(stage.problem.n, SEARCH_FACTOR * problem.n))
    mode, axes = posterior_mode(searching, law, begin, work)
    learner = Target(stage.problem, law, mode, axes, fresh=False)
    emulator, root, path, error, runs = learned(learner, generator, executor)
    deciding, starts = stage, path[generator.integers(len(path), size=chains)]
    if exact:
        some = path[generator.integers(len(path), size=TRIAL_RUNS)]
        deciding = second_stage(learner, emulator, some, stage.likelihood_seconds)
    target = Target(deciding.problem, law, mode, axes, fresh=exact)
    warm, seeds = max(1, round(WARM_UP * draws)), generator.spawn(chains)
    with progress_bar(progress, "posterior") as report:
        found = run_chains(target, emulator, root, starts, warm + draws, seeds, executor, report)
    decisions = sum(chain.n_filters for chain in found)
    work.n_filters += runs + deciding.n_filters + decisions
    work.n_likelihood_evaluations += (
        runs * stage.cost + deciding.n_likelihood_evaluations + decisions * deciding.cost
    )
    return assembled(law, target, found, warm, (stage, deciding), error, work)


def posterior_mode(
    problem: Problem, prior: Prior, start: Mapping[str, float], work: Work
) -> tuple[Array, Array]:
    """Return the mode in free coordinates, and axes in which the posterior is about standard."""
    climber = Climber(Task(problem, prior.bounds, work), prior.log_density, verified=False)
    ascent = climber.climb(Ascent(prior.bounds.free(start)))
    here = climber.evidence_at(ascent)
    metric = here.metric(here.scales() if ascent.scales is None else ascent.scales)
    covariance = inverse(here.information(metric))
    if not np.isfinite(covariance).all():  # no maximum: the emulator finds the shape
        return ascent.z, metric.axes
    return ascent.z, metric.axes @ np.linalg.cholesky(covariance)


def learned(
    target: Target, rng: np.random.Generator, executor: Executor | None
) -> tuple[Emulator, Array, Array, float, int]:
    """Learn an emulator around the mode and where its chain goes.

    Returns it, the root of its random walk, draws, its error there, by filters that it was not
    fitted to before, and the number of filter runs.
    """
    p = len(target.mode)
    U = np.concatenate([np.zeros((1, p)), 1.5 * rng.standard_normal((FIRST_POINTS * p, p))])
    values, root, error = target.values(U, executor), 2.4 / np.sqrt(p) * np.eye(p), np.inf
    for _ in range(MOST_ROUNDS):
        seen = np.isfinite(values)
        emulator = Emulator.of(U[seen], values[seen])
        path, root = explored(emulator, U[values.argmax()], root, rng)
        new = path[np.linspace(0, len(path) - 1, MORE_POINTS * p).astype(int)]
        actual = target.values(new, executor)
        expected = np.array([emulator(u) for u in new]) + emulator.top
        U, values = np.concatenate([U, new]), np.concatenate([values, actual])
        last, error = error, emulation_error(actual - expected)
        if max(last, error) < GOOD:  # twice, since few points tell it
            break
    seen = np.isfinite(values)  # the path is the one that was checked
    return Emulator.of(U[seen], values[seen]), root, path, error, len(values)


def emulation_error(misses: Array) -> float:
    """Root mean square of how far an emulator is off, beyond a constant; zero evidence counts."""
    misses = np.clip(misses, -10.0, 10.0)
    return float(np.sqrt(np.mean((misses - np.median(misses)) ** 2)))


def explored(
    emulator: Emulator, u: Array, root: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Walk on the emulated posterior; return the path and the root of a better walk."""
    p, path = len(u), np.empty((0, len(u)))
    for _ in range(4):  # adapted to the path so far, which is then thrown away
        walk, states = Walk(emulator, root, rng), []
        for _ in range(100):
            u, _, _ = walk.run(u, 5)
            states.append(u)
        path = np.array(states)
        covariance = np.cov(path.T).reshape(p, p) + 1e-6 * np.eye(p)
        scale = 2.4 / np.sqrt(p) if walk.accepted > 0.05 * walk.steps else 0.5
        root = scale * np.asarray(np.linalg.cholesky(covariance))
    return path, root


def run_chains(
    target: Target,
    emulator: Emulator,
    root: Array,
    starts: Array,
    draws: int,
    seeds: list[np.random.Generator],
    executor: Executor | None,
    report: Report,
) -> list[Chain]:
    """Run all chains, one after the other or by workers."""
    jobs = [(target, emulator, root, u, draws, rng) for u, rng in zip(starts, seeds, strict=True)]
    if executor is None:
        count = counter(report, draws * len(jobs))
        return [run_chain(*job, count) for job in jobs]
    futures = [executor.submit(run_chain, *job) for job in jobs]
    found = []
    for future in futures:
        found.append(future.result())
        report(draws * len(found), draws * len(jobs))
    return found


def counter(report: Report, total: int) -> Callable[[], None]:
    """Return a function that reports one more draw at each call."""
    done = iter(range(1, total + 1))
    return lambda: report(next(done), total)


def assembled(
    prior: Prior,
    target: Target,
    chains: list[Chain],
    warm: int,
    stages: tuple[Stage, Stage],
    error: float,
    work: Work,
) -> Posterior:
    """Return the draws as parameters by name."""
    U = np.stack([chain.u[warm:] for chain in chains])
    values = prior.bounds.values(target.mode + U @ target.axes.T)
    evidence = np.stack([chain.log_evidence[warm:] for chain in chains])
    accepted = np.stack([chain.accepted[warm:] for chain in chains])
    return Posterior(
        {name: values[:, :, k].copy() for k, name in enumerate(prior.bounds.names)},
        evidence,
        accepted,
        target.fresh,
        stages[0].reason,
        stages[1].reason,
        error,
        work.n_filters,
        work.n_likelihood_evaluations,
    )
