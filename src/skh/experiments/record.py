"""One run of a rule or a filter, and how far it was from the truth: one row of every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from time import perf_counter
from typing import Any

import numpy as np

from skh._checks import Array
from skh.kernel import GaussianKernel
from skh.model import CarryingModel, Model
from skh.particle_filter import particle_filter
from skh.rule import Measured, Rule


@dataclass(frozen=True, kw_only=True)
class Record:
    """What a run cost and how far it was from the reference; NaN where a field has no meaning.

    All fields but the seconds follow from ``seed`` and the configuration; seconds are measured.
    """

    experiment: str
    model: str
    rule: str
    sigma2: float = nan  # of the kernel that places the points, or only measures their MMD
    n: int  # points asked for
    m: int = 0  # search points; 0 for rules that do not search
    steps: int = 1  # T of a filter; 1 for a single mixture
    batch: int
    seed: int  # of the rule's random numbers
    rmse: float = nan  # of the (filtered) mean against the reference's
    mmd: float = nan  # mean over time, as all that follow but the last two
    log_evidence_error: float = nan
    ess: float = nan
    n_particles: float = nan
    likelihood_evaluations: int = 0
    seconds: float = nan
    rule_seconds: float = nan  # the part of ``seconds`` that the rule took
    time: float = nan  # of a moment within a run, in its own units; NaN for the run as a whole
    x: float = nan  # the estimated position, at that moment or at the end
    y: float = nan
    z: float = nan


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
        experiment="demo",
        model=type(model).__name__,
        rule=name,
        n=n,
        steps=len(ys),
        batch=batch,
        seed=batch,
        rmse=float(np.sqrt(np.mean((result.means - reference.means) ** 2))),
        mmd=float(mmd.mean()),
        log_evidence_error=result.log_evidence - reference.log_evidence,
        ess=float(result.ess.mean()),
        n_particles=float(result.n_particles.mean()),
        likelihood_evaluations=int(result.n_likelihood_evaluations.sum()),
        seconds=seconds,
    )
