"""The result of one run of a rule or a filter: one row of every table."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan


@dataclass(frozen=True, kw_only=True)
class Record:
    """Accuracy and cost of a run; NaN where a field does not apply.

    All fields except the seconds are determined by ``seed`` and the configuration.
    """

    experiment: str
    model: str
    rule: str
    sigma2: float = nan  # variance of the kernel that places the points or measures the MMD
    n: int  # points asked for
    m: int = 0  # search points; 0 for rules that do not search
    steps: int = 1  # T of a filter; 1 for a single mixture
    batch: int
    seed: int  # of the rule's random numbers
    rmse: float = nan  # of the (filtered) mean against the reference
    mmd: float = nan  # mean over time, like ESS and number of particles
    log_evidence_error: float = nan
    ess: float = nan
    n_particles: float = nan
    likelihood_evaluations: int = 0
    seconds: float = nan
    rule_seconds: float = nan  # the part of ``seconds`` that the rule took
    time: float = nan  # of a moment within a run; NaN for the run as a whole
    x: float = nan  # coordinates at that moment or at the end, e.g. the estimated position
    y: float = nan
    z: float = nan
    guided: float = nan  # share of the steps with a second look
    nees: float = nan  # normalised squared error of the position at that moment, or its median
    likelihood_seconds: float = nan  # the part of ``seconds`` that the likelihood took
    xx: float = nan  # covariance of x and y at that moment
    xy: float = nan
    yy: float = nan
