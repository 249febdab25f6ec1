"""Tables of medians over batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import median

KEYS = ("model", "rule", "sigma2", "n", "m", "steps")
MEASURED = ("rmse", "mmd", "log_evidence_error", "ess", "n_particles", "seconds")
COLUMNS = (
    *("model", "rule", "σ²", "N", "M", "T", "batches"),
    *("RMSE", "MMD", "|Δ log evidence|", "ESS", "particles", "seconds"),
)


@dataclass(frozen=True)
class Row:
    """The values of a row, in the order of COLUMNS."""

    values: tuple[float | str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as text, empty for NaN."""
        return tuple(_text(value) for value in self.values)


def _text(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if isnan(value) else f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def median_rows(records: Sequence[Record]) -> list[Row]:
    """One row for each combination of model, rule and sizes, sorted by these."""
    groups: dict[tuple[float | str, ...], list[Record]] = defaultdict(list)
    for r in (r for r in records if isnan(r.time)):  # whole runs
        # NaN does not equal itself and cannot be part of a key.
        groups[tuple("" if v != v else v for v in (getattr(r, k) for k in KEYS))].append(r)
    ordered = sorted(groups, key=lambda key: tuple((isinstance(v, str), v) for v in key))
    return [
        Row((*key, len(groups[key]), *(median(groups[key], f) for f in MEASURED)))
        for key in ordered
    ]
