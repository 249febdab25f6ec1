"""Records as rows of medians, for every kind of table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from skh.experiments.record import Record

KEYS = ("model", "rule", "sigma2", "n", "m", "steps")
MEASURED = ("rmse", "mmd", "log_evidence_error", "ess", "n_particles", "seconds")
COLUMNS = (
    *("model", "rule", "σ²", "N", "M", "T", "batches"),
    *("RMSE", "MMD", "|Δ log evidence|", "ESS", "particles", "seconds"),
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
    return [Row((*key, len(groups[key]), *_medians(groups[key]))) for key in ordered]


def _medians(records: Sequence[Record]) -> list[float]:
    columns = ([abs(getattr(r, field)) for r in records] for field in MEASURED)
    return [float(np.median(column)) for column in columns]
