"""Information of observations about states, in the coordinates of a chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skh._typing import Array
from skh.filtering.likelihood_information import check_information
from skh.filtering.model_protocols import CarryingModel
from skh.gaussians.linear_algebra import transpose
from skh.geometry.charted_records import ChartedCarry
from skh.geometry.stack import State, read_only

Start = Callable[[], tuple[State, Any]]  # returns the reference of the first chart


def metric_in_chart(
    charted: Any, start: Start
) -> Callable[[int, Array, ChartedCarry | None], Array] | None:
    """The ``observation_metric`` of a charted model, in coordinates."""
    metric = getattr(charted.model, "observation_metric", None)
    if metric is None:
        return None

    def information_at(t: int, x: Array, carry: ChartedCarry | None) -> Array:
        states = _states(charted, start, x, carry)
        return _in_coordinates(charted, x, check_information(metric(t, states), t, *x.shape))

    return information_at


def information_in_chart(
    charted: Any, start: Start
) -> Callable[[int, Array, Any, ChartedCarry | None], Array] | None:
    """The ``information`` of a charted model given y, in coordinates."""
    tell = getattr(charted.model, "information", None)
    if tell is None:
        return None
    carries = isinstance(charted.model, CarryingModel)

    def information(t: int, x: Array, y: Any, carry: ChartedCarry | None) -> Array:
        last = (None if carry is None else carry.inner,) if carries else ()
        F = tell(t, _states(charted, start, x, carry), y, *last)
        F = check_information(F, t, len(x), x.shape[1], "information")
        return _in_coordinates(charted, x, F)

    return information


def residuals_in_chart(
    charted: Any, start: Start
) -> Callable[[int, Array, Any, ChartedCarry | None], Array] | None:
    """The ``residuals`` of a charted plain model, at coordinates."""
    tell = getattr(charted.model, "residuals", None)
    if tell is None or isinstance(charted.model, CarryingModel):
        return None

    def residuals(t: int, x: Array, y: Any, carry: ChartedCarry | None) -> Array:
        return np.asarray(tell(t, _states(charted, start, x, carry), y))

    return residuals


def _states(charted: Any, start: Start, x: Array, carry: ChartedCarry | None) -> State:
    """The states with coordinates x in the next chart, read-only."""
    reference = start()[0] if carry is None else carry.reference
    return read_only(charted.chart.states(reference, x))


def _in_coordinates(charted: Any, x: Array, F: Array) -> Array:
    """Convert information about increments to information about coordinates."""
    inverse = np.asarray(np.linalg.inv(charted.chart.jacobian(x)))
    return np.asarray(transpose(inverse) @ F @ inverse)
