"""What a filter of the UAV says about itself: sensors that were silent, landmarks, innovations."""

from __future__ import annotations

import numpy as np

from skh.filtering.belief import Belief
from skh.geometry import ChartedCarry
from skh.models.uav_navigation.model import REPORT, Carry


def diagnostics(belief: Belief) -> dict[str, float]:
    """Weighted means over the particles at one time.

    Normalised squared innovations per dimension, NaN where there was none: of the pose's increment
    in ``position`` and ``rotation``, and of each sensor.  They are one on average if the model's
    noises are those of the flight.  Where a sensor or a motion is better than the model believes
    they are less: on a survey flight, which turns far more smoothly than the model allows for, that
    of the gyroscope is 0.01.  Then numbers of landmarks: ``tracked`` ones that weighed the
    particles, ``gated`` ones that were refused, ``started`` ones, and tracks that are ``waiting``
    for a slot or for a better view.

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


def _means(report: np.ndarray, w: np.ndarray) -> list[float]:
    """Means of the columns over the rows that have a number, NaN where none has."""
    known = ~np.isnan(report)
    total = w @ known
    sums = w @ np.where(known, report, 0.0)
    return [float(s / t) if t > 0 else float("nan") for s, t in zip(sums, total, strict=True)]
