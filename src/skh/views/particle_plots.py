"""The particles of one step in a figure: where they are, their weights, and their looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array
from skh.views.figures import (
    GUIDED_INK,
    INK,
    PILOT_INK,
    TRUTH,
    chosen,
    empty_figure,
    grid,
)
from skh.views.tables import state_names, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LARGEST = 260.0  # area of the heaviest particle, points squared
SMALLEST = 6.0  # area that is still visible
TRIAL_INKS = ("#d9a441", "#4f9460", "#8c6bb1")  # looks between the pilot and the last one


def plot_particles(
    result: Any,
    t: int,
    truth: ArrayLike | None,
    coordinates: Any,
    names: Any,
    figure: Any,
) -> Figure:
    """Draw the particles of one step; see `ResultViews.plot_particles`."""
    belief, labels = _belief(result, t), state_names(result, names)
    shown = chosen(coordinates, labels, 2)
    if len(shown) > 2:
        raise ValueError(f"coordinates must be one or two, got {coordinates!r}")
    state = true_state(truth, belief.t, *result.means.shape)
    with empty_figure(figure, 6.4, 3.2 if len(shown) == 1 else 5.2) as drawn:
        axis = drawn.subplots()
        draw = _stems if len(shown) == 1 else _cloud
        draw(axis, belief, shown, None if state is None else state[shown])
        axis.set_xlabel(labels[shown[0]])
        if len(shown) == 2:
            axis.set_ylabel(labels[shown[1]])
        axis.set_title(_title(result, belief, t), loc="left")
        grid(axis)
        drawn.legend(loc="outside lower center", ncols=5)
    return drawn


def _belief(result: Any, t: int) -> Any:
    """Return the belief of step ``t``, negative from the end."""
    if result.history is None:
        raise ValueError("plot_particles needs particle_filter(..., history=True)")
    T = len(result.history)
    if isinstance(t, bool) or not isinstance(t, int | np.integer) or not -T <= t < T:
        raise ValueError(f"t must be an integer in {-T}..{T - 1}, got {t!r}")
    return result.history[t]


def true_state(truth: ArrayLike | None, t: int, T: int, d: int) -> Array | None:
    """Return the true state (d,), given as it is or as a row of all states (T, d)."""
    if truth is None:
        return None
    array = _checks.floats("truth", truth)
    if array.shape == (T, d):
        return np.asarray(array[t])
    if array.shape == (T,) and d == 1 < T:
        return np.asarray(array[t : t + 1])
    if array.shape != (d,):
        raise ValueError(f"truth must have shape ({d},) or ({T}, {d}), got {array.shape}")
    return array


def _title(result: Any, belief: Any, t: int) -> str:
    when = times_of(result)[t]
    time = "" if getattr(result, "times", None) is None else f", time {when}"
    return f"step {belief.t}{time}: {belief.n_particles} particles, ESS {belief.ess:.1f}"


def look_groups(belief: Any) -> list[tuple[str, slice]]:
    """Return the particles of each look by name; all of them where they are not known apart."""
    sizes = [look.n for look in belief.looks]
    n = len(belief.w)
    if len(sizes) < 2 or sum(sizes) != n:
        return [("particles", slice(0, n))]
    ends = np.cumsum([0, *sizes])
    later = [f"look {k}" for k in range(2, len(sizes) + 1)] if len(sizes) > 2 else ["second look"]
    labels = ["pilot", *later]
    return [(label, slice(ends[k], ends[k + 1])) for k, label in enumerate(labels)]


def _stems(axis: Axes, belief: Any, shown: list[int], truth: Array | None) -> None:
    """Draw the weights over one coordinate."""
    x = belief.x[:, shown[0]]
    for i, (label, rows) in enumerate(look_groups(belief)):
        ink = _ink(belief, i)
        axis.vlines(x[rows], 0.0, belief.w[rows], color=ink, lw=0.9, alpha=0.75)
        axis.plot(x[rows], belief.w[rows], "o", ms=3.5, color=ink, label=label)
    axis.axvline(belief.mean[shown[0]], color="black", lw=1.0, label="mean")
    if truth is not None and np.isfinite(truth).all():
        axis.axvline(truth[0], color=TRUTH, lw=1.4, ls="--", label="truth")
    axis.set_ylim(0.0, 1.08 * float(belief.w.max()))
    axis.set_ylabel("weight")


def _cloud(axis: Axes, belief: Any, shown: list[int], truth: Array | None) -> None:
    """Draw the particles in two coordinates, with areas proportional to their weights."""
    area = LARGEST * belief.w / belief.w.max()
    x, y = belief.x[:, shown].T
    for i, (label, rows) in enumerate(look_groups(belief)):
        ink, shares = _ink(belief, i), np.where(area[rows] < SMALLEST, 0.0, area[rows])
        axis.scatter(x[rows], y[rows], SMALLEST, facecolor="none", edgecolor=ink, lw=0.5, alpha=0.7)
        axis.scatter(x[rows], y[rows], shares, color=ink, alpha=0.45, lw=0.0)
        axis.plot([], [], "o", color=ink, alpha=0.7, ms=6, label=label)
    _mark(axis, belief.mean[shown], "+", "black", "mean")
    if truth is not None and np.isfinite(truth).all():
        _mark(axis, truth, "x", TRUTH, "truth")


def _mark(axis: Axes, at: Array, marker: str, ink: str, label: str) -> None:
    """Draw a mark with a white border, visible among many particles."""
    for colour, width in (("white", 4.0), (ink, 1.8)):
        axis.plot(*at, marker, color=colour, ms=10, mew=width, label=label if ink == colour else "")


def _ink(belief: Any, i: int) -> str:
    """The colour of a look; of all particles where looks are not known apart."""
    last = len(look_groups(belief)) - 1
    if last == 0:
        return INK
    return {0: PILOT_INK, last: GUIDED_INK}.get(i, TRIAL_INKS[(i - 1) % len(TRIAL_INKS)])
