"""Figures of section 4.2: the paper's figure, and one for each model as in its appendix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import batches
from skh.reproduction.synthetic.claims import REPORTED, TITLES

EXACT = ("lgss3", "lgss15")  # models with an exact predictive to measure the MMD to
DODGE = 1.022  # factor in n between neighbouring rules, so that their bars do not overlap
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


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw the figure of the paper, then one for each model."""
    models = [model for model in REPORTED if any(r.model == model for r in records)]
    return [_main(records), *(_by_sigma2(records, model) for model in models)]


def _main(records: Sequence[Record]) -> style.Picture:
    figure, axes = style.panels(2, 3, width=3.7, height=2.9)
    for row, column, model, field in LAYOUT:
        cell = [r for r in records if (r.model, r.sigma2) == (model, REPORTED[model])]
        title = f"{TITLES[model]}, {NAMES[field]} (σ² = {REPORTED[model]:g})"
        _panel(axes[row, column], cell, field, title)
    style.legend(figure, axes)
    caption = "Section 4.2: RMSE of the filtered mean, MMD to the exact predictive. "
    return style.Picture("synthetic", caption + HOW.format(batches(records)), figure)


def _by_sigma2(records: Sequence[Record], model: str) -> style.Picture:
    of_model = [r for r in records if r.model == model]
    variances = sorted({r.sigma2 for r in of_model})
    fields = ["rmse", "mmd"] if model in EXACT else ["rmse", "n_particles"]
    figure, axes = style.panels(len(fields), len(variances), width=3.7, height=2.7)
    for row, field in enumerate(fields):
        for column, sigma2 in enumerate(variances):
            cell = [r for r in of_model if r.sigma2 == sigma2]
            _panel(axes[row, column], cell, field, f"{NAMES[field]}, σ² = {sigma2:g}")
        _same_heights(axes[row])
    style.legend(figure, axes)
    caption = f"Appendix C.2: {TITLES[model]} for three variances σ² of the kernel. "
    return style.Picture(f"synthetic-{model}", caption + HOW.format(batches(of_model)), figure)


def _panel(axis: Any, cell: Sequence[Record], field: str, title: str) -> None:
    rules = style.by_rule(cell)
    for place, (rule, of_rule) in enumerate(rules.items()):
        n = sorted({r.n for r in of_rule})
        x = np.array(n) * DODGE ** (place - (len(rules) - 1) / 2)
        low, first, median, third, high = style.quantiles(of_rule, field, n)
        colour = style.colour(rule)
        axis.vlines(x, low, high, color=colour, linewidth=0.7, alpha=0.8)
        axis.vlines(x, first, third, color=colour, linewidth=2.6, alpha=0.45)
        axis.plot(x, median, **style.look(rule), label=style.label(rule))
    sizes = sorted({r.n for r in cell})
    style.log_axes(axis, sizes, "number of particles N", NAMES[field], title)


def _same_heights(row: Any) -> None:
    """Give all panels of a row the same y limits."""
    limits = np.array([axis.get_ylim() for axis in row])
    for axis in row:
        axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        style.plain_heights(axis)
