"""One run of a filter on one batch of data, compared with a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from skh._checks import Array
from skh.kernel import GaussianKernel
from skh.model import CarryingModel, Model
from skh.particle_filter import particle_filter
from skh.rule import Measured, Rule


@dataclass(frozen=True)
class Record:
    """What a run cost and how far it was from the reference."""

    rule: str
    n: int
    batch: int
    rmse: float  # of the filtered mean against the reference's
    log_evidence_error: float
    ess: float  # mean over time, as all that follow but the last two
    mmd: float
    n_particles: float
    likelihood_evaluations: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Reference:
    """The filtered means and the log-evidence that count as true."""

    means: Array
    log_evidence: float


def compare(
    name: str,
    rule: Rule,
    n: int,
    batch: int,
    model: Model | CarryingModel,
    ys: Sequence[Any] | Array,
    reference: Reference,
    kernel: GaussianKernel,
) -> Record:
    """Run a filter and compare it; the MMD is measured in a second run where the rule does not."""
    start = perf_counter()
    result = particle_filter(model, ys, rule, n, rng=batch)
    seconds = perf_counter() - start
    mmd = result.mmd
    if np.isnan(mmd).any():
        mmd = particle_filter(model, ys, Measured(rule, kernel), n, rng=batch).mmd
    return Record(
        rule=name,
        n=n,
        batch=batch,
        rmse=float(np.sqrt(np.mean((result.means - reference.means) ** 2))),
        log_evidence_error=result.log_evidence - reference.log_evidence,
        ess=float(result.ess.mean()),
        mmd=float(mmd.mean()),
        n_particles=float(result.n_particles.mean()),
        likelihood_evaluations=int(result.n_likelihood_evaluations.sum()),
        seconds=seconds,
    )
