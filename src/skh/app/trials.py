"""Run filters beside each other at equal numbers of likelihood evaluations.

The error of a run is the root mean square, over steps and coordinates, of its filtered means minus
those of a reference, in standard deviations of the filtered states.  The reference is the mean of
two large runs, of SQMC unless its particles lose their weight to a sharp likelihood, then of the
default; their difference says how accurate it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh._typing import Array
from skh.filtering.result import FilterResult
from skh.filtering.series import particle_filter
from skh.rules.sampling import MonteCarlo, QuasiMonteCarlo

METHODS: dict[str, Any] = {"PF": MonteCarlo(), "SQMC": QuasiMonteCarlo(), "default": None}
PILOT_STEPS = 5  # that measure costs
LEAST_REFERENCE = 20  # times n: at most a fifth of the error of a PF with n particles
MOST_REFERENCE = 100_000  # particles
PLACED_REFERENCE = 10  # times n, of a reference by the default
ENOUGH = 50.0  # effective particles of a reference at the median step
FLOOR = 0.01  # standard deviations count as at least this part of those of other steps
LEAST_STEPS = 10


@dataclass(frozen=True, eq=False)
class Series:
    """Observations, and when they were made if that is known."""

    ys: Array  # (T, m)
    times: NDArray[Any] | None = None  # (T,)
    places: tuple[str, ...] = ()  # of the rows of a file

    def __len__(self) -> int:
        return len(self.ys)

    def first(self, steps: int) -> Series:
        """The series of the first steps."""
        times = None if self.times is None else self.times[:steps]
        return Series(self.ys[:steps], times, self.places[:steps])

    def place(self, t: int) -> str:
        """The step and its place in a file, for messages."""
        return f"t={t} ({self.places[t]})" if t < len(self.places) else f"t={t}"

    def filtered(self, model: Any, rule: Any, n: int, seed: int) -> FilterResult:
        """Run a filter."""
        return particle_filter(model, self.ys, rule, n, rng=seed, times=self.times)


@dataclass(frozen=True)
class Sizes:
    """How much to run."""

    n: tuple[int, ...]  # particles
    repeats: int
    steps: int
    reference: int  # particles of each of its two runs


@dataclass(frozen=True, eq=False)
class Reference:
    """What the runs are compared with."""

    means: Array
    sd: Array
    error: float  # estimated from its two halves, in standard deviations
    n: int  # particles of ``run``
    run: FilterResult  # a large run of random particles, for its cost


@dataclass(frozen=True)
class Cost:
    """Seconds of a step."""

    likelihood: float
    total: float


@dataclass(frozen=True)
class Measured:
    """A method at a number of particles."""

    method: str
    n: int
    error: float  # without the error of the reference
    cost: Cost  # medians over steps and runs


def sizes_within(model: Any, series: Series, n: int, repeats: int, seconds: float) -> Sizes:
    """Choose sizes for a time in seconds, by the cost of a few steps."""
    particles = (max(n // 2, 1), n, 2 * n)
    few = series.first(PILOT_STEPS)
    runs = [few.filtered(model, rule, n, 0) for rule in METHODS.values()]
    per_step = 3.5 * repeats * sum(cost_of([run]).total for run in runs)  # n/2, n and 2 n
    steps = int(np.clip(seconds / 2 / per_step, min(LEAST_STEPS, len(series)), len(series)))
    least = LEAST_REFERENCE * n
    pilot = few.first(2).filtered(model, METHODS["SQMC"], least, 0)
    affordable = seconds / 4 / (steps * cost_of([pilot]).total / least)
    reference = int(np.clip(affordable, least, max(MOST_REFERENCE, least)))
    return Sizes(particles, repeats, steps, reference)


def run_reference(model: Any, series: Series, sizes: Sizes) -> Reference:
    """Run two large filters."""
    random = series.filtered(model, METHODS["SQMC"], sizes.reference, 1001)
    if np.median(random.ess[random.n_likelihood_evaluations > 0]) >= ENOUGH:
        runs = [random, series.filtered(model, METHODS["SQMC"], sizes.reference, 1002)]
    else:
        n = min(PLACED_REFERENCE * sizes.n[1], sizes.reference)
        runs = [series.filtered(model, None, n, seed) for seed in (1001, 1002)]
    sd = deviations(*runs)
    means = np.stack([run.means for run in runs])
    error = rms(means[0] - means[1], sd) / 2
    return Reference(means.mean(axis=0), sd, error, sizes.reference, random)


def deviations(*runs: FilterResult) -> Array:
    """Standard deviations of the filtered states (T, d), without steps of nearly none."""
    covariances = np.mean([run.covariances for run in runs], axis=0)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    return np.asarray(np.sqrt(np.maximum(variances, FLOOR**2 * variances.mean(axis=0))))


def rms(difference: Array, sd: Array) -> float:
    """Root mean square of differences in units of ``sd``; coordinates without spread left out."""
    spread = sd > 1e-9 * np.abs(sd).max()
    return float(np.sqrt(np.mean(np.square(difference[spread] / sd[spread]))))


def measure(model: Any, series: Series, sizes: Sizes, reference: Reference) -> Iterator[Measured]:
    """Run each method at each size with several seeds."""
    for n in sizes.n:
        for name, rule in METHODS.items():
            runs = [series.filtered(model, rule, n, seed) for seed in range(sizes.repeats)]
            errors = [rms(run.means - reference.means, reference.sd) for run in runs]
            squared = float(np.mean(np.square(errors))) - reference.error**2
            error = sqrt(max(squared, 0.0))
            yield Measured(name, n, error, cost_of(runs))


def cost_of(runs: list[FilterResult]) -> Cost:
    """The median time of the steps of some runs."""
    seconds = [_seconds(run) for run in runs]
    likelihood, total = (
        float(np.median(np.concatenate([getattr(s, part) for s in seconds])))
        for part in ("likelihood", "total")
    )
    return Cost(likelihood, total)


def _seconds(run: FilterResult) -> Any:
    assert run.seconds is not None  # a filter computed it
    return run.seconds
