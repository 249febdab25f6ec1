"""Claims about runs on a log, decided over the seeds of the filter.

A log is one data set, so intervals say what another seed would give, and not what another log
would.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from skh._typing import Array
from skh.reproduction.claim import Verdict, as_text, listed, together
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.statistics import of_runs, sizes, whole_runs
from skh.reproduction.robots.study import REFERENCE
from skh.reproduction.robots.tables import spread_text
from skh.reproduction.statistics import median_interval, select

SIGNIFICANT = 0.05
FIELDS = {"rmse": "RMSE to truth [m]", "nees": "median NEES"}


def at_most(
    records: Sequence[Record], *, log: str, field: str, limit: float, rule: str, n: int
) -> Verdict:
    """Whether the median over seeds is at most a limit, by a 95 % interval of that median."""
    values = of_runs(select(records, model=log), field, rule=rule, n=n)
    low, high = median_interval(values)
    text = f"{log}, {rule} at N={n}: {FIELDS[field]} {spread_text(values)} over {len(values)} seeds"
    text += f", median within [{low:.3g}, {high:.3g}] (limit {limit:g})"
    holds = True if high <= limit else False if low > limit else None
    return Verdict(text, holds, {"median": float(np.median(values)), "limit": limit})


def never_worse(
    records: Sequence[Record], *, log: str, field: str, rule: str, rival: str = "PF"
) -> Verdict:
    """Whether a rule's median over seeds is at most a rival's for each N that both have.

    A larger median counts against the claim if it is significant, else the claim is undecided.
    """
    of_log, parts, text = select(records, model=log), list[bool | None](), dict[str, str]()
    for n in sizes(of_log):
        ours, theirs = (of_runs(of_log, field, rule=name, n=n) for name in (rule, rival))
        text[f"N={n}"] = f"{np.median(ours):.3g} and {np.median(theirs):.3g}"
        parts.append(not_above(ours, theirs))
    measured = f"{log}, {FIELDS[field]}, medians of {rule} and {rival}: {listed(text)}"
    return Verdict(measured, together(parts), as_text(text))


def not_above(ours: Array, theirs: Array) -> bool | None:
    """Whether the median is not larger; None if it is, but not significantly (rank sums)."""
    if np.median(ours) <= np.median(theirs):
        return True
    larger = stats.mannwhitneyu(ours, theirs, alternative="greater").pvalue
    return False if larger < SIGNIFICANT else None


def few_like_many(
    records: Sequence[Record], *, log: str, field: str, rule: str, n: int, limit: float
) -> Verdict:
    """Whether the median over seeds is at most ``limit`` times that of the references."""
    of_log = select(records, model=log)
    values = of_runs(of_log, field, rule=rule, n=n)
    references = select(whole_runs(of_log), rule=REFERENCE)
    theirs = float(np.median([getattr(r, field) for r in references]))
    low, high = (bound / theirs for bound in median_interval(values))
    text = f"{log}, {FIELDS[field]}, {rule} at N={n} relative to {references[0].n:,} random "
    text += f"particles: {np.median(values) / theirs:.3g} [{low:.3g}, {high:.3g}] (limit {limit:g})"
    holds = True if high <= limit else False if low > limit else None
    return Verdict(text, holds, {"ratio": float(np.median(values)) / theirs, "limit": limit})
