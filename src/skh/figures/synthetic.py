"""Pictures of section 4.2: the paper's figure, and its appendix with one picture per model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skh.claims.synthetic import REPORTED, TITLES
from skh.experiments.record import Record
from skh.figures.style import (
    LOOK,
    Picture,
    in_order,
    label,
    legend,
    log_axes,
    look,
    panels,
    plain_heights,
    quantiles,
)

EXACT = ("lgss3", "lgss15")  # models whose MMD is to the exact predictive
DODGE = 1.022  # by what factor of n neighbouring rules are moved apart
HOW = "Lines: medians; thick bars: quartiles; thin bars: minimum and maximum over {} batches."
# The paper's layout: the RMSEs on the left and in the middle, the MMDs on the right.
LAYOUT = (
    (0, 0, "lgss3", "rmse"),
    (1, 0, "lgss15", "rmse"),
    (0, 1, "jmls", "rmse"),
    (1, 1, "nonlinear", "rmse"),
    (0, 2, "lgss3", "mmd"),
    (1, 2, "lgss15", "mmd"),
)
NAMES = {"rmse": "RMSE", "mmd": "MMD", "n_particles": "particles returned"}


def pictures(records: Sequence[Record]) -> list[Picture]:
    """The figure of the paper, then one of the appendix for each model."""
    models = [model for model in REPORTED if any(r.model == model for r in records)]
    return [_main(records), *(_by_sigma2(records, model) for model in models)]


def _main(records: Sequence[Record]) -> Picture:
    figure, axes = panels(2, 3, width=3.7, height=2.9)
    for row, column, model, field in LAYOUT:
        cell = [r for r in records if (r.model, r.sigma2) == (model, REPORTED[model])]
        title = f"{TITLES[model]}, {NAMES[field]} (σ² = {REPORTED[model]:g})"
        _panel(axes[row, column], cell, field, title)
    legend(figure, _fullest(axes))
    how = HOW.format(_batches(records))
    return Picture(
        "synthetic",
        f"Section 4.2: RMSE of the filtered mean, MMD to the exact predictive. {how}",
        figure,
    )


def _by_sigma2(records: Sequence[Record], model: str) -> Picture:
    of_model = [r for r in records if r.model == model]
    widths = sorted({r.sigma2 for r in of_model})
    fields = ["rmse", "mmd"] if model in EXACT else ["rmse", "n_particles"]
    figure, axes = panels(len(fields), len(widths), width=3.7, height=2.7)
    for row, field in enumerate(fields):
        for column, sigma2 in enumerate(widths):
            cell = [r for r in of_model if r.sigma2 == sigma2]
            _panel(axes[row, column], cell, field, f"{NAMES[field]}, σ² = {sigma2:g}")
        _same_heights(axes[row])
    legend(figure, _fullest(axes))
    caption = f"Appendix C.2: {TITLES[model]} for three widths σ² of the kernel. "
    return Picture(f"synthetic-{model}", caption + HOW.format(_batches(of_model)), figure)


def _panel(axis: Any, cell: Sequence[Record], field: str, title: str) -> None:
    rules = in_order(r.rule for r in cell)
    for place, rule in enumerate(rules):
        of_rule = [r for r in cell if r.rule == rule]
        n = sorted({r.n for r in of_rule})
        x = np.array(n) * DODGE ** (place - (len(rules) - 1) / 2)
        low, first, median, third, high = quantiles(of_rule, field, n)
        colour = LOOK[rule][0]
        axis.vlines(x, low, high, color=colour, linewidth=0.7, alpha=0.8)
        axis.vlines(x, first, third, color=colour, linewidth=2.6, alpha=0.45)
        axis.plot(x, median, **look(rule), label=label(rule))
    log_axes(axis, sorted({r.n for r in cell}), "number of particles N", NAMES[field], title)


def _same_heights(row: Any) -> None:
    """One scale for all panels of a row: the kernels are to be compared."""
    limits = np.array([axis.get_ylim() for axis in row])
    for axis in row:
        axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        plain_heights(axis)


def _fullest(axes: Any) -> Any:
    """The panel with most lines, whose legend serves for all."""
    return max(axes.flat, key=lambda axis: len(axis.get_legend_handles_labels()[1]))


def _batches(records: Sequence[Record]) -> int:
    return len({r.batch for r in records})
