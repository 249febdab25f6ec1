"""Picture of the default rule: its error relative to the particle filter's, model by model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skh.claims.default import TITLES
from skh.claims.statistics import medians
from skh.claims.synthetic import SKH
from skh.experiments.record import Record
from skh.figures.style import Picture, in_order, label, legend, log_axes, look, panels

COLUMNS = 4
BOLD = {"linewidth": 3.0, "markersize": 7.0, "zorder": 5}
THIN = {"linewidth": 1.2, "markersize": 4.0}


def pictures(records: Sequence[Record]) -> list[Picture]:
    """One panel per model."""
    models = [model for model in TITLES if any(r.model == model for r in records)]
    rows = -(-len(models) // COLUMNS)
    figure, axes = panels(rows, min(COLUMNS, len(models)), width=2.9, height=2.6)
    for axis in axes.flat[len(models) :]:
        axis.set_axis_off()
    for place, (axis, model) in enumerate(zip(axes.flat, models, strict=False)):
        _panel(axis, [r for r in records if r.model == model], TITLES[model])
        if place % COLUMNS:
            axis.set_ylabel("")
    legend(figure, max(axes.flat, key=lambda axis: len(axis.get_legend_handles_labels()[1])))
    return [Picture("default", _caption(records), figure)]


def _caption(records: Sequence[Record]) -> str:
    batches = len({r.batch for r in records})
    return (
        "Beyond the paper: median RMSE of the filtered mean relative to that of the particle "
        f"filter (grey line at 1), over {batches} batches. For SKH-FW and SKH-FCFW, run on the "
        "further models only, σ² is the best of three for each N, known only in hindsight."
    )


def _panel(axis: Any, of_model: Sequence[Record], title: str) -> None:
    base = medians([r for r in of_model if r.rule == "PF"], "rmse")
    axis.axhline(1.0, color=look("PF")["color"], linewidth=1.2)
    for rule in in_order({r.rule for r in of_model} - {"PF"}):
        error = _best_medians([r for r in of_model if r.rule == rule])
        n = [size for size in error if size in base]
        width = BOLD if rule == "default" else THIN
        heights = [error[size] / base[size] for size in n]
        axis.plot(n, heights, **look(rule) | width, label=_label(rule))
    log_axes(axis, sorted(base), "number of particles N", "RMSE / RMSE of the PF", title)


def _best_medians(of_rule: Sequence[Record]) -> dict[int, float]:
    """The median for each N, with the best sigma^2 where a rule has several."""
    curves = [
        medians([r for r in of_rule if str(r.sigma2) == sigma2], "rmse")
        for sigma2 in sorted({str(r.sigma2) for r in of_rule})  # as text NaN equals itself
    ]
    sizes = sorted({n for curve in curves for n in curve})
    return {n: min(curve[n] for curve in curves if n in curve) for n in sizes}


def _label(rule: str) -> str:
    return f"{rule}, best σ²" if rule in SKH else label(rule)
