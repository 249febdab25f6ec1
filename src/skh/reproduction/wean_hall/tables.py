"""Tables of Wean Hall in Markdown: tracking, then starts anywhere and kidnapped robots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skh.reproduction.engine.record import Record
from skh.reproduction.robots.tables import tables as of_tracking
from skh.reproduction.wean_hall.statistics import cells, evaluations, is_start, right, tracking

HEADS = ("run", "filter", "most points", "right", "evaluations: median", "largest")


def all_tables(records: Sequence[Record]) -> str:
    """All tables."""
    parts = [of_tracking(tracking(records))]
    models = dict.fromkeys(r.model for r in records if is_start(r))
    if models:
        lines = ["| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
        for model in models:
            lines += [_row(records, cell) for cell in cells(records, model)]
        parts += ["## starts anywhere, and a kidnapped robot\n", "\n".join(lines) + "\n"]
    return "\n".join(parts)


def _row(records: Sequence[Record], cell: tuple[str, str, int]) -> str:
    found, cost = right(records, cell), evaluations(records, cell)
    parts = [cell[0], cell[1], f"{cell[2]:,}", f"{int(found.sum())} of {len(found)}"]
    return "| " + " | ".join([*parts, f"{np.median(cost):,.0f}", f"{cost.max():,}"]) + " |"
