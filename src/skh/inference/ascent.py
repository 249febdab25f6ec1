"""Maximum of the log-evidence: a filter run, an optimum at its fixed particles, another run.

Around each run the smooth evidence of `local_evidence` is maximised by SciPy's L-BFGS-B within a
trust region, a box in units of standard errors.  The next run is at that maximum; the region grows
or shrinks with how well the gain was predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy  # loads scipy.optimize on first use

from skh._typing import Array
from skh.inference.bounds import Bounds
from skh.inference.local_evidence import (
    SMOOTH,
    JumpsError,
    LocalEvidence,
    LogPrior,
    Metric,
    no_prior,
)
from skh.inference.problem import Problem, zero_evidence
from skh.inference.work import Work

FIRST_RADIUS, LARGEST_RADIUS, SMALLEST_RADIUS = 2.0, 32.0, 0.02  # in standard errors
LARGEST_MOVE = 8.0  # on a log or logit scale
JUMP = 0.02  # of the evidence from run to run, by which a gain may be missed
IMPOSSIBLE = 1e6  # stands for a log-evidence of minus infinity
TOO_NOISY = "stopped: the evidence is too noisy"
NOISY_OPTIMUM = "converged to the noise of the evidence"
SCORING, SURFACE = "scoring", "surface"  # searches of noisy evidence, in files
NOISE, NOISE_RUNS = 0.1, 6  # of the log-evidence from seed to seed, above which it is; runs for it


class Step(NamedTuple):
    """One iteration: where a filter was run, and what was expected from moving on."""

    parameters: dict[str, float]
    log_evidence: float
    expected_gain: float  # NaN where the step before was taken back
    radius: float  # of the trust region, in standard errors


@dataclass(frozen=True, eq=False)
class Ascent:
    """The state of a maximisation, complete between iterations."""

    z: Array
    log_evidence: float = -np.inf
    radius: float = FIRST_RADIUS
    scales: Array | None = None
    gain: float = np.inf  # expected from the last step
    steps: tuple[Step, ...] = ()
    outcome: str = ""  # why it ended
    jumping: bool = False  # filters are run anew, for fixed particles did not tell enough
    search: str = ""  # of noisy evidence, once it is left to `Scoring` or `Surface`
    maxima: tuple[Array, ...] = ()  # that it found, one near the other
    n_filters: int = 0
    n_likelihood_evaluations: int = 0

    def counted(self, work: Work, before: tuple[int, int]) -> Ascent:
        """Return it with the filters and likelihoods that ``work`` had since ``before``."""
        return replace(
            self,
            n_filters=self.n_filters + work.n_filters - before[0],
            n_likelihood_evaluations=self.n_likelihood_evaluations
            + work.n_likelihood_evaluations
            - before[1],
        )


class Task(NamedTuple):
    """What searches work on, and when they give up."""

    problem: Problem
    bounds: Bounds
    work: Work
    most: int = 40  # iterations
    on_step: Callable[[Ascent], object] = lambda ascent: None

    def iterate(self, ascent: Ascent, step: Callable[[Ascent], Ascent]) -> Ascent:
        """Take steps until there is an outcome; count and report each."""
        while not ascent.outcome:
            before = self.work.n_filters, self.work.n_likelihood_evaluations
            ascent = step(ascent).counted(self.work, before)
            self.on_step(ascent)
        return ascent

    def given_up(self, ascent: Ascent) -> str:
        """Return the outcome of too many iterations, or none."""
        return (
            f"not converged after {self.most} iterations" if len(ascent.steps) >= self.most else ""
        )

    def named(self, z: Array) -> dict[str, float]:
        """Return the parameters at free coordinates by name."""
        return self.bounds.named(z)


@dataclass
class Climber:
    """Runs iterations of an `Ascent`."""

    task: Task
    log_prior: LogPrior = no_prior
    verified: bool = True  # compare fixed particles with filters at the optimum
    here: LocalEvidence | None = field(default=None, init=False)

    def climb(self, ascent: Ascent) -> Ascent:
        """Iterate until an optimum is reached."""
        return self.task.iterate(ascent, self._step)

    def evidence_at(self, ascent: Ascent) -> LocalEvidence:
        """Return the evidence around the present point; an error where it is zero."""
        if self.here is None or not np.array_equal(self.here.z, ascent.z):
            self.here = self._evidence(ascent.z, ascent.jumping)
        if self.here is None:
            raise zero_evidence(self.task.named(ascent.z))
        return self.here

    def _evidence(self, z: Array, jumping: bool) -> LocalEvidence | None:
        return LocalEvidence.at(
            self.task.problem, self.task.bounds, z, self.task.work, self.log_prior, jumping=jumping
        )

    def _step(self, ascent: Ascent) -> Ascent:
        """One iteration: from a run to the next one."""
        here = self.evidence_at(ascent)
        scales = self._first_scales(here) if ascent.scales is None else ascent.scales
        if scales is None:
            return replace(ascent, log_evidence=here.log_evidence, outcome=TOO_NOISY)
        metric = here.metric(scales)
        u, gain = maximise(here, metric, ascent.radius)
        record = Step(self.task.named(here.z), here.log_evidence, gain, ascent.radius)
        ascent = replace(ascent, log_evidence=here.log_evidence, scales=metric.scales)
        ascent = replace(ascent, steps=(*ascent.steps, record))
        if gain < here.steps.tolerance:
            return self._ended(ascent, here, metric, "converged")
        if max(gain, ascent.gain) < JUMP and len(ascent.steps) > 2:
            return self._ended(ascent, here, metric, "converged to the jumps of the evidence")
        if given_up := self.task.given_up(ascent):
            return replace(ascent, outcome=given_up)
        return self._moved(replace(ascent, gain=gain), here, metric, u)

    def _first_scales(self, here: LocalEvidence) -> Array | None:
        """Steps that show how the evidence changes; None where filters only show their noise."""
        if here.local is not self.task.problem or not self.verified:
            return here.scales()
        if here.noise(self.task.problem, NOISE_RUNS) > NOISE:
            return None
        try:
            return here.scales()
        except JumpsError:
            return None

    def _ended(self, ascent: Ascent, here: LocalEvidence, metric: Metric, outcome: str) -> Ascent:
        """End the search, or go on: elsewhere, or by filters if fixed particles mislead it."""
        smooth = self.verified and here.local is not self.task.problem
        misled = outcome == TOO_NOISY or (smooth and not here.agrees(self.task.problem, metric))
        noise = here.noise(self.task.problem, NOISE_RUNS) if smooth and misled else 0.0
        z = here.elsewhere(self.task.problem, metric, everywhere=misled, noise=noise)
        if z is not None:
            return replace(ascent, z=z, scales=None, radius=FIRST_RADIUS, gain=np.inf)
        if not (smooth and misled) or noise > NOISE:
            return replace(ascent, outcome=outcome if noise <= NOISE else TOO_NOISY)
        self.here = None
        return replace(ascent, jumping=True, scales=None, radius=FIRST_RADIUS, gain=np.inf)

    def _moved(self, ascent: Ascent, here: LocalEvidence, metric: Metric, u: Array) -> Ascent:
        """Run the filter at the new point; stay if the evidence is not what was expected."""
        gain, length = ascent.gain, float(np.abs(u).max())
        there = self._evidence(here.z + metric.axes @ u, ascent.jumping)
        actual = -np.inf if there is None else there.log_evidence - here.log_evidence
        if there is None or actual < 0.25 * gain - JUMP:
            radius = length / 3
            lost = Step(self.task.named(here.z), here.log_evidence, np.nan, radius)
            ascent = replace(ascent, radius=radius, gain=np.inf, steps=(*ascent.steps[:-1], lost))
            if radius < SMALLEST_RADIUS:  # the gains that were expected are never there
                return self._ended(ascent, here, metric, TOO_NOISY)
            return ascent
        self.here = there
        radius = ascent.radius
        if actual > 0.7 * gain and length > 0.9 * radius:
            radius = min(2 * radius, LARGEST_RADIUS)
        return replace(ascent, z=there.z, log_evidence=there.log_evidence, radius=radius)


def maximise(here: LocalEvidence, metric: Metric, radius: float) -> tuple[Array, float]:
    """Return the maximum u of the local evidence within a box, and its gain."""
    p, h, bounded = len(here.z), here.steps.gradient, ~here.bounds.unbounded
    radius = min(radius, LARGEST_MOVE / max(metric.scales[bounded], default=1.0))
    shifts, start = h * metric.axes.T, metric.axes.T @ metric.gradient

    def negative(u: Array) -> tuple[float, Array]:
        if not u.any():
            return 0.0, -start
        z = here.z + metric.axes @ u
        base = here.increments([z])[0]
        changes = here.differences(z, base, shifts).sum(axis=1)
        if not (np.isfinite(base).all() and np.isfinite(changes).all()):
            return IMPOSSIBLE, np.zeros(p)
        return here.log_evidence - float(base.sum()), -changes / h

    options: dict[str, Any] = {"gtol": 0.03, "ftol": 2 * here.steps.tolerance}
    options |= {"maxiter": 15} if here.steps is SMOOTH else {"maxiter": 4, "maxls": 3, "maxfun": 6}
    found = scipy.optimize.minimize(  # type: ignore[call-overload]
        negative,
        np.zeros(p),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-radius, radius)] * p,
        options=options,
    )
    return (found.x, -float(found.fun)) if found.fun < 0 else (np.zeros(p), 0.0)
