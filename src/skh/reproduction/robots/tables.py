"""Tables of a study in Markdown: median, quartiles and worst over seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skh._typing import Array
from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.statistics import (
    logs_of,
    of_runs,
    reference_errors,
    sizes,
    whole_runs,
)
from skh.reproduction.robots.study import REFERENCE
from skh.reproduction.statistics import MissingError

CELLS = "Cells: median (quartiles; worst) over seeds."
HEADS = (
    *("rule", "N", "seeds", "RMSE to truth, m", "median NEES", "median distance to reference, m"),
    *("ESS", "steps guided", "ms per step", "rule / likelihood / rest, ms"),
)


def tables(records: Sequence[Record]) -> str:
    """One table per log; cells are median (quartiles; worst) over seeds."""
    found = [f"{CELLS} NEES: normalised squared error of the position, its median over time.\n"]
    for name, of_log in logs_of(records).items():
        found += [f"## {name}\n", table(of_log)]
    return "\n".join(found)


def table(records: Sequence[Record]) -> str:
    """The table of one log: its references, then all rules for each N."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
    runs = whole_runs(records)
    references = sorted({r.n for r in runs if r.rule == REFERENCE})
    cells = [(REFERENCE, n) for n in references]
    for n in sizes(records):
        rules = style.by_rule([r for r in runs if r.rule != REFERENCE and r.n == n])
        cells += [(rule, n) for rule in rules]
    lines += ["| " + " | ".join(_row(records, rule, n)) + " |" for rule, n in cells]
    return "\n".join(lines) + "\n"


def _row(records: Sequence[Record], rule: str, n: int) -> list[str]:
    where = {"rule": rule, "n": n}
    values = {
        field: of_runs(records, field, **where)
        for field in ("rmse", "nees", "ess", "guided", "steps")
    }
    split = _milliseconds(records, where) / values["steps"]
    return [
        *(rule, f"{n:,}", str(len(values["rmse"]))),
        spread_text(values["rmse"]),
        spread_text(values["nees"]),
        spread_text(_to_reference(records, where)),
        f"{np.median(values['ess']):.3g}",
        f"{100 * np.median(values['guided']):.0f} %",
        f"{np.median(split.sum(axis=0)):.3g}",
        " / ".join(f"{part:.2g}" for part in np.median(split, axis=1)),
    ]


def _milliseconds(records: Sequence[Record], where: dict[str, object]) -> Array:
    """Time of the rule, of the likelihood and of all the rest, for each seed."""
    total, rule, likelihood = (
        1e3 * of_runs(records, field, **where)
        for field in ("seconds", "rule_seconds", "likelihood_seconds")
    )
    return np.array([rule, likelihood, total - rule - likelihood])


def _to_reference(records: Sequence[Record], where: dict[str, object]) -> Array:
    try:
        return reference_errors(records, **where)
    except MissingError:
        return np.empty(0)


def spread_text(values: Array) -> str:
    """Median (quartiles; worst) in three digits; empty where nothing was measured.

    >>> spread_text(np.array([1.0, 2.0, 3.0, 4.0, 100.0]))
    '3.00 (2.00-4.00; 100)'
    """
    if not len(values) or not np.isfinite(values).all():
        return ""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{_short(middle)} ({_short(low)}-{_short(high)}; {_short(values.max())})"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"
