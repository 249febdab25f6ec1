"""What all figures share: the look of each rule, axes, legends and labels.

matplotlib is imported when a figure is drawn, not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from skh._typing import Array
from skh.reproduction.engine.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

GREY, OLIVE, GREEN, BLUE, RED = "#7f7f7f", "#b5a642", "#4f9460", "#3b75af", "#c03d3e"
# Colour, marker and line, in the order of the legends.  Random rules are grey.
LOOK: dict[str, tuple[str, str, str]] = {
    "MC": (GREY, "o", "-"),
    "PF": (GREY, "o", "-"),
    "Sobol": (OLIVE, "v", "-"),
    "QMC": (OLIVE, "v", "-"),
    "Hilbert-Sobol": (GREEN, "^", "-"),
    "SQMC": (GREEN, "^", "-"),
    "FW": (BLUE, "s", "-"),
    "SKH-FW": (BLUE, "s", "-"),
    "FW-LS": ("#8fc1e8", "P", "-"),
    "FCFW": (RED, "D", "-"),
    "SKH-FCFW": (RED, "D", "-"),
    "reference": ("black", "*", "--"),
    "FW, Sobol": (BLUE, "s", ":"),
    "FCFW, Sobol": (RED, "D", ":"),
    "Refined Sobol": ("#d98c3f", "X", "-"),
    "FCFW, four scales": ("#8c6bb1", "p", "-"),
    "smoothed PF": ("#9a9a9a", "h", "--"),
    "smoothed": ("#2f8f9d", "h", "-"),
    "default": ("black", "o", "-"),
    "second look": (RED, "D", "-"),
    "PF, linearised": ("#d98c3f", "X", "--"),
    "default, told": ("#2f8f9d", "P", ":"),
    "default, learned": ("#8c6bb1", "p", ":"),
}
OTHER = ("0.4", "x", "-")  # rules that have no look of their own
LABELS = {
    "MC": "Monte Carlo",
    "PF": "PF, stratified",
    "QMC": "Sobol PF",
    "reference": "one reference PF",
    "SQMC": "Hilbert SQMC",
    "Hilbert-Sobol": "Sobol, Hilbert-sorted",
    "smoothed PF": "PF, smoothed",
    "smoothed": "default, smoothed",
    "default": "default rule",
    "FW, Sobol": "FW, Sobol search points",
    "FCFW, Sobol": "FCFW, Sobol search points",
}
ENTRY_WIDTH = 2.0  # inches for an entry of the legend
RC: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "svg.hashsalt": "skh",  # makes SVG files reproducible
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with its file name and its caption."""

    name: str
    caption: str
    figure: Figure


def blank(width: float, height: float) -> Figure:
    """An empty figure of a size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def panels(rows: int, columns: int, width: float = 3.0, height: float = 2.6) -> tuple[Figure, Any]:
    """A figure with a two-dimensional array of axes."""
    figure = blank(width * columns, height * rows + 0.45)
    return figure, figure.subplots(rows, columns, squeeze=False)


def by_rule(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each rule, in the order of the legends."""
    order = {rule: k for k, rule in enumerate(LOOK)}
    rules = sorted({r.rule for r in records}, key=lambda rule: (order.get(rule, len(order)), rule))
    return {rule: [r for r in records if r.rule == rule] for rule in rules}


def colour(rule: str) -> str:
    """The colour of a rule."""
    return LOOK.get(rule, OTHER)[0]


def look(rule: str) -> dict[str, Any]:
    """The keyword arguments of ``plot`` for a rule."""
    colour, marker, line = LOOK.get(rule, OTHER)
    return {"color": colour, "marker": marker, "linestyle": line}


def label(rule: str) -> str:
    """The name of a rule in figures and tables."""
    return LABELS.get(rule, rule)


def band(axis: Any, rule: str, x: Any, low: Any, high: Any, alpha: float = 0.1) -> None:
    """Shade the range between two curves of a rule."""
    axis.fill_between(x, low, high, color=colour(rule), alpha=alpha, linewidth=0)


