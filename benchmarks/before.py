"""The default rule against an earlier version of itself, whole filter steps without likelihoods.

    python benchmarks/before.py              # these rows alone

Both take some steps in turn, see `earlier`; as many likelihoods are timed and subtracted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import cycle, islice
from statistics import median
from typing import Any

import numpy as np
from earlier import Version, before_and_now
from timing import Row, seconds_of

import skh

STEPS = 40  # per turn at N = 20, fewer for more points
TURNS = 11
CASES = [(n, d) for n, ds in ((20, (1, 2, 3)), (50, (1, 2, 3, 6)), (100, (1, 2, 3, 6))) for d in ds]
PLANS = [(kind, n) for kind in ("guided", "not guided") for n in (50, 100)]
BOUNDS = {20: 0.2, 50: 0.4, 100: 0.4, 200: 0.4}


class Walk:
    """A stable random walk in ``d`` dimensions, all coordinates observed with noise."""

    def __init__(self, d: int) -> None:
        self.d, self.Q = d, 0.3 * np.eye(d)

    def prior(self) -> skh.GaussianMixture:
        """Standard normal."""
        return skh.GaussianMixture([1.0], np.zeros((1, self.d)), np.eye(self.d))

    def transition(self, t: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shrink and add noise."""
        return 0.9 * x, self.Q

    def log_likelihood(self, t: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Unit noise in each coordinate."""
        return -0.5 * ((x - y) ** 2).sum(axis=1)


def series(kind: str, d: int) -> tuple[Any, Any, np.ndarray]:
    """A model, a rule (None: the default plan) and observations."""
    if kind == "rule":
        return Walk(d), skh.default_rule(), np.random.default_rng(d).normal(size=(STEPS, d))
    model = {"guided": skh.models.range_bearing, "not guided": skh.models.stochastic_volatility}
    return model[kind](), None, model[kind]().simulate(STEPS, rng=0)[1]


def serve() -> None:
    """Time steps of a filter for each line ``kind,n,d,steps`` of the standard input."""
    filters: dict[tuple[str, ...], tuple[Any, skh.ParticleFilter, Iterator[np.ndarray]]] = {}
    for line in sys.stdin:
        kind, n, d, steps = line.split(",")
        if (kind, n, d) not in filters:
            model, rule, ys = series(kind, int(d))
            filters[kind, n, d] = model, skh.ParticleFilter(model, rule, int(n), rng=0), cycle(ys)
        model, pf, ys = filters[kind, n, d]
        print(seconds_of_steps(model, pf, list(islice(ys, int(steps)))), flush=True)


def seconds_of_steps(model: Any, pf: skh.ParticleFilter, ys: list[np.ndarray]) -> float:
    """Mean seconds of a step without its likelihood."""
    steps = seconds_of(lambda: [pf.step(y) for y in ys])
    x = pf.belief.x
    likelihoods = seconds_of(lambda: [model.log_likelihood(pf.t, x, y) for y in ys])
    return (steps - likelihoods) / len(ys)


def steps() -> Iterator[Row]:
    """Ratios of times to those of the earlier version, and growth with the number of points."""
    with before_and_now(__file__) as (before, now):
        for n, d in [*CASES, (200, 2)]:
            yield _ratio(before, now, n, d)
        for kind, n in PLANS:
            yield _ratio(before, now, n, 1, kind)
        for few, many, bound in ((100, 200, 2.3), (200, 1_000, 6.0), (100, 1_000, 25.0)):
            yield _growth(now, few, many, bound)


def _seconds(version: Version, n: int, d: int, kind: str = "rule") -> float:
    """Seconds of one step."""
    return version(f"{kind},{n},{d},{max(1, round(STEPS * (20 / n) ** 1.5))}")


def _ratio(before: Version, now: Version, n: int, d: int, kind: str = "rule") -> Row:
    both = (before, now)
    for version in both:  # the first steps compile, and start from the prior
        _seconds(version, n, d, kind)
    times = [[_seconds(version, n, d, kind) for version in both] for _ in range(TURNS)]
    old, new = (1e3 * median(column) for column in zip(*times, strict=True))
    name = f"default rule, filter step, N = {n}, d = {d}"
    if kind != "rule":
        name = f"default plan, {kind}, filter step, N = {n}"
    detail = f"{new:.2f} ms instead of {old:.2f}"
    return Row(name, median(b / a for a, b in times), BOUNDS[n], "x before", detail=detail)


def _growth(now: Version, few: int, many: int, bound: float) -> Row:
    for n in (few, many):
        _seconds(now, n, 2)
    times = [(_seconds(now, few, 2), _seconds(now, many, 2)) for _ in range(5)]
    detail = f"{1e3 * median(b for _, b in times):.1f} ms"
    name = f"default rule, filter step, N {few:,} -> {many:,}, d = 2"
    return Row(name, median(b / a for a, b in times), bound, detail=detail)


SECTIONS = [steps]

if __name__ == "__main__":
    if "serve" in sys.argv:
        serve()
    else:
        for row in steps():
            print(f"{row.name}: {row.value:.2f} {row.unit} (bound {row.bound:g}); {row.detail}")
