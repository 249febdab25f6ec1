"""Filters and likelihoods that a search takes, and the workers that share them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh.filtering.result import FilterResult
from skh.inference.fixed_particles import FixedParticles
from skh.inference.problem import Problem


@dataclass
class Work:
    """What a computation took, and the executor that shares it out."""

    executor: Executor | None = None
    n_filters: int = 0
    n_likelihood_evaluations: int = 0

    def map(self, local: FixedParticles | Problem, points: Iterable[Mapping[str, float]]) -> Any:
        """Return the increments of the log-evidence at each of some parameters."""
        points = list(points)
        if self.executor is None:
            rows = [local.increments(values) for values in points]
        else:
            futures = [self.executor.submit(local.increments, values) for values in points]
            rows = [future.result() for future in futures]
        self.n_filters += len(points) * isinstance(local, Problem)
        self.n_likelihood_evaluations += len(points) * _cost(local)
        return np.array(rows)

    def count(self, result: FilterResult | None) -> None:
        """Count a filter run."""
        self.n_filters += 1
        if result is not None:
            self.n_likelihood_evaluations += int(result.n_likelihood_evaluations.sum())


def _cost(local: FixedParticles | Problem) -> int:
    """Number of likelihoods that one evaluation takes."""
    if isinstance(local, Problem):
        return local.n * local.observed
    return local.n_likelihood_evaluations