def grid(axis: Any) -> None:
    """Draw a light grid at the major ticks."""
    axis.grid(visible=True, which="major", color="0.92", linewidth=0.8)


def log_axes(axis: Any, ticks: Sequence[int], x: str, y: str, title: str) -> None:
    """Make both axes logarithmic, with the given sizes as ticks of the first."""
    axis.set(xscale="log", yscale="log", xlabel=x, ylabel=y, title=title)
    axis.set_xticks(ticks, [_short(t) for t in ticks])
    axis.tick_params(axis="x", which="minor", length=0, labelbottom=False)
    grid(axis)
    axis.set_axisbelow(True)
    plain_heights(axis)


def plain_heights(axis: Any) -> None:
    """Write y ticks as 0.2, 0.5, 1, as 0.3, 1, or only powers of ten over a wide range."""
    from matplotlib import ticker

    low, high = axis.get_ylim()
    decades = np.log10(high / low)
    subdivisions = (1.0,) if decades > 2.6 else (1.0, 3.0) if decades > 1.8 else (1.0, 2.0, 5.0)
    even = decades < 0.6
    locator = ticker.MaxNLocator(4) if even else ticker.LogLocator(subs=subdivisions)
    axis.yaxis.set_major_locator(locator)
    plain = ticker.FuncFormatter(lambda height, _: f"{height:g}")
    axis.yaxis.set_major_formatter(plain if decades < 5 else ticker.LogFormatterMathtext())
    axis.yaxis.set_minor_formatter(ticker.NullFormatter())
    if even:
        axis.yaxis.set_minor_locator(ticker.NullLocator())


def _short(size: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def few(sizes: Iterable[int], most: int = 5) -> list[int]:
    """At most ``most`` of the sizes, evenly spaced and with both ends."""
    ordered = sorted(set(sizes))
    chosen = np.linspace(0, len(ordered) - 1, min(most, len(ordered))).round().astype(int)
    return [ordered[i] for i in chosen]


def legend(figure: Figure | SubFigure, axes: Any) -> None:
    """Draw one legend for all panels below them: that of the panel with the most entries."""
    found = [axis.get_legend_handles_labels() for axis in axes.flat]
    handles, labels = max(found, key=lambda entries: len(entries[1]))
    room = max(int(figure.bbox.width / figure.dpi / ENTRY_WIDTH), 1)
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), room))


def quantiles(records: Sequence[Record], field: str, sizes: Sequence[int], by: str = "n") -> Array:
    """Minimum, quartiles and maximum of a field for each size, of shape (5, sizes)."""
    columns = [[getattr(r, field) for r in records if getattr(r, by) == s] for s in sizes]
    return np.array([np.quantile(c, [0, 0.25, 0.5, 0.75, 1]) for c in columns]).T


def end_labels(axis: Any, ends: dict[str, tuple[float, str]]) -> None:
    """Write a text to the right of where each rule's line ends, without overlap."""
    axis.get_ylim()  # updates the limits, which the transformation does not do
    to_axes = axis.transScale + axis.transLimits
    heights = [to_axes.transform((1.0, end))[1] for end, _ in ends.values()]
    for (rule, (_, text)), height in zip(ends.items(), spread(heights), strict=True):
        axis.text(
            *(1.02, height, text.replace("-", "−")),
            transform=axis.transAxes,
            color=colour(rule),
            va="center",
            fontsize=8,
            clip_on=False,
        )


def spread(heights: Sequence[float], gap: float = 0.075) -> list[float]:
    """Move heights in [0, 1] by as little as needed to be ``gap`` apart, in the same order."""
    order = np.argsort(heights)
    moved = np.array(heights, dtype=float)
    for _ in range(300):
        for below, above in pairwise(order):
            missing = gap - (moved[above] - moved[below])
            if missing > 1e-9:
                moved[below] -= missing / 2
                moved[above] += missing / 2
        moved = np.clip(moved, gap / 3, 1 - gap / 3)
    return [float(h) for h in moved]
