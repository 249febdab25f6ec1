"""Figure of the table: the measured share of each bound."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from timing import Row

KEPT, MISSED = "#2a6f97", "#c1440e"


def draw(rows: list[Row], path: Path) -> None:
    """Draw a bar per row on a logarithmic axis; left of the line at one, the bound is kept."""
    rows = [row for row in rows if row.bound][::-1]
    used = [row.bound / row.value if row.at_least else row.value / row.bound for row in rows]
    figure, axes = plt.subplots(figsize=(9, 0.3 * len(rows) + 1.2), layout="constrained")
    low = min(0.03, 0.8 * min(used))
    axes.barh(
        [f"{row.name}" for row in rows],
        [max(u, low) - low for u in used],
        left=low,
        color=[KEPT if row.ok else MISSED for row in rows],
    )
    for y, (row, u) in enumerate(zip(rows, used, strict=True)):
        label = f"{row.value:.3g} {row.unit}"
        white = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        axes.text(1.04 * max(u, low), y, label, va="center", fontsize=7, bbox=white)
    axes.axvline(1.0, color="black", linewidth=1, zorder=0.5)
    axes.margins(y=0.01)
    axes.set_xscale("log")
    axes.set_xlim(low, 4 * max(1.0, *used))
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel("share of the bound that is used up (left of 1: kept)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    plt.close(figure)
