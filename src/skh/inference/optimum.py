"""What a search found: evidence, covariance of the estimates, and how far both are off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skh._typing import Array
from skh.inference.ascent import Ascent, Task
from skh.inference.local_evidence import LocalEvidence, Metric, inverse
from skh.inference.problem import Problem

MORE_PARTICLES = 2  # times as many, in the run that tells the numerical error


class Optimum(NamedTuple):
    """The evidence around a maximum, in free coordinates z."""

    log_evidence: float
    covariance: Array  # (p, p), the inverse of the observed information
    off: float  # difference of the log-evidence to that of more particles
    shift: Array  # (p,), Newton step to the maximum of more particles
    smooth: bool  # gradients are exact, at fixed particles
    noise: float = 0.0  # standard deviation of the log-evidence from seed to seed, if it is large


def optimum_of_one_run(task: Task, ascent: Ascent) -> Optimum:
    """Run the filter at the maximum; compare with a run of more particles and another seed."""
    problem = task.problem
    here = LocalEvidence.at(problem, task.bounds, ascent.z, task.work, jumping=ascent.jumping)
    if here is None or ascent.scales is None:  # it was there before
        values = task.named(ascent.z)
        raise RuntimeError(f"make_model must give the same model each time: {values}")
    metric = here.metric(ascent.scales)
    covariance = metric.axes @ inverse(here.information_by_scores(problem, metric)) @ metric.axes.T
    off, shift = numerical_error(problem, here, metric, covariance)
    return Optimum(here.log_evidence, covariance, off, shift, here.local is not problem)


def numerical_error(
    problem: Problem, here: LocalEvidence, metric: Metric, covariance: Array
) -> tuple[float, Array]:
    """Differences to a run of more particles and another seed: evidence, and a Newton step."""
    check = with_more_particles(problem)
    there = LocalEvidence.at(check, here.bounds, here.z, here.work, jumping=here.local is problem)
    if there is None:
        return np.inf, np.full(len(here.z), np.nan)
    shift = covariance @ (there.metric(metric.scales).gradient - metric.gradient)
    return abs(there.log_evidence - here.log_evidence), shift


def with_more_particles(problem: Problem) -> Problem:
    """Return the problem that tells the numerical error of another: with another seed, too."""
    return problem.other(n=MORE_PARTICLES * problem.n, seed=problem.seed ^ 1)
