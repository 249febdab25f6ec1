"""Runs that start anywhere, and a robot that is kidnapped, as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np

from skh._typing import Array, Indices
from skh.filtering.particle_filter import ParticleFilter
from skh.geometry.charted import Charted
from skh.geometry.charted_states import states_of
from skh.geometry.charts import SE2
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.runs import placed
from skh.reproduction.wean_hall.log import (
    DRIVE,
    START_DEVIATIONS,
    STARTS,
    grid,
    odometry,
    read,
    sensor,
    timeline,
    tracked,
)
from skh.robotics.controls import BodyStep
from skh.robotics.localiser.driven import Driven
from skh.robotics.localiser.kld import KLDSampling
from skh.robotics.localiser.localiser import WIDE, Localiser
from skh.robotics.localiser.start import free_space

ALWAYS = 0.0  # threshold: the timeline has only scans that are used


class Stopped:
    """Likelihood evaluations and estimates of a run, step by step."""

    def __init__(self) -> None:
        self.poses: list[Array] = []
        self.evaluations: list[int] = []
        self.began = perf_counter()

    def add(self, pose: Array, evaluations: int) -> None:
        """Add the estimate of a step, and all evaluations so far."""
        self.poses.append(pose)
        self.evaluations.append(evaluations)

    def records(self, start: Record, times: Array, at: Indices) -> Iterator[Record]:
        """A record for each of some moments, and one for the whole run."""
        for t in at:
            moment = placed(start, float(times[t]), self.poses[t][:2])
            yield replace(moment, likelihood_evaluations=self.evaluations[t])
        seconds = perf_counter() - self.began
        total = self.evaluations[-1]
        yield replace(start, likelihood_evaluations=total, seconds=seconds, steps=len(times))


def anywhere(start: Record, log: str, steps: int, moments: int, least: int) -> Iterator[Record]:
    """A localiser that starts anywhere; ``start.n`` is its largest number of points."""
    seen, path = timeline(log, steps), odometry(log, steps)
    run, n = Stopped(), (least, start.n)
    localiser = Localiser(
        *(grid(), DRIVE, sensor(read(log))),
        n=n,
        rng=start.seed,
        recover=False,
        min_way=ALWAYS,
        min_turn=ALWAYS,
    )
    for pose, y in zip(path, seen.observations, strict=True):
        fix = localiser.update(pose, y)
        assert fix is not None
        run.add(fix.pose, localiser.n_evaluations)
    yield from run.records(start, seen.times, tracked(log, steps).moments(moments))


def anywhere_kld(
    start: Record, log: str, steps: int, moments: int, error: float
) -> Iterator[Record]:
    """The particle filter with KLD-sampling that starts anywhere."""
    seen, rng = timeline(log, steps), np.random.default_rng(start.seed)
    prior = free_space(grid(), start.n, rng=rng)
    model = Driven(prior, DRIVE, sensor(read(log)), 0.0, WIDE)
    rule = KLDSampling(error=error)
    pf, run, total = ParticleFilter(Charted(model, SE2()), rule, start.n, rng=rng), Stopped(), 0
    for t, y in enumerate(seen.observations):
        model.control = seen.controls[t - 1] if t else None
        belief = pf.step(y)
        total += belief.n_likelihood_evaluations
        run.add(SE2().mean(states_of(belief), belief.w), total)
    yield from run.records(start, seen.times, tracked(log, steps).moments(moments))


def kidnapped(
    start: Record, steps: int, moments: int, least: int, *, jump: tuple[int, int], recover: bool
) -> Iterator[Record]:
    """Log 1 up to a step, then log 3 from a step on; odometry does not show the jump."""
    (first, then), log = jump, sensor(read("log 1"))
    before, after = odometry("log 1", steps)[:first], odometry("log 3", steps)[then:]
    seen = timeline("log 1", steps).observations[:first]
    seen = seen + timeline("log 3", steps).observations[then:]
    prior = np.array(STARTS["log 1"]), np.diag(START_DEVIATIONS) ** 2
    localiser = Localiser(
        *(grid(), DRIVE, log),
        n=(least, start.n),
        start=prior,
        rng=start.seed,
        recover=recover,
        min_way=ALWAYS,
        min_turn=ALWAYS,
    )
    run = Stopped()
    for pose, y in zip(np.concatenate([before, joined(before[-1], after)]), seen, strict=True):
        fix = localiser.update(pose, y)
        assert fix is not None
        run.add(fix.pose, localiser.n_evaluations)
    run.poses, run.evaluations = run.poses[first:], run.evaluations[first:]
    at = tracked("log 3", steps).moments(moments)
    yield from run.records(start, timeline("log 3", steps).times[then:], at[at >= then] - then)


def joined(end: Array, path: Array) -> Array:
    """A path (k, 3) moved so that it begins at the pose ``end``.

    >>> path = np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    >>> joined(np.array([5.0, 0.0, np.pi / 2]), path).round(6)
    array([[5.      , 0.      , 1.570796],
           [5.      , 1.      , 1.570796]])
    """
    steps = [BodyStep.between(path[0], pose) for pose in path]
    c, s = np.cos(end[2]), np.sin(end[2])
    return np.array(
        [[end[0] + c * b.x - s * b.y, end[1] + s * b.x + c * b.y, end[2] + b.turn] for b in steps]
    )
