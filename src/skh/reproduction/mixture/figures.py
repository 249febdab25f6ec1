"""Figure of section 4.1: errors against the number of points, with their slopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import linregress

from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.mixture.claims import SETTINGS
from skh.reproduction.statistics import MMD_NOISE, batches

ROWS = (("mmd", "MMD"), ("rmse", "error on the mean"))


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw the MMD above and the error of the mean below, with one column per setting."""
    cells = [(m, s, [r for r in records if (r.model, r.sigma2) == (m, s)]) for m, s in SETTINGS]
    cells = [cell for cell in cells if cell[2]]
    figure, axes = style.panels(2, len(cells))
    for column, (model, sigma2, cell) in enumerate(cells):
        for row, (field, name) in enumerate(ROWS):
            title = f"{model}, σ² = {sigma2:g}" if row == 0 else ""
            _panel(axes[row, column], cell, field, name if column == 0 else "", title)
    style.legend(figure, axes)
    caption = (
        "Section 4.1: n points for a random mixture of K Gaussians in d dimensions, medians "
        f"over {batches(records)} mixtures. Dashed: linear fits, with their slopes at the right."
    )
    return [style.Picture("mixture", caption, figure)]


def _panel(axis: Any, cell: Sequence[Record], field: str, ylabel: str, title: str) -> None:
    slopes = {}
    for rule, of_rule in style.by_rule(cell).items():
        n = sorted({r.n for r in of_rule})
        low, median, high = np.maximum(style.quantiles(of_rule, field, n)[1:4], MMD_NOISE)
        style.band(axis, rule, n, low, high)
        axis.plot(n, median, **style.look(rule) | {"linestyle": "none"}, label=style.label(rule))
        if len(n) > 2:
            slopes[rule] = _fitted(axis, np.array(n), median, style.colour(rule))
    style.log_axes(axis, style.few(r.n for r in cell), "n", ylabel, title)
    style.end_labels(axis, slopes)


def _fitted(axis: Any, n: Any, median: Any, colour: str) -> tuple[float, str]:
    """Draw a power law through the medians; return its value at the last n and its slope."""
    fit: Any = linregress(np.log(n), np.log(median))
    line = np.exp(fit.intercept) * n**fit.slope
    axis.plot(n, line, "--", color=colour, linewidth=1.2)
    return float(line[-1]), f"{fit.slope:.2f}"
