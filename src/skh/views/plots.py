"""The course of a run in one figure: state, effective sample size, looks and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skh import _checks
from skh._typing import Array
from skh.views.figures import (
    BAND,
    FAINT,
    GUIDED_INK,
    INK,
    PILOT_INK,
    TRUTH,
    checked_truth,
    chosen,
    empty_figure,
    grid,
    limits,
)
from skh.views.tables import deviations_of, hidden_names, look_reasons, state_names, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COORDINATES = 6  # drawn unless more are chosen
BAND_LEVELS = (0.05, 0.25, 0.75, 0.95)  # of a history without quantiles
TWO_DEVIATIONS = "mean ± 2 standard deviations"
FEW_STEPS = 40  # up to which single steps are marked
# Kinds of steps, in the order of the strip's colours.
KINDS = {"not observed": "white", "one look": FAINT, "not guided": "#9db7d2", "guided": GUIDED_INK}


def plot(
    result: Any,
    truth: ArrayLike | None,
    coordinates: Any,
    names: Any,
    centred: bool,
    figure: Any,
) -> Figure:
    """Draw bands of the state, the ESS with its looks, and the evidence; see `ResultViews.plot`."""
    centred = _checks.boolean("centred", centred)
    labels, d = (*state_names(result, names), *hidden_names(result)), result.means.shape[1]
    shown = chosen(
        range(min(d, MOST_COORDINATES)) if coordinates is None else coordinates, labels, d
    )
    states = checked_truth(truth, *result.means.shape)
    heights = [*[1.5] * len(shown), 1.1, 1.1]
    with empty_figure(figure, 8.0, 0.7 + 0.95 * sum(heights)) as drawn:
        axes = drawn.subplots(
            len(heights), 1, sharex=True, squeeze=False, height_ratios=heights
        ).ravel()
        for axis, k in zip(axes, shown, strict=False):
            _state(axis, result, k, None if states is None or k >= d else states[:, k], centred)
            axis.set_ylabel(f"{labels[k]}\n− its mean" if centred else labels[k])
        _effective_sizes(axes[-2], result)
        _evidence(axes[-1], result)
        axes[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4)
        axes[-1].set_xlabel("step" if getattr(result, "times", None) is None else "time")
        drawn.align_ylabels(list(axes))
    return drawn


def bands(result: Any) -> list[tuple[str, Array, Array]]:
    """Return bands (label, low, high), each (T, d), from wide to narrow."""
    levels, quantiles = np.asarray(getattr(result, "quantile_levels", ())), result.quantiles
    if not _pairs(levels) and result.history is not None:
        levels = np.array(BAND_LEVELS)
        quantiles = np.stack([belief.quantile(levels) for belief in result.history])
    found = [
        (f"{levels[j] - levels[i]:.0%} interval", quantiles[:, i], quantiles[:, j])
        for i, j in _pairs(levels)
    ]
    if found:
        return found
    deviations = deviations_of(result.covariances)
    low, high = (result.means + side * 2 * deviations for side in (-1, 1))
    return [(TWO_DEVIATIONS, low, high)]


def course(result: Any, k: int) -> tuple[Array, list[tuple[str, Array, Array]]]:
    """Return the mean (T,) and the bands (label, low, high) of coordinate k of (x, z)."""
    d = result.means.shape[1]
    if k < d:
        found = [(label, low[:, k], high[:, k]) for label, low, high in bands(result)]
        return result.means[:, k], found
    mean, sd = result.z_means[:, k - d], deviations_of(result.z_covariances)[:, k - d]
    return mean, [(TWO_DEVIATIONS, mean - 2 * sd, mean + 2 * sd)]


def _pairs(levels: Array) -> list[tuple[int, int]]:
    """Indices of levels q and 1 - q, from the widest interval to the narrowest."""
    return [
        (int(i), int(j))
        for i in np.argsort(levels)
        for j in np.flatnonzero(np.isclose(levels, 1.0 - levels[i], rtol=0.0, atol=1e-9))
        if levels[i] < 0.5
    ]


def _state(axis: Axes, result: Any, k: int, truth: Array | None, centred: bool) -> None:
    """Draw the bands, the mean and the true course of one coordinate, or these less the mean."""
    times, marker = times_of(result), "o" if len(result.means) <= FEW_STEPS else None
    mean, found = course(result, k)
    centre = mean if centred else np.zeros(len(mean))
    seen = [mean - centre]
    for i, (label, *sides) in enumerate(found):
        low, high = (side - centre for side in sides)
        axis.fill_between(times, low, high, color=BAND, alpha=0.18 + 0.16 * i, lw=0, label=label)
        seen += [low, high]
    axis.plot(times, mean - centre, marker=marker, ms=2.5, lw=1.3, color=INK, label="mean")
    if truth is not None:
        axis.plot(times, truth - centre, "--", lw=1.2, color=TRUTH, label="truth")
        seen.append(truth - centre)
    limits(axis, np.concatenate(seen))
    grid(axis)


def step_kinds(result: Any) -> NDArray[np.intp]:
    """Return the kind of each step: an index into `KINDS`."""
    reasons = look_reasons(result)
    guided = np.array([reason.startswith("guided") for reason in reasons])
    halves = np.array([bool(reason) and reason != "too few points" for reason in reasons])
    observed = result.n_likelihood_evaluations > 0
    return np.where(guided, 3, np.where(halves, 2, np.where(observed, 1, 0))).astype(np.intp)


def _effective_sizes(axis: Axes, result: Any) -> None:
    """Draw the ESS, the number of particles, and a strip with the kind of each step."""
    times = times_of(result)
    axis.plot(times, result.n_particles, color=PILOT_INK, lw=0.9, ls=":", label="particles")
    axis.plot(times, result.ess, color=INK, lw=1.1, label="ESS")
    top = float(max(result.n_particles.max(), 1))
    axis.set_ylim(-0.16 * top, 1.12 * top)
    _strip(axis, result, times)
    axis.set_ylabel("ESS")
    grid(axis)
    axis.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=6, borderaxespad=0.1)


def _strip(axis: Axes, result: Any, times: NDArray[Any]) -> None:
    """Draw a strip below the ESS: one colour for each kind of step."""
    from matplotlib.colors import ListedColormap

    kinds, bottom = step_kinds(result), axis.get_ylim()[0]
    axis.pcolormesh(
        edges(times),
        [bottom, 0.45 * bottom],
        kinds[None, :],
        cmap=ListedColormap(list(KINDS.values())),
        vmin=-0.5,
        vmax=len(KINDS) - 0.5,
        rasterized=True,
    )
    for k in np.unique(kinds):
        name, colour = list(KINDS.items())[k]
        axis.plot([], [], "s", mfc=colour, mec="0.6", mew=0.5, ms=6, ls="", label=name)


def edges(times: NDArray[Any]) -> NDArray[Any]:
    """Return the boundaries of the steps: halfway between their times."""
    if len(times) == 1:
        one = np.timedelta64(1, "s") if times.dtype.kind == "M" else 0.5
        return np.array([times[0] - one, times[0] + one])
    halves = (times[1:] - times[:-1]) / 2
    inner = times[:-1] + halves
    return np.concatenate([[times[0] - halves[0]], inner, [times[-1] + halves[-1]]])


def _evidence(axis: Axes, result: Any) -> None:
    """Draw the increments of the log-evidence; steps without an observation have none."""
    observed = result.n_likelihood_evaluations > 0
    increments = np.where(observed, result.log_evidence_increments, np.nan)
    axis.plot(times_of(result), increments, ".-", color=INK, lw=0.8, ms=3)
    limits(axis, increments)
    axis.set_ylabel("log-evidence\nincrement")
    grid(axis)
