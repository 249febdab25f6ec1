"""Several sensors that observe at the same time."""

from __future__ import annotations

from typing import Any

import numpy as np

from skh._typing import Array


class Sensors:
    """Independent sensors; an observation has an entry for each, None if it was silent.

    >>> from skh.robotics import RangeBearing, RangeSensor
    >>> landmarks = [[5.0, 0.0]]
    >>> both = Sensors(RangeSensor(landmarks, 0.1), RangeBearing(landmarks, 0.1, 0.02))
    >>> both.log_likelihood(np.zeros((1, 3)), ([[0, 5.0]], None)).round(2)
    array([1.38])
    """

    def __init__(self, *sensors: Any) -> None:
        if not sensors:
            raise ValueError("sensors must be one at least, got none")
        self.sensors = sensors
        if any(getattr(sensor, "information", None) is None for sensor in sensors):
            self.information = None  # type: ignore[assignment,method-assign] # it is learned

    def log_likelihood(self, states: Any, y: Any) -> Array:
        """Sum of the sensors' log-likelihoods."""
        values = [s.log_likelihood(states, part) for s, part in self._heard(y)]
        return np.sum(values, axis=0) if values else np.zeros(_rows(states))

    def information(self, states: Any, y: Any) -> Array:
        """Sum of the sensors' information."""
        parts = [s.information(states, part) for s, part in self._heard(y)]
        d = 6 if isinstance(states, tuple) else 3
        return np.sum(parts, axis=0) if parts else np.zeros((_rows(states), d, d))

    def observe(self, state: Any, rng: np.random.Generator) -> tuple[Any, ...]:
        """Draw an observation of each sensor."""
        return tuple(sensor.observe(state, rng) for sensor in self.sensors)

    def _heard(self, y: Any) -> list[tuple[Any, Any]]:
        if not isinstance(y, tuple | list) or len(y) != len(self.sensors):
            raise ValueError(f"y must have an entry for each of {len(self.sensors)} sensors")
        pairs = zip(self.sensors, y, strict=True)
        return [(sensor, part) for sensor, part in pairs if part is not None]


def _rows(states: Any) -> int:
    return len(states[0] if isinstance(states, tuple) else states)
