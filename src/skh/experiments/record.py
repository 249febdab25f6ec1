"""One run of a rule or a filter, and how far it was from the truth: one row of every table."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

from skh._typing import Array


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
