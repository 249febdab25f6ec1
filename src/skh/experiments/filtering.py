"""One run of a filter on one batch of data, watched without being disturbed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from time import perf_counter
from typing import Any

import numpy as np

from skh._typing import RNG, Array
from skh.experiments.record import Record, Reference
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.particle_filter import particle_filter
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel, mmd
from skh.rules.base import Rule, WeightedPoints
from skh.rules.sampling import Stratified


@dataclass
class Watched:
    """The points of ``rule``, with their MMD by several kernels noted at each step.

    The distance is to ``targets[t]``, the exact predictive, where that is known; else to the
    mixture that the rule was given.  The time that the measurement takes is noted as well, so that
    it can be taken off that of the filter.
    """

    rule: Rule
    kernels: Sequence[GaussianKernel]
    targets: Sequence[GaussianMixture] | None = None
    mmd: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """The points of the rule."""
        points = self.rule(p, n, rng=rng)
        start = perf_counter()
        target = p if self.targets is None else self.targets[len(self.mmd)]
        self.mmd.append([mmd(kernel, target, points.x, points.w) for kernel in self.kernels])
        self.seconds += perf_counter() - start
        return points


@dataclass(frozen=True, eq=False)
class Data:
    """A batch of observations with what is known about the truth."""

    model: Model | CarryingModel
    ys: Array
    reference: Reference
    predictives: Sequence[GaussianMixture] | None = None


def against_many(model: Model, ys: Array, particles: int, seed: int) -> Data:
    """Data whose reference is a particle filter of many particles, where no filter is exact."""
    many = particle_filter(model, ys, Stratified(), particles, rng=seed)
    return Data(model, ys, Reference(many.means, many.log_evidence))


def filter_records(
    start: Record, rule: Rule, data: Data, kernels: Sequence[GaussianKernel]
) -> Iterator[Record]:
    """Run a filter once; one record for each kernel that measures its MMD, or one without any.

    ``start`` says what is run: its names, ``n`` and ``seed`` are kept, the rest is filled in.
    """
    watched = Watched(rule, kernels, data.predictives)
    begin = perf_counter()
    result = particle_filter(data.model, data.ys, watched, start.n, rng=start.seed)
    seconds = perf_counter() - begin - watched.seconds
    record = replace(
        start,
        steps=len(data.ys),
        rmse=float(np.sqrt(np.mean((result.means - data.reference.means) ** 2))),
        log_evidence_error=result.log_evidence - data.reference.log_evidence,
        ess=float(result.ess.mean()),
        n_particles=float(result.n_particles.mean()),
        likelihood_evaluations=int(result.n_likelihood_evaluations.sum()),
        seconds=seconds,
    )
    if not kernels:
        yield record
        return
    for kernel, distance in zip(kernels, np.mean(watched.mmd, axis=0), strict=True):
        yield replace(record, sigma2=_only(kernel.variances), mmd=float(distance))


def _only(variances: Array) -> float:
    """The variance of a kernel that has one."""
    return float(variances[0]) if len(variances) == 1 else nan


def warm_up(rule: Rule, model: Any, ys: Array) -> None:
    """Two unmeasured steps: what is compiled or loaded at first use belongs to no measurement."""
    particle_filter(model, ys[:2], rule, 5, rng=0)
