"""Pictures of section 4.3: error over time and against N, flight by flight, and from above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skh._typing import Array
from skh.claims.statistics import MissingError, select
from skh.claims.uav import by_flight, errors, moments, positions, sizes, whole
from skh.experiments.record import Record
from skh.experiments.task import data_seed
from skh.experiments.uav import REFERENCE, STEP, Uav, beliefs, simulated
from skh.figures.style import (
    LOOK,
    Picture,
    in_order,
    label,
    legend,
    log_axes,
    look,
    panels,
    quantiles,
)
from skh.geometry import states_of
from skh.models.uav_navigation import Flight

METRES = "position error [m]"
SHOWN = "smoothed"  # the rule whose particles are drawn


def pictures(records: Sequence[Record]) -> list[Picture]:
    """The figure of the paper for the first flight, the ends of all flights, a view from above."""
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


def _over_time(name: str, records: Sequence[Record]) -> Picture:
    n = sizes(records)
    figure, axes = panels(1, len(n) + 1, width=3.4, height=3.0)
    for axis, size in zip(axes[0], n, strict=False):
        for rule in in_order(r.rule for r in records):
            _curve(axis, records, rule, size)
        axis.set(xlabel="time [s]", ylabel=METRES, title=f"N = {size}", ylim=(0, None))
        axis.grid(visible=True, color="0.92", linewidth=0.8)
    _against_n(axes[0, -1], records, "error at the end")
    for axis in axes[0, :-1]:  # one scale for all
        axis.set_ylim(0, max(a.get_ylim()[1] for a in axes[0, :-1]))
    legend(figure, axes[0, 0])
    how = "Lines: medians over the runs; shades and bars: quartiles."
    caption = (
        f"Section 4.3, {name}: distance of the estimated position to the mean of the reference "
    )
    return Picture("uav", f"{caption}filters. {how}", figure)


def _curve(axis: Any, records: Sequence[Record], rule: str, n: int) -> None:
    """Median and quartiles of a rule over time."""
    where: dict[str, object] = {"rule": rule} if rule == REFERENCE else {"rule": rule, "n": n}
    times, quartiles = [0.0], [np.zeros(3)]
    for time in moments(records):
        found = _errors([r for r in records if r.time == time], where)
        if found is not None:
            times.append(time)
            quartiles.append(np.quantile(found, [0.25, 0.5, 0.75]))
    low, middle, high = np.array(quartiles).T
    colour, _, line = LOOK[rule]
    axis.fill_between(times, low, high, color=colour, alpha=0.13, linewidth=0)
    axis.plot(times, middle, color=colour, linestyle=line, label=label(rule))


def _errors(records: Sequence[Record], where: dict[str, object]) -> Array | None:
    try:
        return errors(records, **where)
    except MissingError:
        return None


def _against_n(axis: Any, records: Sequence[Record], title: str) -> None:
    """The error at the end against N, with that of single references as a band."""
    ends, n = whole(records), sizes(records)
    for rule in in_order(r.rule for r in ends if r.rule != REFERENCE):
        found = {k: _errors(ends, {"rule": rule, "n": k}) for k in n}
        _quartiles(axis, rule, {k: v for k, v in found.items() if v is not None})
    single = _errors(ends, {"rule": REFERENCE})
    if single is not None:
        axis.axhspan(single.min(), single.max(), color="0.85", linewidth=0, zorder=0)
        axis.axhline(np.median(single), color="black", linestyle="--", label=label(REFERENCE))
    log_axes(axis, n, "number of particles N", METRES, title)


def _quartiles(axis: Any, rule: str, found: Mapping[int, Array | list[float]]) -> None:
    """Medians of a rule against N, with a bar from quartile to quartile."""
    low, middle, high = np.array([np.quantile(v, [0.25, 0.5, 0.75]) for v in found.values()]).T
    axis.vlines(list(found), low, high, color=LOOK[rule][0], linewidth=2.4, alpha=0.4)
    axis.plot(list(found), middle, **look(rule), label=label(rule))


def _ends(flights: dict[str, list[Record]]) -> Picture:
    figure, axes = panels(2, len(flights), width=max(2.7, 9 / len(flights)), height=2.5)
    for column, (name, records) in enumerate(flights.items()):
        _against_n(axes[0, column], records, f"{name}, to the reference")
        _to_truth(axes[1, column], records, f"{name}, to the truth")
    legend(figure, axes[0, 0])
    caption = (
        "Error at the end of each flight against N, to the mean of the reference filters (above; "
        "grey: the range of single reference filters) and to the simulated truth (below, where the "
        "dashed line is what the reference filters themselves have). Medians and quartiles."
    )
    return Picture("uav-flights", caption, figure)


def _single_steps(records: Sequence[Record]) -> Picture:
    figure, axes = panels(1, 1, width=4.6, height=3.4)
    axis, n = axes[0, 0], sizes(records)
    for rule in in_order(r.rule for r in records):
        of_rule = [r for r in records if r.rule == rule]
        low, _, middle, _, high = quantiles(of_rule, "rmse", n)
        axis.vlines(n, low, high, color=LOOK[rule][0], linewidth=1, alpha=0.6)
        axis.plot(n, middle, **look(rule), label=label(rule))
    log_axes(axis, n, "number of particles N", "error [standard deviations]", "one step")
    legend(figure, axis)
    caption = (
        "Single steps: error of the filtered pose, in standard deviations, when all rules get the "
        "same predictive mixture. Medians and ranges over the flights."
    )
    return Picture("uav-step", caption, figure)


def _to_truth(axis: Any, records: Sequence[Record], title: str) -> None:
    last = moments(records)[-1]
    at_end, n = [r for r in records if r.time == last], sizes(records)
    for rule in in_order(r.rule for r in at_end):
        if rule == REFERENCE:
            axis.axhline(
                np.median([r.rmse for r in at_end if r.rule == rule]), color="black", linestyle="--"
            )
            continue
        found = {k: [r.rmse for r in at_end if (r.rule, r.n) == (rule, k)] for k in n}
        _quartiles(axis, rule, {k: v for k, v in found.items() if v})
    log_axes(axis, n, "number of particles N", METRES, title)


def _from_above(name: str, records: Sequence[Record]) -> Picture:
    few, T = sizes(records)[0], max(r.steps for r in records)
    flight = simulated(T, data_seed("uav", name, 0))
    figure, axes = panels(1, 3, width=4.6, height=4.3)
    wide, near, nearest = axes[0]
    path, clouds = flight.poses.position, _clouds(flight, records, few)
    for axis, shown in ((wide, records), (near, whole(records)), (nearest, whole(records))):
        axis.plot(*flight.landmarks[:, :2].T, ".", color="0.8", markersize=2)
        axis.plot(*path[:, :2].T, color="black", linewidth=1, label="true path")
        x = np.concatenate(clouds)
        axis.scatter(*x[:, :2].T, s=5, color="black", linewidth=0, alpha=0.5, label="particles")
        for rule in in_order(r.rule for r in shown):
            _dots(axis, shown, rule, few)
        axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    _around(wide, np.zeros(3), path, f"{name}, {flight.times[-1]:.0f} s")
    _around(near, path[-1], positions(whole(records)), "the end of the flight")
    _around(nearest, path[-1], clouds[-1], "the end, nearer")
    legend(figure, near)
    caption = (
        f"The flight from above: landmarks (grey), true path, where every run with N = {few} saw "
        f"the UAV, over time (left) and at the end, and the particles of one run of “{SHOWN}”."
    )
    return Picture("uav-above", caption, figure)


def _around(axis: Any, centre: Array, points: Array, title: str) -> None:
    """A square window at ``centre`` in which all points are seen."""
    x, y, _ = centre
    reach = max(np.abs(points - centre)[:, :2].max() * 1.15, 0.5)
    axis.set(xlim=(x - reach, x + reach), ylim=(y - reach, y + reach), title=title)


def _clouds(flight: Flight, records: Sequence[Record], n: int) -> list[Array]:
    """The particles of the first run of a rule at some moments, filtered anew from its seed."""
    first = min(select(whole(records), rule=SHOWN, n=n), key=lambda r: r.batch)
    at = {round(time / flight.parameters.dt) - 1 for time in moments(records)}
    rule = Uav().rules()[SHOWN]
    known = beliefs(flight, rule, n, first.seed)
    return [states_of(belief).position for t, belief in enumerate(known) if t in at]


def _dots(axis: Any, records: Sequence[Record], rule: str, n: int) -> None:
    """The positions that a rule estimated."""
    chosen = [r for r in records if r.rule == rule and (r.n == n or rule == REFERENCE)]
    colour, marker, _ = LOOK[rule]
    x = np.array([(r.x, r.y) for r in chosen]).reshape(-1, 2)
    axis.plot(*x.T, marker, color=colour, markersize=3, linestyle="none", label=label(rule))
