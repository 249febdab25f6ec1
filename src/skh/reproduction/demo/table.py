"""Table of the demo for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import batches, median
from skh.reproduction.style import label

COLUMNS = (
    ("RMSE", "rmse", "{:.3f}"),
    ("evidence\nerror", "log_evidence_error", "{:.2f}"),
    ("ESS", "ess", "{:.1f}"),
    ("seconds", "seconds", "{:.2f}"),
    ("likelihood\nevaluations", "likelihood_evaluations", "{:.0f}"),
)


def table_of(records: Sequence[Record], n: int) -> Table:
    """Medians of all rules with n particles, the default rule first."""
    runs = [r for r in records if r.n == n and r.likelihood_evaluations]
    size = f"N = {n}, T = {runs[0].steps}, medians over {batches(runs)} data sets"
    table = Table(title=f"Nonlinear benchmark, {size}")
    table.add_column("rule", no_wrap=True)
    for heading, *_ in COLUMNS:
        table.add_column(heading, justify="right")
    for rule in dict.fromkeys(r.rule for r in runs):
        of_rule = [r for r in runs if r.rule == rule]
        cells = (form.format(median(of_rule, field)) for _, field, form in COLUMNS)
        table.add_row(label(rule), *cells, style="bold" if rule == "default" else "")
    return table
