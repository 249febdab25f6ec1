"""Plans: how a step of the filter spends its likelihood evaluations.

A plan asks for the log-likelihoods at some points, is sent them, and may then choose where to look
next.  It is given where a rule is given; a plain rule is the plan with one look, `OneLook(rule)`.
A plan that evaluates the rule's points in two halves, with the same result::

    @dataclass(frozen=True)
    class TwoHalves:
        rule: skh.Rule
        uses_information = True

        def plan(self, p, n, *, rng):
            points = self.rule(p, n, rng=rng)
            for rows in np.array_split(np.arange(len(points)), 2):
                w = np.full(len(rows), 1 / len(rows))
                yield skh.WeightedPoints(points.x[rows], w, points.component[rows])
            return Placement(points)
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from math import nan
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from skh import _checks
from skh._typing import Array, Indices
from skh.gaussians.predictive import Predictive
from skh.rules.base import Rule, WeightedPoints, uses_information


@dataclass(frozen=True)
class Look:
    """What one look of a plan found, and why the plan took it.

    ``n`` points were evaluated; ``ess`` is their effective sample size after weighting by the
    likelihood; ``reason`` says why the plan looked there; ``error`` is the error of the surrogate
    that it used, NaN without one.
    """

    n: int
    ess: float
    reason: str
    error: float = nan


class Placement(NamedTuple):
    """The points of a step, in the order of its belief, after all looks of a plan.

    ``rows`` (n,) is the row of each point in the concatenation of all points that the plan asked
    about; None if they are all of them, in that order.  ``log_correction`` (n,) is added to the
    log-likelihoods: the particles' weights are proportional to
    ``points.w * exp(log_likelihood + log_correction)``, and the sum of these is the evidence.
    ``n_others`` is the number of evaluations that are not those of points (see `residual_form`).
    """

    points: WeightedPoints
    rows: Indices | None = None
    log_correction: Array | None = None
    looks: tuple[Look, ...] = ()
    n_others: int = 0


Looks = Generator[WeightedPoints, Array, Placement]


@runtime_checkable
class Plan(Protocol):
    """A value that decides, look by look, where the likelihood of a step is evaluated.

    Without an observation, and for predictions, the filter takes the points of its ``rule``.
    """

    @property
    def rule(self) -> Rule:
        """The rule for steps without an observation."""
        ...

    @property
    def uses_information(self) -> bool:
        """Whether the plan uses the information of a `Predictive`."""
        ...

    def plan(self, p: Predictive, n: int, *, rng: np.random.Generator) -> Looks:
        """Yield the points of each look; is sent their log-likelihoods; return the placement.

        The weights of each look sum to one, and ``component`` refers to the components of ``p``.
        The log-likelihoods are an (m,) array of numbers below +inf, -inf included.
        """
        ...


@dataclass(frozen=True)
class OneLook:
    """The plan of a plain rule: evaluate all of its points.

    >>> import skh
    >>> p = Predictive.of(skh.GaussianMixture([1.0], [[0.0]], 1.0))
    >>> looks = OneLook(skh.Stratified()).plan(p, 4, rng=np.random.default_rng(0))
    >>> len(next(looks))
    4
    """

    rule: Rule

    @property
    def uses_information(self) -> bool:
        """Whether the rule uses it."""
        return uses_information(self.rule)

    def plan(self, p: Predictive, n: int, *, rng: np.random.Generator) -> Looks:
        """Yield the points of the rule and return them."""
        points = self.rule(p, n, rng=rng)
        yield points
        return Placement(points)


def plan_of(rule: Rule | Plan) -> Plan:
    """Return a plan as it is, and a rule as the plan with one look."""
    if isinstance(rule, Plan) and not isinstance(rule, type):
        return rule
    if isinstance(rule, int):  # as in particle_filter(model, ys, 50)
        raise TypeError(f"rule must be a rule such as skh.Stratified(), got {rule}: write n={rule}")
    _checks.rule("rule", rule)
    return OneLook(rule)  # type: ignore[arg-type] # a rule, as just checked
