"""The picture of the demo: where rules put their particles, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from skh._typing import Array
from skh.experiments.demo import Placement
from skh.experiments.record import Record
from skh.figures.style import LOOK, RC, in_order, label, log_axes, look
from skh.gaussians.mixture import GaussianMixture


def draw(records: Sequence[Record], place: Placement, path: Path) -> None:
    """Where each rule puts its particles (left), and how the error falls with their number."""
    with matplotlib.rc_context({**RC, "font.size": 10}):
        figure = Figure(figsize=(12, 6.2), layout="constrained")
        halves: Any = figure.subfigures(1, 2, width_ratios=[1.15, 1])
        left, right = halves
        _placements(left, place)
        _error_against_n(right.subplots(), records)
        figure.savefig(path, dpi=130)


def density(p: GaussianMixture, x: Array) -> Array:
    """The density of a one-dimensional mixture at the points ``x``."""
    variance = p.covariance_matrices[:, 0, 0]
    square = (x[:, None] - p.means[:, 0]) ** 2 / variance
    return np.asarray(np.exp(-square / 2) @ (p.weights / np.sqrt(2 * np.pi * variance)))


def _placements(figure: Any, place: Placement) -> None:
    n = max(len(points) for points in place.points.values())
    sd = place.mixture.covariance[0, 0] ** 0.5
    centre = place.mixture.mean[0]
    x = np.linspace(centre - 2.0 * sd, centre + 2.0 * sd, 600)
    height = density(place.mixture, x)
    axes = figure.subplots(len(place.points), 1, sharex=True)
    for axis, (name, points) in zip(axes, place.points.items(), strict=True):
        axis.fill_between(x, height / height.max(), color="0.9", linewidth=0)
        stems = np.minimum(points.w * n / 2.5, 1.2)  # equal weights are as high in all panels
        colour, *_ = LOOK[name]
        axis.vlines(points.x[:, 0], 0, stems, color=colour, linewidth=1.1)
        axis.plot(points.x[:, 0], stems, ".", color=colour, markersize=4)
        axis.set(yticks=[], ylim=(0, 1.25), xlim=(x[0], x[-1]))
        axis.spines["left"].set_visible(False)
        axis.text(0.005, 0.95, label(name), transform=axis.transAxes, va="top", weight="bold")
        axis.text(
            0.995, 0.95, f"MMD {points.mmd:.4f}", transform=axis.transAxes, va="top", ha="right"
        )
    variances = ", ".join(f"{v:g}" for v in place.kernel.variances)
    axes[0].set_title(
        f"One predictive distribution, {n} particles by each rule\n"
        f"(height = weight; kernel variances {variances})"
    )
    axes[-1].set_xlabel("state")


def _error_against_n(axis: Any, records: Sequence[Record]) -> None:
    ns = sorted({r.n for r in records})
    for name in in_order(r.rule for r in records):
        each = [[r.rmse for r in records if r.rule == name and r.n == n] for n in ns]
        low, median, high = np.quantile(each, [0.25, 0.5, 0.75], axis=1)
        axis.fill_between(ns, low, high, color=LOOK[name][0], alpha=0.12, linewidth=0)
        axis.plot(ns, median, **look(name), linewidth=2, label=label(name))
    title = "Nonlinear benchmark: error against a\n100,000-particle reference (median, quartiles)"
    cost = "particles = likelihood evaluations per step"
    log_axes(axis, ns, cost, "RMSE of the filtered mean", title)
    axis.legend()
