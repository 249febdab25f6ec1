"""One run of a filter on one batch of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from time import perf_counter

import numpy as np

from skh._typing import Array
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.series import particle_filter
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.reproduction.engine.record import Record
from skh.reproduction.rule_wrappers import Observed
from skh.rules.base import Rule
from skh.rules.sampling import Stratified


@dataclass(frozen=True, eq=False)
class Data:
    """Observations of a model, with reference values and, if known, the exact predictives."""

    model: Model | CarryingModel
    ys: Array
    means: Array  # of the filtered distributions
    log_evidence: float
    predictives: Sequence[GaussianMixture] | None = None


def against_many(model: Model, ys: Array, particles: int, seed: int) -> Data:
    """Data with a particle filter of many particles as the reference."""
    many = particle_filter(model, ys, Stratified(), particles, rng=seed)
    return Data(model, ys, many.means, many.log_evidence)


def filter_records(
    start: Record, rule: Rule, data: Data, kernels: Sequence[GaussianKernel] = ()
) -> Iterator[Record]:
    """Run a filter once; yield one record for each kernel that measures the MMD, or one in all.

    ``n`` and ``seed`` are those of ``start``.  The time does not include measuring the MMD.
    """
    particle_filter(data.model, data.ys[:2], rule, 5, rng=0)  # compile before measuring the time
    observed = Observed(rule, kernels, data.predictives)
    begin = perf_counter()
    result = particle_filter(data.model, data.ys, observed, start.n, rng=start.seed)
    seconds = perf_counter() - begin - observed.overhead
    record = replace(
        start,
        steps=len(data.ys),
        rmse=float(np.sqrt(np.mean((result.means - data.means) ** 2))),
        log_evidence_error=result.log_evidence - data.log_evidence,
        ess=float(result.ess.mean()),
        n_particles=float(result.n_particles.mean()),
        likelihood_evaluations=int(result.n_likelihood_evaluations.sum()),
        seconds=seconds,
    )
    if not kernels:
        yield record
    for kernel, distance in zip(kernels, np.mean(observed.mmds, axis=0), strict=True):
        yield replace(record, sigma2=_single(kernel.variances), mmd=float(distance))


def _single(variances: Array) -> float:
    """The variance of a kernel that has only one, else NaN."""
    return float(variances[0]) if len(variances) == 1 else nan
