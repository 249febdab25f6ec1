r"""Maximum likelihood by expectation and maximisation (Dempster, Laird and Rubin, 1977).

The E-step filters and smooths at the present parameters; the M-step maximises

.. math:: Q(\theta) = E[\log p_\theta(x_{0:T-1}, y_{0:T-1}) \mid y_{0:T-1}],

in closed form where the user has one, else numerically at the fixed states of the smoother
(`skh.inference.expected_density`).  The log-evidence grows by at least the gain of Q.  It needs no
evidence of other parameters, and so serves models whose particles carry Kalman filters or modes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # loads scipy.optimize on first use

from skh import _checks
from skh._typing import Array
from skh.inference.ascent import IMPOSSIBLE, Ascent, Step, Task
from skh.inference.bounds import Bounds, checked_values
from skh.inference.expected_density import ExpectedDensity
from skh.inference.local_evidence import LocalEvidence
from skh.inference.optimum import Optimum, optimum_of_one_run
from skh.inference.path_density import PathDensity
from skh.inference.problem import Problem, zero_evidence
from skh.inference.score import density_of
from skh.inference.smoothing_result import SmoothingResult
from skh.inference.work import Work

DENSITY_STEP = 1e-5  # of free coordinates, in derivatives of Q
LARGEST_M_STEP = 2.0  # change of a free coordinate in one numerical M-step: a factor of seven

MStep = Callable[[SmoothingResult, Sequence[Any]], Mapping[str, float]]


@dataclass(frozen=True)
class EM:
    """Expectation-maximisation as the search of `skh.fit`: ``skh.fit(..., search=skh.EM())``.

    Parameters
    ----------
    m_step : ``f(smoothed, ys) -> parameters``, optional
        The parameters that maximise the expected log-density of states and observations, from the
        moments of a `SmoothingResult`.  Without it the maximum is found numerically.
    tolerance : float
        Gain of that expectation below which the search ends.  EM is slow where the observations
        tell much less than the states would: take a small one, and many ``max_iterations``.

    Examples
    --------
    >>> import numpy as np
    >>> import skh
    >>> def local_level(q, r):
    ...     one = np.eye(1)
    ...     return skh.models.LinearGaussian(one, one, q * one, r * one, np.zeros(1), 10 * one)
    >>> ys = local_level(0.5, 1.0).simulate(20, rng=0)[1]
    >>> def m_step(smoothed, ys):
    ...     m, P = smoothed.means[:, 0], smoothed.covariances[:, 0, 0]
    ...     C = smoothed.lag_one_covariances[:, 0, 0]
    ...     q = np.mean(np.diff(m) ** 2 + P[1:] + P[:-1] - 2 * C)
    ...     return {"q": q, "r": np.mean((ys[:, 0] - m) ** 2 + P)}
    >>> positive = {"q": (0, None), "r": (0, None)}
    >>> search = skh.EM(m_step, tolerance=0.01)
    >>> start = {"q": 1.0, "r": 2.0}
    >>> fit = skh.fit(local_level, ys, start, bounds=positive, n=20, rng=0, search=search)
    >>> bool(np.all(np.diff([step.log_evidence for step in fit.trace]) > -0.02))
    True
    """

    m_step: MStep | None = None
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        if self.m_step is not None and not callable(self.m_step):
            raise TypeError(f"m_step must be a function (smoothed, ys), got {self.m_step!r}")
        _checks.positive("tolerance", self.tolerance)

    def climb(self, task: Task, ascent: Ascent) -> Ascent:
        """Iterate until an M-step gains less than the tolerance."""
        return task.iterate(ascent, lambda ascent: self._step(task, ascent))

    def optimum(self, task: Task, ascent: Ascent) -> Optimum:
        """Tell it from one run of the filter."""
        return optimum_of_one_run(task, ascent)

    def _step(self, task: Task, ascent: Ascent) -> Ascent:
        """One iteration: smooth, maximise."""
        problem, values = task.problem, task.named(ascent.z)
        model, result = problem.model(values), problem.run(values, history=True)
        task.work.count(result)
        if result is None:
            raise zero_evidence(values)
        smoothed = result.smooth(model, rng=problem.seed)
        density = density_of(smoothed, model, list(problem.ys), None, problem.seed)
        expected = Expected(problem, task.bounds, task.work, density, model)
        z = self._maximum(smoothed, expected, ascent.z)
        gain = float(np.subtract(*expected.values([z, ascent.z])))
        step = Step(values, result.log_evidence, gain, np.nan)
        ascent = replace(
            ascent, log_evidence=result.log_evidence, gain=gain, steps=(*ascent.steps, step)
        )
        outcome = "converged" if gain < self.tolerance else task.given_up(ascent)
        return ended(task, ascent, outcome) if outcome else replace(ascent, z=z)

    def _maximum(self, smoothed: SmoothingResult, expected: Expected, z: Array) -> Array:
        """The M-step, in free coordinates."""
        if self.m_step is None:
            return expected.maximum(z)
        found = self.m_step(smoothed, expected.problem.ys)
        checked = checked_values("what m_step returns", found, expected.bounds)
        return expected.bounds.free(checked)


@dataclass(frozen=True, eq=False)
class Expected:
    """Q as a function of free coordinates."""

    problem: Problem
    bounds: Bounds
    work: Work
    density: ExpectedDensity | PathDensity
    model: Any  # of the smoother

    def values(self, Z: Sequence[Array]) -> Array:
        """Q at some free coordinates."""
        models = [self.problem.model(self.bounds.named(z)) for z in Z]
        self.work.n_likelihood_evaluations += len(models) * self.density.n_likelihoods
        return self.density.at([self.model, *models])[1:]

    def maximum(self, z: Array) -> Array:
        """Where Q is largest, within a box around ``z``."""
        steps = DENSITY_STEP * np.eye(len(z))

        def negative(at: Array) -> tuple[float, Array]:
            Q = self.values([at, *(at + steps), *(at - steps)])
            if not np.isfinite(Q).all():
                return IMPOSSIBLE, np.zeros(len(z))
            ahead, behind = np.split(Q[1:], 2)
            return -float(Q[0]), -(ahead - behind) / (2 * DENSITY_STEP)

        width = np.where(self.bounds.unbounded, np.inf, LARGEST_M_STEP)
        box = list(zip(z - width, z + width, strict=True))
        found = scipy.optimize.minimize(negative, z, jac=True, method="L-BFGS-B", bounds=box)
        return np.asarray(found.x)


def ended(task: Task, ascent: Ascent, outcome: str) -> Ascent:
    """End a search, with the scales of the evidence that standard errors start from."""
    here = LocalEvidence.at(task.problem, task.bounds, ascent.z, task.work)
    scales = None if here is None else here.metric(here.scales()).scales
    return replace(ascent, scales=scales, outcome=outcome)
