"""Figures of a run: the path on the map with particles and ellipses, and errors over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skh._typing import Array
from skh.app.localize.run import LocalizeRun
from skh.models.robot_sensors.grid_map import GridMap

ESTIMATE_COLOUR, TRUTH_COLOUR, PARTICLE_COLOUR = "#0b5fa5", "#b8450a", "#16785a"
SHOWN_MOMENTS = 15  # steps whose particles and ellipses are drawn
SHOWN_PARTICLES = 300  # of each
MARGIN = 3.0  # metres around what is drawn
WIDEST_KNOWN = 1.0  # metres of standard deviation on a map; a wider belief has no one place


def write_path(run: LocalizeRun, path: Path) -> None:
    """Draw the estimated path, the true one, particles and ellipses on the map."""
    from matplotlib.figure import Figure

    low, high = shown_area(run)
    width, height = high - low
    scale = 9.0 / max(width, height)
    size = (max(scale * width, 3.5) + 1.2, max(scale * height, 3.0) + 1.0)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    if run.setup.grid is not None:
        _draw_map(axes, run.setup.grid)
    elif run.setup.landmarks is not None:
        x, y = run.setup.landmarks[:, :2].T
        axes.plot(x, y, "s", color="0.25", markersize=5, label="landmarks")
    if run.true_planar is not None:
        x, y = run.true_planar[:, :2].T
        axes.plot(x, y, color=TRUTH_COLOUR, linewidth=1.0, label="truth")
    estimate = settled_path(run)
    known = np.flatnonzero(np.isfinite(estimate[:, 0]))
    axes.plot(*estimate.T, color=ESTIMATE_COLOUR, linewidth=1.2, label="estimate")
    for t in known[:1]:
        axes.plot(*estimate[t], "o", color=ESTIMATE_COLOUR, markersize=6, label=first_label(t))
    _draw_moments(axes, run, estimate)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x, m", ylabel="y, m")
    axes.set_aspect("equal")
    axes.legend(loc="best", fontsize=8, framealpha=0.9)
    figure.savefig(path, dpi=150)


def shown_area(run: LocalizeRun) -> tuple[Array, Array]:
    """Corners (2,) of the area with the paths and the landmarks."""
    path = settled_path(run)
    points = [path if np.isfinite(path).any() else run.planar[:, :2]]
    if run.true_planar is not None:
        points.append(run.true_planar[:, :2])
    if run.setup.grid is None and run.setup.landmarks is not None:
        points.append(run.setup.landmarks[:, :2])
    rows = np.concatenate(points)
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    margin = MARGIN if run.setup.grid is not None else max(0.1 * float((high - low).max()), 0.1)
    return low - margin, high + margin


def first_label(t: int) -> str:
    """What the first place that is known is called."""
    return "start" if t == 0 else "one place is left"


def settled_path(run: LocalizeRun) -> Array:
    """Estimated places (T, 2); NaN where a belief is so wide that its mean means nothing."""
    wide = deviations_of(run)[0] > (WIDEST_KNOWN if run.setup.grid is not None else np.inf)
    return np.where(wide[:, None], np.nan, run.planar[:, :2])


def map_image(grid: GridMap) -> Array:
    """Grey values (rows, columns): occupied black, free white, unknown grey."""
    image = np.full(grid.occupied.shape, 0.82)
    free = np.logical_not(grid.occupied) if grid.free is None else grid.free
    image[free], image[grid.occupied] = 1.0, 0.0
    return image


def map_extent(grid: GridMap) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of a map, metres."""
    rows, columns = grid.occupied.shape
    x, y = grid.origin
    return x, x + columns * grid.resolution, y, y + rows * grid.resolution


def _draw_map(axes: Any, grid: GridMap) -> None:
    shown = {"cmap": "gray", "vmin": 0, "vmax": 1, "origin": "lower", "zorder": 0}
    axes.imshow(map_image(grid), extent=map_extent(grid), **shown)


def _draw_moments(axes: Any, run: LocalizeRun, estimate: Array) -> None:
    """Particles and ellipses of two deviations at some steps."""
    rng = np.random.default_rng(0)
    moments = np.unique(np.linspace(0, len(run.times) - 1, SHOWN_MOMENTS).round().astype(int))
    for k, t in enumerate(moments):
        particles, w = run.planar_particles(int(t))
        chosen = rng.choice(len(w), min(len(w), SHOWN_PARTICLES), p=w)
        label = "particles" if k == 0 else None
        x, y = particles[chosen, :2].T
        axes.plot(x, y, ".", color=PARTICLE_COLOUR, markersize=2, alpha=0.6, label=label)
        outline = ellipse(run.planar[t, :2], run.covariances[t][:2, :2])
        if np.isfinite(estimate[t, 0]):
            label = "two deviations" if t == moments[-1] else None
            axes.plot(*outline.T, color=ESTIMATE_COLOUR, linewidth=0.8, alpha=0.8, label=label)


def ellipse(centre: Array, S: Array, deviations: float = 2.0) -> Array:
    """Outline (m, 2) of an ellipse of so many standard deviations."""
    values, vectors = np.linalg.eigh(S)
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    axes = vectors * (deviations * np.sqrt(np.maximum(values, 0.0)))
    return np.asarray(centre + (axes @ circle).T)


def write_errors(run: LocalizeRun, path: Path) -> None:
    """Draw errors with two deviations if there is a truth, else the deviations; and the ESS."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    place, turn, ess = figure.subplots(3, 1, sharex=True)
    t = run.times - run.times[0]
    sd_place, sd_turn = deviations_of(run)
    errors = run.errors
    for axes, sd, name in ((place, sd_place, "position, m"), (turn, sd_turn, "heading, rad")):
        axes.fill_between(t, 0, 2 * sd, color=ESTIMATE_COLOUR, alpha=0.2, label="two deviations")
        axes.set_ylabel(f"error of the {name}" if errors is not None else f"spread, {name}")
    if errors is not None:
        d = 2 if errors.shape[1] == 3 else 3
        for axes, error in ((place, errors[:, :d]), (turn, errors[:, d:])):
            size = np.linalg.norm(error, axis=1)
            axes.plot(t, size, color=TRUTH_COLOUR, linewidth=0.9, label="error")
            _limit(axes, size)
    else:
        _limit(place, sd_place)
        _limit(turn, sd_turn)
    ess.plot(t, run.result.ess, color=PARTICLE_COLOUR, linewidth=0.9)
    ess.set(ylabel="effective sample size", xlabel="time, s", ylim=(0, None))
    if run.result.ess.max() > 20 * np.median(run.result.ess):  # a start anywhere
        ess.set(yscale="log", ylim=(1, None))
    for axes in (place, turn):
        axes.set_ylim(bottom=0)
    above = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    place.legend(ncols=2, fontsize=8, frameon=False, **above)
    figure.savefig(path, dpi=150)


def _limit(axes: Any, size: Array) -> None:
    """Keep a start with a wide belief from hiding the errors that follow."""
    known = size[np.isfinite(size)]
    if len(known):
        top = 3 * float(np.quantile(known, 0.95))
        axes.set_ylim(top=max(top, 1e-9))


def deviations_of(run: LocalizeRun) -> tuple[Array, Array]:
    """Standard deviations of the position and of the direction over time."""
    variances = np.diagonal(run.covariances, axis1=1, axis2=2)
    d = 2 if variances.shape[1] == 3 else 3
    return np.sqrt(variances[:, :d].sum(axis=1)), np.sqrt(variances[:, d:].sum(axis=1))
