"""Figures of section 4.3: error over time and against N, single steps, a view from above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skh._typing import Array
from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import MissingError
from skh.reproduction.uav.claims import by_flight, errors, moments, positions, sizes, whole
from skh.reproduction.uav.tasks import REFERENCE, STEP, true_flight

METRES = "position error [m]"
PARTICLES = "number of particles N"
DASHED = {"color": "black", "linestyle": "--"}


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Draw the paper's figure for the first flight, the ends of all flights, and more."""
    flights = _flown(records)
    if not flights:
        return []  # a run that has only begun
    first = next(iter(flights))
    steps = [r for r in records if r.model == STEP]
    return [
        _over_time(first, flights[first]),
        _ends(flights),
        *([_single_steps(steps)] if steps else []),
        _from_above(first, flights[first]),
    ]


def _flown(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The flights that have a reference and a run of any rule."""
    try:
        flights = by_flight(records)
    except MissingError:
        return {}
    return {m: of for m, of in flights.items() if any(r.rule != REFERENCE for r in of)}


def _over_time(name: str, records: Sequence[Record]) -> style.Picture:
    n = sizes(records)
    figure, axes = style.panels(1, len(n) + 1, width=3.4, height=3.0)
    over_time, at_end = axes[0, :-1], axes[0, -1]
    for axis, size in zip(over_time, n, strict=True):
        for rule in style.by_rule(records):
            _curve(axis, records, rule, size)
        axis.set(xlabel="time [s]", ylabel=METRES, title=f"N = {size}", ylim=(0, None))
        style.grid(axis)
    _against_n(at_end, records, "error at the end")
    for axis in over_time:  # the same scale in all panels
        axis.set_ylim(0, max(a.get_ylim()[1] for a in over_time))
    style.legend(figure, axes)
    caption = (
        f"Section 4.3, {name}: distance of the estimated position to the mean of the reference "
        "filters. Lines: medians over the runs; shades and bars: quartiles."
    )
    return style.Picture("uav", caption, figure)


def _curve(axis: Any, records: Sequence[Record], rule: str, n: int) -> None:
    """Draw the median and the quartiles of a rule over time."""
    where: dict[str, object] = {"rule": rule} if rule == REFERENCE else {"rule": rule, "n": n}
    times, quartiles = [0.0], [np.zeros(3)]
    for time in moments(records):
        found = _errors([r for r in records if r.time == time], where)
        if found is not None:
            times.append(time)
            quartiles.append(np.quantile(found, [0.25, 0.5, 0.75]))
    low, middle, high = np.array(quartiles).T
    style.band(axis, rule, times, low, high, alpha=0.13)
    axis.plot(times, middle, **style.look(rule) | {"marker": ""}, label=style.label(rule))


def _errors(records: Sequence[Record], where: dict[str, object]) -> Array | None:
    try:
        return errors(records, **where)
    except MissingError:
        return None


def _against_n(axis: Any, records: Sequence[Record], title: str) -> None:
    """Draw the error at the end against N, and the range of single references."""
    ends, n = whole(records), sizes(records)
    for rule in style.by_rule([r for r in ends if r.rule != REFERENCE]):
        found = {k: _errors(ends, {"rule": rule, "n": k}) for k in n}
        _quartiles(axis, rule, {k: v for k, v in found.items() if v is not None})
    single = _errors(ends, {"rule": REFERENCE})
    if single is not None:
        axis.axhspan(single.min(), single.max(), color="0.85", linewidth=0, zorder=0)
        axis.axhline(np.median(single), **DASHED, label=style.label(REFERENCE))
    style.log_axes(axis, n, PARTICLES, METRES, title)


def _quartiles(axis: Any, rule: str, found: Mapping[int, Array | list[float]]) -> None:
    """Draw the medians of a rule against N, with a bar between the quartiles."""
    low, middle, high = np.array([np.quantile(v, [0.25, 0.5, 0.75]) for v in found.values()]).T
    axis.vlines(list(found), low, high, color=style.colour(rule), linewidth=2.4, alpha=0.4)
    axis.plot(list(found), middle, **style.look(rule), label=style.label(rule))


def _ends(flights: dict[str, list[Record]]) -> style.Picture:
    figure, axes = style.panels(2, len(flights), width=max(2.7, 9 / len(flights)), height=2.5)
    for column, (name, records) in enumerate(flights.items()):
        _against_n(axes[0, column], records, f"{name}, to the reference")
        _to_truth(axes[1, column], records, f"{name}, to the truth")
    style.legend(figure, axes)
    caption = (
        "Error at the end of each flight against N: to the mean of the reference filters (above; "
        "grey: the range of single reference filters), and to the simulated truth (below; dashed: "
        "the error of the reference filters). Medians and quartiles."
    )
    return style.Picture("uav-flights", caption, figure)


def _to_truth(axis: Any, records: Sequence[Record], title: str) -> None:
    last = moments(records)[-1]
    rules, n = style.by_rule([r for r in records if r.time == last]), sizes(records)
    axis.axhline(np.median([r.rmse for r in rules.pop(REFERENCE)]), **DASHED)
    for rule, of_rule in rules.items():
        found = {k: [r.rmse for r in of_rule if r.n == k] for k in n}
        _quartiles(axis, rule, {k: v for k, v in found.items() if v})
    style.log_axes(axis, n, PARTICLES, METRES, title)


def _single_steps(records: Sequence[Record]) -> style.Picture:
    figure, axes = style.panels(1, 1, width=4.6, height=3.4)
    axis, n = axes[0, 0], sizes(records)
    for rule, of_rule in style.by_rule(records).items():
        low, _, middle, _, high = style.quantiles(of_rule, "rmse", n)
        axis.vlines(n, low, high, color=style.colour(rule), linewidth=1, alpha=0.6)
        axis.plot(n, middle, **style.look(rule), label=style.label(rule))
    style.log_axes(axis, n, PARTICLES, "error [standard deviations]", "one step")
    style.legend(figure, axes)
    caption = (
        "Single steps: error of the filtered pose, in standard deviations, when all rules get the "
        "same predictive mixture. Medians and ranges over the flights."
    )
    return style.Picture("uav-step", caption, figure)


def _from_above(name: str, records: Sequence[Record]) -> style.Picture:
    """Draw the recorded positions around the true path, which is simulated and not filtered."""
    n, ends = sizes(records)[0], whole(records)
    flight = true_flight(name, max(r.steps for r in records))
    path = flight.poses.position
    figure, axes = style.panels(1, 3, width=4.6, height=4.3)
    for axis, shown in zip(axes.flat, (records, ends, ends), strict=True):
        axis.plot(*flight.landmarks[:, :2].T, ".", color="0.8", markersize=2)
        axis.plot(*path[:, :2].T, color="black", linewidth=1, label="true path")
        for rule, of_rule in style.by_rule(shown).items():
            _dots(axis, rule, [r for r in of_rule if rule == REFERENCE or r.n == n])
        axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    wide, near, nearest = axes.flat
    _zoom(wide, np.zeros(3), path, f"{name}, {flight.times[-1]:.0f} s")
    _zoom(near, path[-1], positions(ends), "the end of the flight")
    references = [r for r in ends if r.rule == REFERENCE]
    _zoom(nearest, path[-1], positions(references), "the end, among the reference PFs")
    style.legend(figure, axes)
    caption = (
        f"The flight from above: landmarks (grey), true path, and the position estimated by every "
        f"run with N = {n} and every reference PF, over time (left) and at the end."
    )
    return style.Picture("uav-above", caption, figure)


def _zoom(axis: Any, centre: Array, points: Array, title: str) -> None:
    """Show a square around ``centre`` that contains all points."""
    x, y, _ = centre
    reach = max(np.abs(points - centre)[:, :2].max() * 1.15, 0.5)
    axis.set(xlim=(x - reach, x + reach), ylim=(y - reach, y + reach), title=title)
    axis.locator_params(nbins=6)


def _dots(axis: Any, rule: str, records: Sequence[Record]) -> None:
    """Draw the positions in the records of a rule."""
    x = positions(records).reshape(-1, 3)
    dots = style.look(rule) | {"linestyle": "none", "markersize": 3}
    axis.plot(x[:, 0], x[:, 1], **dots, label=style.label(rule))
