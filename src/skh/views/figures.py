"""What the figures of results share: colours, axes, and how arguments are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._runtime.optional import require
from skh._typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, BAND, TRUTH = "#1f5a96", "#3b75af", "#c4631a"  # estimates, their bands, true states
PILOT_INK, GUIDED_INK, FAINT = "#8a8a8a", "#c03d3e", "#d9d9d9"  # looks
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
}


@contextmanager
def empty_figure(figure: Any, width: float, height: float) -> Iterator[Figure]:
    """Yield the caller's figure, or a new one of a size in inches; it belongs to no window.

    In a notebook the figure is shown as the value of its cell.
    """
    matplotlib = require("matplotlib", "app", "result.plot()")
    figures = require("matplotlib.figure", "app", "result.plot()")
    if figure is not None and not isinstance(figure, figures.FigureBase):
        raise TypeError(f"figure must be a matplotlib Figure, got {figure!r}")
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        require("matplotlib.pyplot", "app", "result.plot()")  # tells notebooks how to show figures
    with matplotlib.rc_context(STYLE):
        yield figures.Figure((width, height), layout="constrained") if figure is None else figure


def chosen(coordinates: Any, names: Sequence[str], most: int) -> list[int]:
    """Return indices of coordinates, given as indices or names; the first few for None."""
    if coordinates is None:
        return list(range(min(len(names), most)))
    given = [coordinates] if isinstance(coordinates, str | int | np.integer) else coordinates
    if isinstance(given, bool) or not isinstance(given, Sequence | np.ndarray):
        raise TypeError(f"coordinates must be indices or names, got {coordinates!r}")
    if len(given) == 0 or len(given) > max(most, len(names)):
        raise ValueError(f"coordinates must be one to {len(names)}, got {coordinates!r}")
    return [_index(value, names) for value in given]


def _index(value: Any, names: Sequence[str]) -> int:
    if isinstance(value, str) and value in names:
        return list(names).index(value)
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and 0 <= value < len(names):
        return int(value)
    raise ValueError(
        f"coordinates must be in 0..{len(names) - 1} or names ({', '.join(names)}), got {value!r}"
    )


def checked_truth(truth: ArrayLike | None, T: int, d: int) -> Array | None:
    """Validate true states (T, d), or (T,) in one dimension; NaN where unknown."""
    if truth is None:
        return None
    array = _checks.floats("truth", truth)
    if d == 1 and array.shape == (T,):
        array = array[:, None]
    if array.shape != (T, d):
        raise ValueError(f"truth must have shape ({T}, {d}), got {array.shape}")
    return array


def grid(axis: Axes) -> None:
    """Draw a light grid below the data."""
    axis.grid(visible=True, color="0.93", linewidth=0.8)
    axis.set_axisbelow(True)


def limits(axis: Axes, values: Array) -> None:
    """Set the limits of y to finite values with a margin, in any units."""
    values = values[np.isfinite(values)]
    if values.size == 0:
        return
    low, high = float(values.min()), float(values.max())
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    axis.set_ylim(low - margin, high + margin)
