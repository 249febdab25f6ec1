"""Figures of a study: errors over seeds, over time and against N, and what the time is spent on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skh._typing import Array
from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.maps import trajectory
from skh.reproduction.robots.statistics import (
    distances,
    logs_of,
    moments,
    of_runs,
    reference_errors,
    reference_positions,
    shown_size,
    sizes,
    whole_runs,
)
from skh.reproduction.robots.study import REFERENCE
from skh.reproduction.statistics import MissingError

TO_TRUTH, TO_REFERENCE = "RMSE to truth [m]", "median distance to reference [m]"
NORMALISED = "median NEES of the position"
NUMBER = "number of particles N"
MANY = 7  # rules, whose names need small letters
PARTS = (("rule", "#3b75af"), ("likelihood", "#d98c3f"), ("rest", "0.75"))


def rules_of(records: Sequence[Record], n: int | None = None) -> list[str]:
    """The rules that have whole runs (with N particles), in the order of the legends."""
    runs = [r for r in whole_runs(records) if r.rule != REFERENCE and n in (None, r.n)]
    return list(style.by_rule(runs))


def over_seeds(name: str, title: str, records: Sequence[Record]) -> style.Picture:
    """One dot per seed: error to the truth or, without one, to the references; and NEES."""
    n, truth = shown_size(records), has_truth(records)
    fields = [("rmse", TO_TRUTH), ("nees", NORMALISED)] if truth else [("", TO_REFERENCE)]
    figure, axes = style.panels(1, len(fields), width=4.4, height=3.0)
    for axis, (field, words) in zip(axes.flat, fields, strict=True):
        _seeds(axis, records, field, n)
        axis.set(yscale="log", ylabel=words, title=f"{title}, N = {n}")
        style.grid(axis)
        style.plain_heights(axis)
    if axes.flat[0].get_legend_handles_labels()[1]:
        style.legend(figure, axes)
    caption = (
        f"{title}: every run with N = {n}, one dot per seed; bars are medians. Dashed: the "
        "references, particle filters with very many particles."
    )
    return style.Picture(f"{name}-seeds", caption, figure)


def has_truth(records: Sequence[Record]) -> bool:
    """Whether errors to a truth were recorded."""
    return any(np.isfinite(r.rmse) for r in whole_runs(records))


def values_of(records: Sequence[Record], field: str, rule: str, n: int | None = None) -> Array:
    """A field of the runs of a rule, or their distances to the references if ``field`` is empty."""
    where: dict[str, object] = {"rule": rule} if n is None else {"rule": rule, "n": n}
    return of_runs(records, field, **where) if field else reference_errors(records, **where)


def _seeds(axis: Any, records: Sequence[Record], field: str, n: int) -> None:
    rules = rules_of(records, n)
    for k, rule in enumerate(rules):
        values = np.sort(values_of(records, field, rule, n))
        aside = np.linspace(-0.22, 0.22, len(values)) if len(values) > 1 else np.zeros(1)
        look = style.look(rule) | {"linestyle": "none"}
        axis.plot(k + aside, values, **look, alpha=0.75)
        axis.hlines(np.median(values), k - 0.34, k + 0.34, color=style.colour(rule), linewidth=2.2)
    _reference_line(axis, records, field)
    names = [rule.replace(", ", ",\n") for rule in rules]
    axis.set_xticks(range(len(rules)), names, fontsize=8 if len(rules) < MANY else 6.5)


def _reference_line(axis: Any, records: Sequence[Record], field: str) -> None:
    if field and any(r.rule == REFERENCE for r in whole_runs(records)):
        middle = float(np.median(of_runs(records, field, rule=REFERENCE)))
        axis.axhline(middle, color="black", linestyle="--", linewidth=1, label="references")


def against_n(name: str, title: str, records: Sequence[Record]) -> style.Picture:
    """Medians and quartiles over seeds against N: to the truth, NEES, and to the references."""
    fields = [("rmse", TO_TRUTH), ("nees", NORMALISED)] if has_truth(records) else []
    fields += [("", TO_REFERENCE)] if _has_reference(records) else []
    figure, axes = style.panels(1, len(fields), width=3.7, height=3.0)
    for axis, (field, words) in zip(axes.flat, fields, strict=True):
        for rule in rules_of(records):
            _curve_of_n(axis, records, field, rule)
        _reference_line(axis, records, field)
        style.log_axes(axis, sizes(records), NUMBER, words, title)
    style.legend(figure, axes)
    caption = f"{title}: medians and quartiles over seeds against N. Dashed: the references."
    return style.Picture(f"{name}-n", caption, figure)


def _has_reference(records: Sequence[Record]) -> bool:
    try:
        return bool(reference_positions(records))
    except MissingError:
        return False


def _curve_of_n(axis: Any, records: Sequence[Record], field: str, rule: str) -> None:
    runs = [r for r in whole_runs(records) if r.rule == rule]
    n = sorted({r.n for r in runs})
    quartiles = [np.quantile(values_of(records, field, rule, k), [0.25, 0.5, 0.75]) for k in n]
    low, middle, high = np.array(quartiles).T
    axis.vlines(n, low, high, color=style.colour(rule), linewidth=2.4, alpha=0.4)
    axis.plot(n, middle, **style.look(rule), label=rule)


def over_time(name: str, title: str, records: Sequence[Record]) -> style.Picture:
    """Median and quartiles over seeds of the error at each moment."""
    n = shown_size(records)
    figure, axes = style.panels(1, 1, width=9.0, height=3.0)
    axis, truth = axes[0, 0], has_truth(records)
    for rule in rules_of(records, n):
        times, errors = errors_over_time(records, rule, n, truth)
        low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75], axis=0)
        style.band(axis, rule, times, low, high, alpha=0.16)
        axis.plot(times, middle, **style.look(rule) | {"marker": ""}, label=rule)
    words = "error [m]" if truth else "distance to reference [m]"
    axis.set(yscale="log", xlabel="time [s]", ylabel=words, title=f"{title}, N = {n}")
    style.grid(axis)
    style.plain_heights(axis)
    style.legend(figure, axes)
    caption = f"{title}: position error over time with N = {n}, median and quartiles over seeds."
    return style.Picture(f"{name}-time", caption, figure)


def errors_over_time(
    records: Sequence[Record], rule: str, n: int, truth: bool
) -> tuple[list[float], Array]:
    """Moments, and errors (seeds, moments) to the truth or else to the references."""
    of_rule = [r for r in moments(records) if r.rule == rule and r.n == n]
    times = sorted({r.time for r in of_rule})
    if not truth:
        return times, np.array(list(distances(records, rule=rule, n=n).values()))
    seeds: dict[int, dict[float, float]] = {}
    for r in of_rule:
        seeds.setdefault(r.seed, {})[r.time] = r.rmse
    return times, np.array([[of_seed[time] for time in times] for of_seed in seeds.values()])


def time_split(name: str, title: str, records: Sequence[Record]) -> style.Picture:
    """Milliseconds per step, split into rule, likelihood and rest, for each rule and N."""
    n = sizes(records)
    figure, axes = style.panels(1, len(n), width=max(2.4, 9 / len(n)), height=2.6)
    for axis, size in zip(axes.flat, n, strict=True):
        rules = rules_of(records, size)
        split = np.array([_split(records, rule, size) for rule in rules])  # (rules, parts)
        left = np.zeros(len(rules))
        for (part, colour), width in zip(PARTS, split.T, strict=True):
            axis.barh(range(len(rules)), width, left=left, color=colour, label=part)
            left += width
        names = rules if axis is axes.flat[0] else []
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        axis.set(xlabel="ms per step", title=f"N = {size}")
    style.legend(figure, axes)
    caption = f"{title}: time of a step by the clock, spent on the rule, the likelihood, the rest."
    return style.Picture(f"{name}-split", caption, figure)


def _split(records: Sequence[Record], rule: str, n: int) -> Array:
    """Median milliseconds per step of rule, likelihood and rest."""
    total, placing, likelihood, steps = (
        of_runs(records, field, rule=rule, n=n)
        for field in ("seconds", "rule_seconds", "likelihood_seconds", "steps")
    )
    parts = np.array([placing, likelihood, total - placing - likelihood])
    return np.asarray(1e3 * np.median(parts / steps, axis=1))


def all_errors(name: str, title: str, records: Sequence[Record]) -> list[style.Picture]:
    """The four figures of a log without its map, errors over seeds first."""
    draw = (over_seeds, over_time, against_n, time_split)
    return [figure(name, title, records) for figure in draw]


def pictures_of(name: str, title: str, records: Sequence[Record]) -> list[style.Picture]:
    """The figures of each log, and the path on the map."""
    found = []
    for log, of_log in logs_of(records).items():
        file, words = f"{name}-{log.replace(' ', '-')}", f"{title}, {log}"
        found += [*all_errors(file, words, of_log), trajectory(file, words, of_log)]
    return found
