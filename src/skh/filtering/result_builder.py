"""Collect the steps of a series into a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skh.filtering.belief import Belief
from skh.filtering.plans import Look
from skh.filtering.result import FilterResult, stack_fields

ROWS_IN_CHUNK = 1000  # kept as they are; a row of small arrays takes ten times its numbers


@dataclass
class ResultBuilder:
    """Collect the steps of a series into a `FilterResult`."""

    keeps_history: bool
    run: dict[str, Any] = field(default_factory=dict)  # fields that do not depend on the steps
    chunks: list[dict[str, Any]] = field(default_factory=list)  # of rows, stacked: much smaller
    rows: list[dict[str, Any]] = field(default_factory=list)
    looks: list[tuple[Look, ...]] = field(default_factory=list)
    beliefs: list[Belief] = field(default_factory=list)

    def add(self, belief: Belief, row: dict[str, Any]) -> None:
        """Add a step."""
        self.rows.append(row)
        if len(self.rows) == ROWS_IN_CHUNK:
            self.chunks.append(stack_fields(self.rows))
            self.rows = []
        self.looks.append(belief.looks)
        if self.keeps_history:
            self.beliefs.append(belief)

    def restore(
        self,
        rows: dict[str, Any],
        looks: Sequence[tuple[Look, ...]],
        history: Sequence[Belief] | None,
    ) -> None:
        """Start with the steps of a checkpoint."""
        self.chunks, self.looks, self.beliefs = [rows], list(looks), list(history or ())

    @property
    def steps(self) -> int:
        """Number of complete steps."""
        n = sum(len(chunk["ess"]) for chunk in self.chunks) + len(self.rows)
        return min(n, len(self.looks))

    def rows_so_far(self) -> dict[str, Any] | None:
        """All rows, stacked; None before the first."""
        parts = [*self.chunks, *([stack_fields(self.rows)] if self.rows else [])]
        return stack_fields(parts, join=np.concatenate) if parts else None

    def result(self) -> FilterResult | None:
        """The result of the steps so far; None before the first."""
        if (rows := self.rows_so_far()) is None:
            return None
        history = tuple(self.beliefs) if self.keeps_history else None
        return FilterResult(**rows, history=history, looks=tuple(self.looks), **self.run)
