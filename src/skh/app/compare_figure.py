"""The figure of ``skh compare``: errors against evaluations, and time against cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skh.app.compare import Comparison

COLOURS = {"PF": "#7f7f7f", "SQMC": "#4f9460", "default": "#c03d3e"}
MARKERS = {"PF": "o", "SQMC": "^", "default": "D"}


def draw_comparison(comparison: Comparison, title: str, path: Path) -> None:
    """Draw the two panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    errors, times = figure.subplots(1, 2)
    _errors(errors, comparison)
    _times(times, comparison)
    parts = [axis.get_legend_handles_labels() for axis in (errors, times)]
    handles, labels = ([*one, *two] for one, two in zip(*parts, strict=True))
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=150)


def _errors(axis: Any, c: Comparison) -> None:
    for method in COLOURS:
        points = sorted((m.n, m.error) for m in c.measured if m.method == method)
        n, error = zip(*points, strict=True)
        axis.loglog(n, np.maximum(error, 1e-12), **_look(method), label=method)
    if c.reference_error > 0:
        low = min(c.reference_error, *(m.error for m in c.measured if m.error > 0)) / 1.5
        axis.axhspan(low, c.reference_error, color="0.93", label="accuracy of the reference")
        axis.set_ylim(bottom=low)
    sizes = sorted({m.n for m in c.measured})
    axis.set_xticks(sizes, [str(n) for n in sizes])
    axis.minorticks_off()
    axis.set(
        xlabel="likelihood evaluations per step", ylabel="error of the means (sd of the state)"
    )
    _finish(axis)


def _times(axis: Any, c: Comparison) -> None:
    """Seconds of a step for the accuracy of the default, by the cost of one likelihood."""
    turns = [r.break_even for r in c.rivals if 0 < r.break_even < np.inf] + [max(c.cost, 1e-9)]
    cost = np.geomspace(min(turns) / 30, max(turns) * 30, 100)
    for rival in c.rivals:
        if np.isfinite(rival.n):
            axis.loglog(cost, rival.seconds(cost), color=COLOURS[rival.method])  # type: ignore[arg-type]
        if 0 < rival.break_even < np.inf:
            place = (rival.break_even, c.seconds(rival.break_even))
            axis.plot(*place, "o", color=COLOURS[rival.method], mfc="white", zorder=5)
    axis.loglog(cost, c.seconds(cost), color=COLOURS["default"])  # type: ignore[arg-type]
    axis.axvline(max(c.cost, 1e-9), color="0.3", linestyle=":", linewidth=1.2)
    axis.annotate(
        "your likelihood",
        (max(c.cost, 1e-9), 0.98),
        xycoords=("data", "axes fraction"),
        rotation=90,
        ha="right",
        va="top",
        fontsize=8,
        color="0.3",
    )
    axis.set(xlabel="seconds of one likelihood", ylabel="seconds of a step, at equal accuracy")
    axis.plot([], [], "o", color="0.3", mfc="white", label="break-even")
    _finish(axis)


def _look(method: str) -> dict[str, Any]:
    return {"color": COLOURS[method], "marker": MARKERS[method], "markersize": 5}


def _finish(axis: Any) -> None:
    axis.grid(visible=True, which="major", color="0.92")
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
