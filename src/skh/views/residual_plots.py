"""Residuals in a figure, for checking a model against data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy  # loads scipy.special on first use

from skh import _checks
from skh._typing import Array, Indices
from skh.views.figures import BAND, FAINT, INK, empty_figure, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NORMAL_95 = 1.959964  # standard deviations that hold 95% of a normal distribution
MOST_LAGS = 25
MOST_BINS = 20
PER_BIN = 8  # values expected in a bin of the histogram, at least
FEWEST = 3  # residuals that can be drawn


def plot_residuals(residuals: Any, entry: int, name: str | None, figure: Any) -> Figure:
    """Draw four panels about one entry of the observations; see `Residuals.plot`."""
    T, m = residuals.pit.shape
    entry = _checks.time_index("entry", entry)
    if entry >= m:
        raise ValueError(f"entry must be below {m}, got {entry}")
    steps = np.flatnonzero(np.isfinite(residuals.pit[:, entry]))
    if len(steps) < FEWEST:
        raise ValueError(f"plot needs at least {FEWEST} residuals, got {len(steps)}")
    u, r = residuals.pit[steps, entry], residuals.normal[steps, entry]
    with empty_figure(figure, 8.6, 5.6) as drawn:
        axes = drawn.subplots(2, 2)
        _over_time(axes[0, 0], steps, r)
        _histogram(axes[0, 1], u)
        _quantiles(axes[1, 0], r)
        _autocorrelation(axes[1, 1], r)
        drawn.suptitle(
            f"{name or f'entry {entry}'}: {len(steps)} of {T} steps, "
            f"p-value of uniform PIT {residuals.p_values[entry]:.2g}",
            fontsize=10,
        )
    return drawn


def _over_time(axis: Axes, steps: Indices, r: Array) -> None:
    axis.axhspan(-NORMAL_95, NORMAL_95, color=BAND, alpha=0.12, lw=0)
    axis.plot(steps, r, ".", color=INK, ms=4)
    axis.set(xlabel="step", ylabel="normal residual", title="residuals; 95% in the band")
    size = max(3.0, 1.08 * float(np.abs(r).max()))
    axis.set_ylim(-size, size)
    grid(axis)


def _histogram(axis: Axes, u: Array) -> None:
    """Draw the histogram of PIT values, with the counts that 95% of uniform bins have."""
    bins = int(np.clip(len(u) // PER_BIN, 2, MOST_BINS))
    expected = len(u) / bins
    spread = NORMAL_95 * np.sqrt(expected * (1 - 1 / bins))
    axis.axhspan(max(expected - spread, 0.0), expected + spread, color=BAND, alpha=0.12, lw=0)
    axis.hist(u, bins=bins, range=(0, 1), color=FAINT, edgecolor="0.45", lw=0.7)
    axis.axhline(expected, color=INK, lw=1.0)
    axis.set(xlabel="PIT", ylabel="steps", title="uniform if the model is right", xlim=(0, 1))
    axis.locator_params(axis="y", integer=True)
    grid(axis)


def _quantiles(axis: Axes, r: Array) -> None:
    """Draw sorted residuals over normal quantiles, with the 95% band of each order statistic."""
    k, n = np.arange(1, len(r) + 1), len(r)
    normal = scipy.special.ndtri(k / (n + 1))
    low, high = (
        scipy.special.ndtri(scipy.special.betaincinv(k, n + 1 - k, q)) for q in (0.025, 0.975)
    )
    axis.fill_between(normal, low, high, color=BAND, alpha=0.12, lw=0)
    axis.plot(normal, normal, color=INK, lw=0.9)
    axis.plot(normal, np.sort(r), ".", color=INK, ms=4)
    axis.set(xlabel="normal quantile", ylabel="residual", title="on the line if normal")
    grid(axis)


def autocorrelations(r: Array, lags: int) -> Array:
    """Autocorrelations of a series at the lags 1, 2, ...

    >>> autocorrelations(np.array([1.0, -1.0, 1.0, -1.0]), 2)
    array([-0.75,  0.5 ])
    """
    centred = r - r.mean()
    variance = centred @ centred
    if variance == 0.0:
        return np.zeros(lags)
    return np.array([centred[k:] @ centred[:-k] / variance for k in range(1, lags + 1)])


def _autocorrelation(axis: Axes, r: Array) -> None:
    lags = min(MOST_LAGS, len(r) - 1)
    limit = NORMAL_95 / np.sqrt(len(r))
    axis.axhspan(-limit, limit, color=BAND, alpha=0.12, lw=0)
    found = autocorrelations(r, lags)
    axis.vlines(np.arange(1, lags + 1), 0.0, found, color=INK, lw=1.4)
    axis.axhline(0.0, color="0.3", lw=0.7)
    size = max(0.3, 1.15 * float(np.abs(found).max()), 1.15 * limit)
    axis.set(xlabel="lag", ylabel="autocorrelation", title="none if the model is right")
    axis.set_ylim(-size, size)
    grid(axis)
