"""Maximum of an evidence too noisy to be compared: the mean of the local maxima of many runs.

Where likelihoods are so narrow that few particles reach them, the log-evidence of two filters
differs by tens, whatever the parameters.  Its gradient at the particles of one run (Fisher's
identity) averages over smoothed states and differs much less.  The maximum at these particles is
thus an estimate of the optimum, with noise: the search goes from one to the next until they stay
where they are, and then to their mean (Robbins and Monro, 1951; Polyak and Juditsky, 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.inference.ascent import NOISY_OPTIMUM, SCORING, Ascent, Step, Task, maximise
from skh.inference.bounds import Bounds
from skh.inference.local_evidence import LocalEvidence, inverse
from skh.inference.optimum import Optimum, with_more_particles
from skh.inference.problem import Problem, zero_evidence

T = TypeVar("T")

DISTANT = 8.0  # gain to a maximum that is still on the way: some four standard errors
FIRST_BOX, LARGEST_BOX = 8.0, 64.0  # in standard errors
MISLED, ON_THE_WAY = "stopped: maxima at fixed particles lead astray", 6  # steps that show it
SETTLING = 4  # maxima that are not far, before those that are averaged


@dataclass(frozen=True)
class Scoring:
    """Averages local maxima of ``runs`` filters: the search of `skh.fit` for noisy evidence.

    `skh.fit` goes on with it by itself where the log-evidence varies by more than 0.1 from seed to
    seed.  Transitions must have densities.

    >>> import skh
    >>> ys = skh.models.stochastic_volatility().simulate(20, rng=0)[1]
    >>> fit = skh.fit(
    ...     skh.models.stochastic_volatility,
    ...     ys,
    ...     {"scale": 1.0},
    ...     bounds={"scale": (0, None)},
    ...     n=20,
    ...     rule=skh.Stratified(),
    ...     rng=0,
    ...     search=skh.Scoring(runs=4),
    ... )
    >>> fit.message, fit.noise > 0.1
    ('converged to the noise of the evidence', True)
    """

    runs: int = 8

    def __post_init__(self) -> None:
        _checks.positive_int("runs", self.runs)

    def climb(self, task: Task, ascent: Ascent) -> Ascent:
        """Iterate until enough maxima are averaged."""
        if ascent.search != SCORING:
            ascent = replace(ascent, search=SCORING, maxima=(), scales=None, outcome="")
            ascent = replace(ascent, radius=FIRST_BOX)
        return task.iterate(ascent, lambda ascent: self._judged(task, self._step(task, ascent)))

    def _judged(self, task: Task, ascent: Ascent) -> Ascent:
        """Say whether and why the search ends."""
        if len(ascent.maxima) == SETTLING + self.runs:
            f = log_mean([step.log_evidence for step in ascent.steps[-self.runs :]])
            return replace(ascent, log_evidence=f, outcome=NOISY_OPTIMUM)
        return replace(ascent, outcome=MISLED if misled(ascent) else task.given_up(ascent))

    def _step(self, task: Task, ascent: Ascent) -> Ascent:
        """Run another filter, and go towards the maximum at its particles."""
        here = smooth_evidence(task, task.problem, ascent.z, len(ascent.steps))
        if here is None:
            return halfway_back(task.bounds, ascent)
        metric = here.metric(here.scales() if ascent.scales is None else ascent.scales)
        u, gain = maximise(here, metric, ascent.radius)
        record = Step(task.named(here.z), here.log_evidence, gain, ascent.radius)
        ascent = replace(ascent, scales=metric.scales, steps=(*ascent.steps, record))
        ascent = replace(ascent, log_evidence=here.log_evidence, gain=gain)
        at_the_edge = bool(np.abs(u).max() > 0.9 * ascent.radius)
        return self._gone_on(ascent, here.z + metric.axes @ u, task.bounds, at_the_edge)

    def _gone_on(self, ascent: Ascent, maximum: Array, bounds: Bounds, at_the_edge: bool) -> Ascent:
        """Go to a maximum that is on the way, else to the mean of the last ones."""
        if (at_the_edge or ascent.gain > DISTANT) and ahead(ascent, maximum, bounds):
            radius = min((1 + at_the_edge) * ascent.radius, LARGEST_BOX)
            return replace(ascent, z=maximum, maxima=(), radius=radius)
        maxima = (*ascent.maxima, maximum)
        f = [step.log_evidence for step in ascent.steps[-len(maxima) :]]
        z = np.mean(better_half(maxima[-self.runs :], f[-self.runs :]), axis=0)
        return replace(ascent, z=z, maxima=maxima, radius=FIRST_BOX)

    def optimum(self, task: Task, ascent: Ascent) -> Optimum:
        """Average over runs: evidence, curvature, and the gradient by more particles."""
        runs, f = self._evidence(task, task.problem, ascent.z)
        some = better_half(runs, f)
        metric = some[0].metric(some[0].scales() if ascent.scales is None else ascent.scales)
        information = np.mean([here.information(metric) for here in some], axis=0)
        covariance = metric.axes @ inverse(information) @ metric.axes.T
        more, g = self._evidence(task, with_more_particles(task.problem), ascent.z)
        gradients = [here.metric(metric.scales).gradient for here in better_half(more, g)]
        off, shift = abs(log_mean(g) - log_mean(f)), covariance @ np.mean(gradients, axis=0)
        return Optimum(log_mean(f), covariance, off, shift, True, float(np.std(f)))

    def _evidence(
        self, task: Task, problem: Problem, z: Array
    ) -> tuple[list[LocalEvidence], list[float]]:
        """The evidence at the particles of filters with other seeds than the search had."""
        runs = [smooth_evidence(task, problem, z, -1 - k) for k in range(self.runs)]
        found = [here for here in runs if here is not None]
        if len(found) < self.runs:
            raise zero_evidence(task.named(z))
        return found, [here.log_evidence for here in found]


def smooth_evidence(task: Task, problem: Problem, z: Array, run: int) -> LocalEvidence | None:
    """Run a filter with the seed of a ``run``; None where the evidence is zero."""
    seed = (problem.seed + run) % 2**63
    here = LocalEvidence.at(problem.other(seed=seed), task.bounds, z, task.work)
    if here is not None and isinstance(here.local, Problem):
        raise ValueError(
            "search=skh.Scoring() needs a model whose transitions have densities, got "
            f"{type(problem.model(task.named(z))).__name__}: use another search"
        )
    return here


def halfway_back(bounds: Bounds, ascent: Ascent) -> Ascent:
    """Return to where the evidence was positive, half the way."""
    known = [step for step in ascent.steps if step.log_evidence > -np.inf]
    if not known:
        raise zero_evidence(bounds.named(ascent.z))
    lost = Step(bounds.named(ascent.z), -np.inf, np.nan, ascent.radius)
    z = 0.5 * (ascent.z + bounds.free(known[-1].parameters))
    return replace(ascent, z=z, radius=0.5 * ascent.radius, steps=(*ascent.steps, lost))


def ahead(ascent: Ascent, maximum: Array, bounds: Bounds) -> bool:
    """Whether a maximum lies in the direction of the last step: noise goes to and fro."""
    if len(ascent.steps) < 2 or ascent.scales is None:
        return True
    before = bounds.free(ascent.steps[-2].parameters)
    last, now = (ascent.z - before) / ascent.scales, (maximum - ascent.z) / ascent.scales
    return bool(last @ now >= 0)


def misled(ascent: Ascent) -> bool:
    """Whether gains were expected on all of the last steps, and the evidence has not grown."""
    last = ascent.steps[-ON_THE_WAY:]
    if len(last) < ON_THE_WAY or not all(step.expected_gain > DISTANT for step in last):
        return False
    before, after = np.array([step.log_evidence for step in last]).reshape(2, -1).mean(axis=1)
    return bool(after <= before)


def better_half(items: Sequence[T], f: Sequence[float]) -> list[T]:
    """Return those with the larger log-evidence: other filters may have lost the state."""
    order = np.argsort(np.negative(f), kind="stable")
    return [items[i] for i in order[: (len(items) + 1) // 2]]


def log_mean(f: Sequence[float]) -> float:
    """Return the logarithm of the mean of exp(f)."""
    return float(np.logaddexp.reduce(np.array(f)) - np.log(len(f)))
