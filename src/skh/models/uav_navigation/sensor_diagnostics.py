"""Diagnostics of a UAV filter: innovations of its sensors, and numbers of landmarks."""

from __future__ import annotations

import numpy as np

from skh._typing import Array
from skh.filtering.belief import Belief
from skh.geometry import ChartedCarry
from skh.geometry.charts import Pose
from skh.models.uav_navigation.flight import Flight
from skh.models.uav_navigation.model import REPORT, Carry, UavModel
from skh.models.uav_navigation.parameters import Parameters


def diagnostics(belief: Belief) -> dict[str, float]:
    """Return weighted means over the particles of normalised squared innovations and counts.

    Innovations are per dimension, NaN without measurement: of the pose increment in ``position``
    and ``rotation``, and of each sensor.  They are one on average if the model's noises are those
    of the flight, and less where a sensor or a motion is smoother than the model assumes: 0.01 for
    the gyroscope on a survey flight.  Counts of landmarks: ``tracked`` (used in the likelihood),
    ``gated``, ``started``, and tracks ``waiting`` for a slot or for a better view.

    >>> import skh
    >>> flight = skh.models.survey_flight(2, rng=0)
    >>> pf = skh.ParticleFilter(flight.model, skh.Stratified(), 10, rng=0)
    >>> belief = [pf.step(y) for y in flight.observations][-1]
    >>> skh.models.uav_diagnostics(belief)["tracked"] > 5
    True
    """
    carry = belief.carry
    inner = carry.inner if isinstance(carry, ChartedCarry) else None
    if not isinstance(inner, Carry):
        raise TypeError(f"belief must come from the UAV model, got one that carries {carry!r}")
    return dict(zip(REPORT, _means(inner.report, belief.w), strict=True))


def reports_at_truth(flight: Flight, parameters: Parameters | None = None) -> Array:
    """Return the `REPORT` of each step, (T, columns), if the only particle is the true pose.

    ``parameters`` in place of those of the flight.
    """
    model, rows = UavModel(parameters or flight.parameters, flight.start), []
    states = [Pose(p[None], R[None]) for p, R in zip(*flight.poses, strict=True)]
    carry = model.initial_carry(states[0])
    for t, y in enumerate(flight.observations):
        if t > 0:
            carry = model.move(t - 1, states[t - 1], carry, states[t])
        _, carry = model.log_likelihood(t, states[t], y, carry)
        rows.append(carry.report[0])
    return np.array(rows)


def _means(report: np.ndarray, w: np.ndarray) -> list[float]:
    """Weighted means of the columns, ignoring NaN; NaN for columns without numbers."""
    known = ~np.isnan(report)
    total = w @ known
    sums = w @ np.where(known, report, 0.0)
    return [float(s / t) if t > 0 else float("nan") for s, t in zip(sums, total, strict=True)]
