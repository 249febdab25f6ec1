"""Maximum likelihood: the parameters under which the observations are most probable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from typing import Any

import numpy as np

from skh import _checks
from skh._runtime.progress import Report, progress_bar
from skh._typing import RNG
from skh.filtering.plans import Plan
from skh.inference.ascent import Ascent, Task
from skh.inference.bounds import checked_bounds, checked_names, checked_values
from skh.inference.fit_file import FitFile
from skh.inference.fit_result import Fit, NumericalError, by_name
from skh.inference.problem import MakeModel, Problem
from skh.inference.searches import Climbing, Search
from skh.inference.work import Work
from skh.rules.base import Rule


def fit(
    make_model: MakeModel,
    ys: Iterable[Any],
    start: Mapping[str, float] | Sequence[Mapping[str, float]],
    *,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    n: int = 50,
    rule: Rule | Plan | None = None,
    rng: RNG = None,
    executor: Executor | None = None,
    search: Search | None = None,
    max_iterations: int = 40,
    progress: bool | Report = False,
    file: str | PathLike[str] | None = None,
) -> Fit:
    """Find the parameters with the largest log-evidence, and their standard errors.

    Parameters
    ----------
    make_model : ``f(**parameters) -> model``
        Such as ``skh.models.stochastic_volatility``, or a function of yours.
    ys : observations
    start : dict, or several
        Where the search starts, by name: ``{"rho": 0.9, "sigma": 0.3}``.  From several starts the
        best end is returned; the others are in ``fit.optima``.  The evidence may have more than
        one maximum: start from several points.
    bounds : dict of (low, high), optional
        Open bounds of parameters, None for no bound: ``{"rho": (-1, 1), "sigma": (0, None)}``.
        A parameter with bounds is moved on a logit or log scale and never reaches them.
    n, rule : as in `particle_filter`
    rng : Generator, int or None
        All filter runs have the same random numbers.
    executor : Executor, optional
        Evaluates the differences of a gradient by workers; see `skh.parallel` for likelihoods.
    search : `skh.EM`, `skh.Scoring` or `skh.Surface`, optional
        Expectation-maximisation, the mean of many runs' maxima, or quadratics through the evidence
        of many filters, in place of the search below.
    max_iterations : int
        Number of iterations, each with one filter run (for most models), before giving up.
    progress : bool or f(iterations, total)
    file : path
        File to resume from if it exists, and to write the search to after each iteration.

    The search runs the filter, maximises the evidence at the fixed particles of that run, where it
    is smooth (its gradient is that of Fisher's identity), and repeats.  Models whose particles
    carry records, or that have directions without noise, have no transition densities; for them
    gradients are differences over a third of a standard error.  Where the evidence is too noisy to
    be compared the search goes on as `skh.Scoring` or `skh.Surface`.  See docs/parameters.md.

    Examples
    --------
    >>> import numpy as np
    >>> import skh
    >>> def local_level(q, r):
    ...     one = np.eye(1)
    ...     return skh.models.LinearGaussian(one, one, q * one, r * one, np.zeros(1), 10 * one)
    >>> ys = local_level(0.5, 1.0).simulate(20, rng=0)[1]
    >>> positive = {"q": (0, None), "r": (0, None)}
    >>> fit = skh.fit(local_level, ys, {"q": 1.0, "r": 2.0}, bounds=positive, n=20, rng=0)
    >>> fit.converged, fit.numerical_error.matters
    (True, False)
    """
    starts = [start] if isinstance(start, Mapping) or not isinstance(start, Sequence) else start
    if not starts:
        raise ValueError("start must hold at least one dict of parameters, got none")
    free = checked_bounds(checked_names("start", starts[0]), bounds)
    points = [free.free(checked_values("start", one, free)) for one in starts]
    problem, work = Problem.of(make_model, ys, rule, n, rng), Work(checked_executor(executor))
    most, method = _checks.positive_int("max_iterations", max_iterations), checked_search(search)
    saved = FitFile.of(file, problem, free, points, most, rng)
    problem = problem.other(seed=saved.seed)
    task = Task(problem, free, work, most)
    with progress_bar(progress, "fit") as report:
        ascents = [climbed(method, task, saved, k, report) for k in range(len(points))]
    return finished(method, task._replace(work=Work(work.executor)), ascents)


def checked_executor(executor: Any) -> Executor | None:
    """Validate an executor: anything with a method submit."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must follow concurrent.futures.Executor, got {executor!r}")
    return executor  # type: ignore[no-any-return]


def checked_search(search: Any) -> Search:
    """Validate how a maximum is searched, by default by `Climbing`."""
    if search is None:
        return Climbing()
    if not callable(getattr(search, "climb", None)):
        raise TypeError(f"search must be a search such as skh.EM(), got {search!r}")
    return search  # type: ignore[no-any-return]


def climbed(search: Search, task: Task, saved: FitFile, k: int, report: Report) -> Ascent:
    """Climb from start ``k``, or from where the file has it, writing each iteration."""

    def keep(ascent: Ascent) -> None:
        saved.keep(k, ascent)
        report(saved.iterations, None)

    return search.climb(task._replace(on_step=keep), saved.ascents[k])


def finished(search: Search, task: Task, ascents: Sequence[Ascent]) -> Fit:
    """Return the result of the best search, with standard errors and numerical errors."""
    bounds, work = task.bounds, task.work
    order = np.argsort([-ascent.log_evidence for ascent in ascents], kind="stable")
    best = ascents[order[0]]
    found = search.optimum(task, best)
    slopes, names = bounds.slopes(best.z), bounds.names
    covariance = slopes[:, None] * found.covariance * slopes
    shifts = found.shift / np.sqrt(np.diagonal(found.covariance))
    return Fit(
        bounds.named(best.z),
        by_name(names, np.sqrt(np.diagonal(covariance))),
        covariance,
        found.log_evidence,
        NumericalError(found.off, by_name(names, shifts)),
        best.outcome.startswith("converged"),
        best.outcome,
        best.steps,
        tuple((bounds.named(ascents[k].z), ascents[k].log_evidence) for k in order),
        found.smooth,
        found.noise,
        sum(a.n_filters for a in ascents) + work.n_filters,
        sum(a.n_likelihood_evaluations for a in ascents) + work.n_likelihood_evaluations,
        task.problem,
        bounds,
        work.executor,
    )
