"""Pictures of section 4.1: errors against the number of points, with their slopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import linregress

from skh.claims.mixture import SETTINGS
from skh.claims.statistics import MMD_NOISE
from skh.experiments.record import Record
from skh.figures.style import (
    LOOK,
    Picture,
    end_labels,
    few,
    in_order,
    label,
    legend,
    log_axes,
    look,
    panels,
    quantiles,
)

ROWS = (("mmd", "MMD"), ("rmse", "error on the mean"))


def pictures(records: Sequence[Record]) -> list[Picture]:
    """MMD above, error on the mean below; one column per setting."""
    cells = [(m, s, [r for r in records if (r.model, r.sigma2) == (m, s)]) for m, s in SETTINGS]
    cells = [cell for cell in cells if cell[2]]
    figure, axes = panels(2, len(cells))
    for column, (model, sigma2, cell) in enumerate(cells):
        for row, (field, name) in enumerate(ROWS):
            title = f"{model}, σ² = {sigma2:g}" if row == 0 else ""
            _panel(axes[row, column], cell, field, name if column == 0 else "", title)
    legend(figure, axes[0, 0])
    batches = 1 + max(r.batch for r in records)
    return [
        Picture(
            "mixture",
            f"Section 4.1: n points for a random mixture of K Gaussians in d dimensions, medians "
            f"over {batches} mixtures. Dashed: linear fits, with their slopes at the right.",
            figure,
        )
    ]


def _panel(axis: Any, cell: Sequence[Record], field: str, ylabel: str, title: str) -> None:
    slopes = {}
    sizes = sorted({r.n for r in cell})
    for rule in in_order(r.rule for r in cell):
        of_rule = [r for r in cell if r.rule == rule]
        n = sorted({r.n for r in of_rule})
        low, median, high = np.maximum(quantiles(of_rule, field, n)[1:4], MMD_NOISE)
        axis.fill_between(n, low, high, color=LOOK[rule][0], alpha=0.1, linewidth=0)
        axis.plot(n, median, **{**look(rule), "linestyle": "none"}, label=label(rule))
        if len(n) > 2:
            slopes[rule] = _fitted(axis, np.array(n), median, LOOK[rule][0])
    log_axes(axis, few(sizes), "n", ylabel, title)
    end_labels(axis, slopes)  # the slopes stand beside the axes, as in the paper


def _fitted(axis: Any, n: Any, median: Any, colour: str) -> tuple[float, str]:
    """Draw the power law through the medians: its value at the last n and its slope."""
    fit: Any = linregress(np.log(n), np.log(median))
    line = np.exp(fit.intercept) * n**fit.slope
    axis.plot(n, line, "--", color=colour, linewidth=1.2)
    return float(line[-1]), f"{fit.slope:.2f}"
