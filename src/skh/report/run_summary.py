"""What a run's page says in words and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skh._typing import Array
from skh.filtering.result import FilterResult
from skh.report.packing import number, resolved
from skh.report.run_data import Centres

Rows = list[tuple[str, ...]]


def facts_of(result: FilterResult, missing: NDArray[np.bool_]) -> list[tuple[str, str]]:
    """Return the figures at the head of the page."""
    T, d = result.means.shape
    worst = int(result.ess.argmin())
    gaps = f" ({int(missing.sum()):,} without observation)" if missing.any() else ""
    guided = sum(len(step) > 1 for step in result.looks)
    facts = [
        ("steps", f"{T:,}{gaps}"),
        ("dimension", _dimension(result, d)),
        ("particles", _range(result.n_particles)),
        ("likelihood evaluations", f"{int(result.n_likelihood_evaluations.sum()):,}"),
        ("log-evidence", number(result.log_evidence, 6)),
        ("median ESS", number(float(np.median(result.ess)), 3)),
        ("lowest ESS", f"{number(float(result.ess[worst]), 3)} at step {worst}"),
    ]
    return facts + ([("steps with a second look", f"{guided:,}")] if any(result.looks) else [])


def _dimension(result: FilterResult, d: int) -> str:
    return f"{d}" if result.z_means is None else f"{d} + {result.z_means.shape[1]} hidden"


def _range(counts: NDArray[np.intp]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def coordinate_rows(
    centres: Centres, names: Sequence[str], truth: Array | None
) -> tuple[tuple[str, ...], Rows]:
    """Return headings and a row for each coordinate: its last estimate, its range, its error."""
    headings: tuple[str, ...] = (
        "coordinate",
        "last mean",
        "last sd",
        "lowest mean",
        "highest mean",
    )
    rows: Rows = []
    for j, name in enumerate(names):
        mean, sd = centres.means[j], centres.deviations[j]
        scale = float(np.median(sd)) or float(np.ptp(mean))
        ends = (resolved(float(m), scale) for m in (mean.min(), mean.max()))
        rows.append((name, resolved(float(mean[-1]), scale), number(float(sd[-1]), 3), *ends))
    if truth is None:
        return headings, rows
    errors = [_error(m, x) for m, x in zip(centres.means, truth, strict=True)]
    return (*headings, "RMSE"), [(*row, e) for row, e in zip(rows, errors, strict=True)]


def _error(mean: Array, truth: Array) -> str:
    """Root mean square error where the truth is known."""
    known = ~np.isnan(truth)
    return number(float(np.sqrt(np.mean((mean - truth)[known] ** 2))), 3) if known.any() else "–"


def reason_rows(result: FilterResult) -> tuple[tuple[str, ...], Rows]:
    """Return headings and a row for each reason of the plan, with its number of steps."""
    counted = Counter(step[0].reason for step in result.looks if step)
    return ("where the likelihood was evaluated, and why", "steps"), [
        (reason, f"{steps:,}") for reason, steps in counted.most_common()
    ]
