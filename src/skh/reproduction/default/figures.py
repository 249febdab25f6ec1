"""Figure of the default rule: its error relative to the particle filter's on each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skh.reproduction import style
from skh.reproduction.default.claims import TITLES
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import batches, medians
from skh.reproduction.synthetic.claims import SKH

COLUMNS = 4
BOLD = {"linewidth": 3.0, "markersize": 7.0, "zorder": 5}
THIN = {"linewidth": 1.2, "markersize": 4.0}


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw one panel per model."""
    models = [model for model in TITLES if any(r.model == model for r in records)]
    rows = -(-len(models) // COLUMNS)
    figure, axes = style.panels(rows, min(COLUMNS, len(models)), width=2.9, height=2.6)
    for axis in axes.flat[len(models) :]:
        axis.set_axis_off()
    for place, (axis, model) in enumerate(zip(axes.flat, models, strict=False)):
        _panel(axis, [r for r in records if r.model == model], TITLES[model])
        if place % COLUMNS:
            axis.set_ylabel("")
    style.legend(figure, axes)
    caption = (
        "Beyond the paper: median RMSE of the filtered mean relative to that of the particle "
        f"filter (grey line at 1), over {batches(records)} batches. For SKH-FW and SKH-FCFW, run "
        "on the further models only, σ² is the best of three for each N, known only in hindsight."
    )
    return [style.Picture("default", caption, figure)]


def _panel(axis: Any, of_model: Sequence[Record], title: str) -> None:
    rules = style.by_rule(of_model)
    base = medians(rules.pop("PF", []), "rmse")
    axis.axhline(1.0, color=style.colour("PF"), linewidth=1.2)
    for rule, of_rule in rules.items():
        error = _best_medians(of_rule)
        n = [size for size in error if size in base]
        width = BOLD if rule == "default" else THIN
        name = f"{rule}, best σ²" if rule in SKH else style.label(rule)
        axis.plot(n, [error[k] / base[k] for k in n], **style.look(rule) | width, label=name)
    style.log_axes(axis, sorted(base), "number of particles N", "RMSE / RMSE of the PF", title)


def _best_medians(of_rule: Sequence[Record]) -> dict[int, float]:
    """The median for each N, with the best sigma^2 if there are several."""
    curves = [
        medians([r for r in of_rule if str(r.sigma2) == sigma2], "rmse")
        for sigma2 in sorted({str(r.sigma2) for r in of_rule})  # as text, NaN equals itself
    ]
    sizes = sorted({n for curve in curves for n in curve})
    return {n: min(curve[n] for curve in curves if n in curve) for n in sizes}
