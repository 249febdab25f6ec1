"""Figure of appendix B: errors against the number of search points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import batches


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw the MMD for each family of mixtures and each filter, and the RMSE for filters."""
    models = list(dict.fromkeys(r.model for r in records))
    filters = {r.model for r in records if r.steps > 1}
    shown = [(m, "mmd") for m in models] + [(m, "rmse") for m in models if m in filters]
    figure, axes = style.panels(1, len(shown), width=3.2, height=2.8)
    for axis, (model, field) in zip(axes.flat, shown, strict=True):
        _panel(axis, [r for r in records if r.model == model], field)
    style.legend(figure, axes)
    caption = (
        "Appendix B: the same number n of points, chosen among M search points that are random "
        f"(solid) or a Sobol sequence (dotted); medians and quartiles over {batches(records)} "
        "batches."
    )
    return [style.Picture("search-points", caption, figure)]


def _panel(axis: Any, cell: Sequence[Record], field: str) -> None:
    for rule, of_rule in style.by_rule(cell).items():
        m = sorted({r.m for r in of_rule})
        _, low, median, high, _ = style.quantiles(of_rule, field, m, by="m")
        style.band(axis, rule, m, low, high)
        axis.plot(m, median, **style.look(rule), label=style.label(rule))
    what = "filtering " + cell[0].model if cell[0].steps > 1 else cell[0].model
    sizes = style.few((r.m for r in cell), 7)
    style.log_axes(axis, sizes, "search points M", field.upper(), f"{what}, n = {cell[0].n}")
