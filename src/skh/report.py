"""Records as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.table import Table

from skh.experiments.record import Record
from skh.figures.style import label

COLUMNS = (
    ("RMSE", "rmse", "{:.3f}"),
    ("evidence\nerror", "log_evidence_error", "{:.2f}"),
    ("ESS", "ess", "{:.1f}"),
    ("MMD", "mmd", "{:.4f}"),
    ("seconds", "seconds", "{:.2f}"),
    ("likelihood\nevaluations", "likelihood_evaluations", "{:.0f}"),
)


def medians(records: Sequence[Record], rule: str, n: int, field: str) -> float:
    """The median of a field (of its absolute value, for signed ones) over the batches."""
    values = [abs(getattr(r, field)) for r in records if r.rule == rule and r.n == n]
    return float(np.median(values))


def names(records: Sequence[Record]) -> list[str]:
    """The rules in the order in which they first appear."""
    return list(dict.fromkeys(r.rule for r in records))


def demo_table(records: Sequence[Record], n: int, T: int) -> Table:
    """The rules at the same number of particles: accuracy, health, cost."""
    batches = 1 + max(r.batch for r in records)
    table = Table(title=f"Nonlinear benchmark, N = {n}, T = {T}, medians over {batches} batches")
    table.add_column("rule", no_wrap=True)
    for heading, *_ in COLUMNS:
        table.add_column(heading, justify="right")
    for rule in names(records):
        values = (medians(records, rule, n, field) for _, field, _ in COLUMNS)
        cells = (form.format(v) for v, (_, _, form) in zip(values, COLUMNS, strict=True))
        table.add_row(label(rule), *cells)
    return table
