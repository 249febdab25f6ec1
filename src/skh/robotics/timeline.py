"""Timelines: readings of several sensors as the steps of a filter, and what was driven between.

A step is made at a reading; the odometry between two steps becomes one control.  With thresholds,
as AMCL has them, readings are skipped until the robot has moved or turned enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array, Indices
from skh.geometry.charts import Pose, wrap
from skh.robotics.logs.readings import (
    Odometry,
    PlanarPath,
    Scans,
    Sightings,
    VelocityOdometry,
)
from skh.robotics.travel import Travel, travel_of

Readings = Scans | Sightings
LONGEST_TRUTH_GAP = 0.5  # seconds between true poses; in longer gaps the truth is unknown


@dataclass(frozen=True, eq=False)
class Timeline:
    """The steps of a filter: what was observed at each, and what was driven between two.

    ``observations`` are None where nothing was seen; ``truth`` has NaN where it is unknown.
    """

    times: Array  # (T,), seconds
    controls: list[Any]  # T - 1
    observations: list[Any]  # T
    truth: Any = None  # (T, 3) poses in the plane, or a `Pose` of T rows; None: no truth
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.times)

    def first(self, T: int) -> Timeline:
        """The first T steps, all of them if there are fewer."""
        T = min(_checks.positive_int("T", T), len(self))
        truth = self.truth
        if isinstance(truth, Pose):
            truth = Pose(truth.position[:T], truth.rotation[:T])
        elif truth is not None:
            truth = truth[:T]
        controls, seen = self.controls[: T - 1], self.observations[:T]
        return Timeline(self.times[:T], controls, seen, truth, self.notes)


@dataclass(frozen=True)
class Thresholds:
    """When a reading becomes a step: as soon as one is reached, but after ``min_wait``."""

    min_way: float | None = None  # metres from the place of the last step
    min_turn: float | None = None  # radians from its heading
    max_wait: float | None = None  # seconds since it
    min_wait: float | None = None  # seconds since it, in any case

    def __post_init__(self) -> None:
        for name in ("min_way", "min_turn", "max_wait", "min_wait"):
            if getattr(self, name) is not None:
                _checks.non_negative(name, getattr(self, name))

    def chosen(self, times: Array, poses: Array) -> Indices:
        """Indices of the readings, with poses by odometry, that become steps; the first always."""
        if self.min_way is None and self.min_turn is None and self.min_wait is None:
            return np.arange(len(times))
        steps = [0] if len(times) else []
        for k in range(1, len(times)):
            moved = poses[k] - poses[steps[-1]]
            if self.reached(moved, times[k] - times[steps[-1]]):
                steps.append(k)
        return np.array(steps, dtype=np.intp)

    def reached(self, moved: Array, waited: float) -> bool:
        """Whether the robot has moved, turned or waited enough for a step."""
        if self.min_wait is not None and waited < self.min_wait * (1 - 1e-9):  # rounded times
            return False
        return (
            (self.min_way is None and self.min_turn is None)
            or (self.min_way is not None and np.hypot(moved[0], moved[1]) >= self.min_way)
            or (self.min_turn is not None and abs(float(wrap(moved[2]))) >= self.min_turn)
            or (self.max_wait is not None and waited >= self.max_wait)
        )


def merge(
    odometry: Odometry | VelocityOdometry,
    readings: Readings | Sequence[Readings],
    *,
    truth: PlanarPath | None = None,
    min_way: float | None = None,
    min_turn: float | None = None,
    max_wait: float | None = None,
    min_wait: float | None = None,
    max_gap: float | None = None,
    window: float = 0.0,
    control: Callable[[Any], Any] | None = None,
) -> Timeline:
    """Make a timeline of odometry and the readings of one sensor or of several.

    Observations are rows of ranges (k,) for scans and rows (id, range, bearing) for sightings,
    (id, range) for those without bearings; of several sensors a tuple, with None for those that saw
    nothing, as `Sensors` takes it.  Readings within ``window`` seconds of the first one are one
    step.

    A reading becomes a step when the robot has moved by ``min_way`` metres or turned by
    ``min_turn`` radians since the last one, or ``max_wait`` seconds have passed; without the first
    two, every reading does.  ``min_wait`` seconds lie between two steps in any case, as errors of
    readings that follow each other quickly are often the same.  If ``max_gap`` is given, there are
    steps without an observation wherever readings are farther apart.

    The control of a step is a `BodyStep` by poses, or `VelocitySteps`; ``control`` makes something
    else of it, such as ``BodyStep.as_odometry``.

    >>> drive = VelocityOdometry([0.0, 1.0, 2.0], forward=[1.0, 1.0, 1.0], turning=[0.0, 0.0, 0.0])
    >>> seen = Sightings([0.5, 1.5, 1.5], ids=[1, 1, 2], ranges=[3, 2, 4], bearings=[0, 0, 1])
    >>> steps = merge(drive, seen)
    >>> steps.times, steps.controls[0].pose, len(steps.observations[1])
    (array([0.5, 1.5]), array([1., 0., 0.]), 2)
    """
    several = _sensors(readings)
    travel = travel_of(odometry)
    window = _checks.non_negative("window", window)
    times, groups = _events(several, window)
    inside = (times >= travel.first) & (times <= travel.last)
    if not inside.any():
        raise ValueError(
            f"readings must overlap the odometry, which lasts from {travel.first} to "
            f"{travel.last} s: {_span(times)}"
        )
    notes = _left_out(int((~inside).sum()))
    events = np.flatnonzero(inside)
    thresholds = Thresholds(min_way, min_turn, max_wait, min_wait)
    events = events[thresholds.chosen(times[events], travel.poses(times[events]))]
    single = isinstance(readings, Scans | Sightings)
    seen = {times[e]: _observation(several, groups, int(e), single) for e in events}
    steps = _with_gaps_filled(times[events], max_gap)
    return Timeline(
        steps,
        [_control(travel, *pair, control) for pair in pairwise(steps)],
        [seen.get(t) for t in steps],
        None if truth is None else truth.at(steps, LONGEST_TRUTH_GAP),
        notes,
    )


def _sensors(readings: Readings | Sequence[Readings]) -> list[Readings]:
    several = [readings] if isinstance(readings, Scans | Sightings) else list(readings)
    for value in several:
        if not isinstance(value, Scans | Sightings):
            raise TypeError(f"readings must be Scans or Sightings, or several, got {value!r}")
        if len(value) == 0:
            raise ValueError("readings must have at least one reading of each sensor, got none")
    if not several:
        raise ValueError("readings must be those of at least one sensor, got none")
    return several


def _events(several: list[Readings], window: float) -> tuple[Array, list[Indices]]:
    """Times of the events, and the event of each reading; an event lasts at most ``window``."""
    every = np.unique(np.concatenate([r.times for r in several]))
    event = np.zeros(len(every), dtype=np.intp)
    if window > 0:
        start = every[0]
        for k in range(1, len(every)):
            late = every[k] - start > window
            start = every[k] if late else start
            event[k] = event[k - 1] + late
    else:
        event = np.arange(len(every))
    last = np.append(np.flatnonzero(np.diff(event)), len(every) - 1)
    groups = [event[np.searchsorted(every, r.times)] for r in several]
    return every[last], groups


def _observation(several: list[Readings], groups: list[Indices], event: int, single: bool) -> Any:
    """What was seen in an event: an array of a single sensor, a tuple of several."""
    seen = tuple(_rows_of(r, group, event) for r, group in zip(several, groups, strict=True))
    return seen[0] if single else seen


def _rows_of(readings: Readings, group: Indices, event: int) -> Array | None:
    """The readings of an event; of several scans the last one."""
    first, end = np.searchsorted(group, [event, event + 1]).tolist()
    if end == first:
        return None
    if isinstance(readings, Sightings):
        return readings.rows(slice(first, end))
    return np.asarray(readings.ranges[end - 1])


def _with_gaps_filled(times: Array, max_gap: float | None) -> Array:
    """Times with more of them between those that are farther apart than ``max_gap``."""
    if max_gap is None:
        return times
    max_gap = _checks.positive("max_gap", max_gap)
    parts = [times[:1]]
    for a, b in pairwise(times):
        count = int(np.ceil((b - a) / max_gap * (1 - 1e-12)))
        parts.append(np.append(a + (b - a) / count * np.arange(1, count), b))
    return np.concatenate(parts)


def _control(travel: Travel, start: float, end: float, control: Any) -> Any:
    made = travel.between(start, end)
    return made if control is None else control(made)


def _span(times: Array) -> str:
    return f"they are at {times[0]} to {times[-1]} s" if len(times) else "the log has no readings"


def _left_out(count: int) -> tuple[str, ...]:
    return (f"{count} readings before or after the odometry are left out",) * (count > 0)
