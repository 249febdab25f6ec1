"""Records as tables of medians."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from rich.table import Table

from skh.experiments.record import Record
from skh.figures.style import label

KEYS = ("model", "rule", "sigma2", "n", "m", "steps")
MEASURED = ("rmse", "mmd", "log_evidence_error", "ess", "n_particles", "seconds")
COLUMNS = (
    *("model", "rule", "σ²", "N", "M", "T", "batches"),
    *("RMSE", "MMD", "|Δ log evidence|", "ESS", "particles", "seconds"),
)
DEMO_COLUMNS = (
    ("RMSE", "rmse", "{:.3f}"),
    ("evidence\nerror", "log_evidence_error", "{:.2f}"),
    ("ESS", "ess", "{:.1f}"),
    ("MMD", "mmd", "{:.4f}"),
    ("seconds", "seconds", "{:.2f}"),
    ("likelihood\nevaluations", "likelihood_evaluations", "{:.0f}"),
)


@dataclass(frozen=True)
class Row:
    """A cell of an experiment: what it is, and medians over its batches (see COLUMNS)."""

    values: tuple[float | str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The values for people; empty where there is none."""
        return tuple(_text(value) for value in self.values)


def _text(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if isnan(value) else f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def median_rows(records: Sequence[Record]) -> list[Row]:
    """One row for each combination of model, rule and sizes, in the order of the records."""
    groups: dict[tuple[float | str, ...], list[Record]] = defaultdict(list)
    for r in (r for r in records if isnan(r.time)):  # whole runs
        # NaN differs from itself, so that it cannot be part of a key.
        groups[tuple("" if v != v else v for v in (getattr(r, k) for k in KEYS))].append(r)
    ordered = sorted(groups, key=lambda key: tuple((isinstance(v, str), v) for v in key))
    return [
        Row((*key, len(groups[key]), *(median(groups[key], f) for f in MEASURED)))
        for key in ordered
    ]


def median(records: Sequence[Record], field: str) -> float:
    """That of a field over records; of its size, where it has a sign."""
    return float(np.median([abs(getattr(r, field)) for r in records]))


def demo_table(records: Sequence[Record], n: int, T: int) -> Table:
    """The rules at the same number of particles: accuracy, health, cost."""
    batches = 1 + max(r.batch for r in records)
    table = Table(title=f"Nonlinear benchmark, N = {n}, T = {T}, medians over {batches} batches")
    table.add_column("rule", no_wrap=True)
    for heading, *_ in DEMO_COLUMNS:
        table.add_column(heading, justify="right")
    for rule in dict.fromkeys(r.rule for r in records):
        runs = [r for r in records if (r.rule, r.n) == (rule, n)]
        cells = (form.format(median(runs, field)) for _, field, form in DEMO_COLUMNS)
        table.add_row(label(rule), *cells)
    return table
