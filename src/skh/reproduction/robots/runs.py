"""One run of a filter on a log, as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from skh._typing import Array, Indices
from skh.filtering.belief import Belief
from skh.filtering.plans import Plan
from skh.filtering.result import FilterResult
from skh.filtering.series import particle_filter
from skh.geometry import states_of
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.log import Log, normalised_squares, positions_of
from skh.rules.base import Rule

TRUTH, LANDMARK = "truth", "landmark"
PARTICLE_OF, PATH_OF = "particle of ", "path of "
DIGITS = 5  # of positions in records
PATH = 420  # points of paths in figures: a multiple of most numbers of moments


def run_records(
    start: Record, rule: Rule | Plan, log: Log, moments: int, pictured: int = 0
) -> Iterator[Record]:
    """Filter a log once: yield a record for each of some moments and one for the whole run.

    The particles of ``pictured`` moments are recorded as well, and the path for figures.
    """
    filtered(log, rule, 5, 0, steps=2)  # compile before measuring the time
    result = filtered(log, rule, start.n, start.seed, history=pictured > 0)
    named = replace(start, steps=len(log.times))
    at = log.moments(moments)
    yield from moment_records(named, log, result, at)
    if pictured:
        path = replace(named, rule=PATH_OF + start.rule)
        yield from moment_records(path, log, result, log.moments(PATH))
        for t in log.moments(pictured):
            yield from _particles(named, log, result.history[t], t)  # type: ignore[index] # kept
    yield whole_run(named, log, result)


def filtered(
    log: Log, rule: Rule | Plan, n: int, seed: int, *, steps: int | None = None, **options: Any
) -> FilterResult:
    """Run a filter on the log, or on its first steps."""
    return particle_filter(log.model, log.observations[:steps], rule, n, rng=seed, **options)


def whole_run(start: Record, log: Log, result: FilterResult) -> Record:
    """RMSE and median NEES of the position over the scored steps, and what the run cost."""
    scored, seconds = log.scored(), result.seconds
    assert seconds is not None
    error, nees = _errors(log, result, scored)
    return replace(
        start,
        rmse=float(np.sqrt(np.mean(error**2))),
        nees=float(np.median(nees)),
        ess=float(result.ess.mean()),
        n_particles=float(result.n_particles.mean()),
        likelihood_evaluations=int(result.n_likelihood_evaluations.sum()),
        guided=float(np.mean([len(looks) > 1 for looks in result.looks])) if result.looks else 0.0,
        seconds=float(np.sum(seconds.total)),
        rule_seconds=float(np.sum(seconds.rule)),
        likelihood_seconds=float(np.sum(seconds.likelihood)),
    )


def moment_records(start: Record, log: Log, result: FilterResult, at: Indices) -> Iterator[Record]:
    """Position, its covariance and its error at some steps."""
    places = positions_of(result.mean_states, log.dimension)
    error, nees = _errors(log, result, at)
    for k, t in enumerate(at):
        S = result.covariances[t]
        yield replace(
            placed(start, float(log.times[t]), places[t]),
            rmse=_rounded(error[k]),
            nees=float(f"{nees[k]:.4g}"),
            xx=float(f"{S[0, 0]:.4g}"),
            xy=float(f"{S[0, 1]:.4g}"),
            yy=float(f"{S[1, 1]:.4g}"),
        )


def _errors(log: Log, result: FilterResult, at: Indices) -> tuple[Array, Array]:
    """Distance to the truth and NEES of the position at some steps; NaN without a truth."""
    if log.truth is None:
        return np.full(len(at), np.nan), np.full(len(at), np.nan)
    k = log.dimension
    error = positions_of(result.mean_states, k)[at] - log.truth[at]
    nees = normalised_squares(error, result.covariances[at][:, :k, :k])
    return np.asarray(np.linalg.norm(error, axis=1)), nees


def placed(start: Record, time: float, place: Array) -> Record:
    """A record of a position in the plane or in space, at a time."""
    x, y, z = (_rounded(value) for value in (*place, np.nan)[:3])
    return replace(start, time=_rounded(time), x=x, y=y, z=z)


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)


def _particles(start: Record, log: Log, belief: Belief, t: int) -> Iterator[Record]:
    """One record per particle, its weight in the place of the error."""
    of = replace(start, rule=PARTICLE_OF + start.rule)
    places = positions_of(states_of(belief), log.dimension)
    for place, w in zip(places, belief.w, strict=True):
        yield replace(placed(of, float(log.times[t]), place), rmse=_rounded(w))


def map_records(start: Record, log: Log) -> Iterator[Record]:
    """The true path and the landmarks, so that figures need no data."""
    if log.truth is not None:
        of = replace(start, rule=TRUTH, steps=len(log.times))
        for t in log.moments(PATH):
            yield placed(of, float(log.times[t]), log.truth[t])
    for place in () if log.landmarks is None else log.landmarks:
        yield placed(replace(start, rule=LANDMARK), 0.0, place)
