"""What all pictures have in common: one look for each rule, axes, labels that do not overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FuncFormatter,
    LogFormatterMathtext,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from skh.experiments.record import Record

GREY, OLIVE, GREEN, BLUE, RED = "#7f7f7f", "#b5a642", "#4f9460", "#3b75af", "#c03d3e"
# Colour, marker, line: what draws at random is grey, what places is blue or red.
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
}
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
ENTRY = 2.0  # inches that an entry of the legend takes at most
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
    "svg.hashsalt": "skh",  # the same picture gives the same file
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with the name of its files and the sentence below it."""

    name: str
    caption: str
    figure: Figure


def panels(rows: int, columns: int, width: float = 3.0, height: float = 2.6) -> tuple[Figure, Any]:
    """A figure with a grid of axes, always as a two-dimensional array."""
    figure = Figure(figsize=(width * columns, height * rows + 0.45), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def in_order(rules: Iterable[str]) -> list[str]:
    """Rules in the order of the legend."""
    return sorted(set(rules), key=list(LOOK).index)


def look(rule: str) -> dict[str, Any]:
    """The keywords of a line."""
    colour, marker, line = LOOK[rule]
    return {"color": colour, "marker": marker, "linestyle": line}


def label(rule: str) -> str:
    """The name of a rule in a legend."""
    return LABELS.get(rule, rule)


def log_axes(axis: Any, ticks: Sequence[int], x: str, y: str, title: str) -> None:
    """Logarithmic axes with the measured sizes as ticks."""
    axis.set(xscale="log", yscale="log", xlabel=x, ylabel=y, title=title)
    axis.set_xticks(ticks, [_short(t) for t in ticks])
    axis.tick_params(axis="x", which="minor", length=0, labelbottom=False)
    axis.grid(visible=True, which="major", color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)
    plain_heights(axis)


def plain_heights(axis: Any) -> None:
    """Ticks such as 0.2, 0.5, 1; powers of ten alone where they are enough."""
    low, high = axis.get_ylim()
    decades = np.log10(high / low)
    subdivisions = (1.0,) if decades > 1.8 else (1.0, 2.0, 5.0)
    even = decades < 0.6
    axis.yaxis.set_major_locator(MaxNLocator(4) if even else LogLocator(subs=subdivisions))
    plain = FuncFormatter(lambda height, _: f"{height:g}")
    axis.yaxis.set_major_formatter(plain if decades < 5 else LogFormatterMathtext())
    axis.yaxis.set_minor_formatter(NullFormatter())
    if even:
        axis.yaxis.set_minor_locator(NullLocator())


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 and size % 1000 == 0 else str(size)


def few(sizes: Iterable[int], most: int = 5) -> list[int]:
    """At most so many of the sizes, evenly chosen, ends included."""
    ordered = sorted(set(sizes))
    chosen = np.linspace(0, len(ordered) - 1, min(most, len(ordered))).round().astype(int)
    return [ordered[i] for i in chosen]


def legend(figure: Figure, axis: Any) -> None:
    """One legend for all panels, below them."""
    handles, labels = axis.get_legend_handles_labels()
    room = max(int(figure.get_figwidth() / ENTRY), 1)
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), room))


def quantiles(
    records: Sequence[Record], field: str, sizes: Sequence[int], by: str = "n"
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Minimum, quartiles and maximum over the batches, (5, sizes)."""
    columns = [[getattr(r, field) for r in records if getattr(r, by) == s] for s in sizes]
    return np.array([np.quantile(c, [0, 0.25, 0.5, 0.75, 1]) for c in columns]).T


def end_labels(axis: Any, ends: dict[str, tuple[float, str]]) -> None:
    """Write a text beside the axes where the line of each rule ends, moved apart."""
    axis.get_ylim()  # settles the limits, which the transformation does not wait for
    to_axes = axis.transScale + axis.transLimits
    heights = [to_axes.transform((1.0, end))[1] for end, _ in ends.values()]
    for (rule, (_, text)), height in zip(ends.items(), spread(heights), strict=True):
        axis.text(
            *(1.02, height, text.replace("-", "−")),
            transform=axis.transAxes,
            color=LOOK[rule][0],
            va="center",
            fontsize=8,
            clip_on=False,
        )


def spread(heights: Sequence[float], gap: float = 0.075) -> list[float]:
    """Heights within [0, 1], moved as little as needed to lie ``gap`` apart in the same order."""
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
