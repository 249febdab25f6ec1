"""Filters and likelihoods that a search takes, and the workers that share them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
        return self.each([local] * len(points), points)

    def each(
        self, locals_: Sequence[FixedParticles | Problem], points: Sequence[Mapping[str, float]]
    ) -> Any:
        """The same, at the particles or by the filters of each."""
        tasks = list(zip(locals_, points, strict=True))
        if self.executor is None:
            rows = [local.increments(values) for local, values in tasks]
        else:
            futures = [self.executor.submit(local.increments, values) for local, values in tasks]
            rows = [future.result() for future in futures]
        self.n_filters += sum(isinstance(local, Problem) for local in locals_)
        self.n_likelihood_evaluations += sum(map(_cost, locals_))
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
