"""Pictures of appendix B: errors against the number of search points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skh.experiments.record import Record
from skh.figures.style import (
    LOOK,
    Picture,
    few,
    in_order,
    label,
    legend,
    log_axes,
    look,
    panels,
    quantiles,
)


def pictures(records: Sequence[Record]) -> list[Picture]:
    """The MMD for each family of mixtures and each filter; the RMSE for filters."""
    models = list(dict.fromkeys(r.model for r in records))
    filters = {r.model for r in records if r.steps > 1}
    shown = [(m, "mmd") for m in models] + [(m, "rmse") for m in models if m in filters]
    figure, axes = panels(1, len(shown), width=3.2, height=2.8)
    for axis, (model, field) in zip(axes.flat, shown, strict=True):
        _panel(axis, [r for r in records if r.model == model], field)
    legend(figure, axes[0, 0])
    batches = len({r.batch for r in records})
    return [
        Picture(
            "search-points",
            f"Appendix B: the same number n of points, chosen among M search points that are "
            f"random (solid) or a Sobol sequence (dotted); medians and quartiles over {batches} "
            "batches.",
            figure,
        )
    ]


def _panel(axis: Any, cell: Sequence[Record], field: str) -> None:
    for rule in in_order(r.rule for r in cell):
        of_rule = [r for r in cell if r.rule == rule]
        m = sorted({r.m for r in of_rule})
        _, low, median, high, _ = quantiles(of_rule, field, m, by="m")
        axis.fill_between(m, low, high, color=LOOK[rule][0], alpha=0.1, linewidth=0)
        axis.plot(m, median, **look(rule), label=label(rule))
    what = "filtering " + cell[0].model if cell[0].steps > 1 else cell[0].model
    sizes = few((r.m for r in cell), 7)
    log_axes(axis, sizes, "search points M", field.upper(), f"{what}, n = {cell[0].n}")
