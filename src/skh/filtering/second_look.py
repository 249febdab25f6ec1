r"""A second look: spend half of the likelihood evaluations where the first half says it matters.

A rule places all n points of a step for the predictive mixture p, blind to the observation.  With a
sharp likelihood o most evaluations are then wasted.  But the likelihood can be evaluated: a pilot
of n/2 points shows where it is large, and p times a Gaussian-shaped surrogate of o is again a
Gaussian mixture, for which the same rule places the other points:

1. Evaluate half of the rule's points, the pilot, and fit a `Parabola` (`surrogates`); a third
   where the model tells its information.
2. If a second look does not promise a smaller error (`gate`), evaluate the other half: the
   ordinary step, with the same points and weights.
3. Otherwise place points for :math:`q_l = p\, \hat o_l / Z_l`, where :math:`\hat o_l` is the
   surrogate fitted to all evaluations so far: a few on trial, with a flatter surrogate, until
   a look succeeds; then all others.
4. Weigh all points together.  Point i of look k with quadrature weight :math:`v_i` gets

   .. math:: w_i = \frac{\alpha_k v_i\, o(x_i)}{\sum_l \alpha_l\, \hat o_l(x_i) / Z_l},

   multiple importance sampling with shares :math:`\alpha_l` (Veach and Guibas, 1995; for the pilot,
   :math:`\hat o = Z = 1`).  The density of p cancels, and the pilot bounds the weights.  Their sum
   estimates the evidence.

Given x, a component has the same probability under p and q, since the surrogate depends on x alone.
So ancestors, carried records and Rao-Blackwellization remain right.

A rule that smooths (`Smoothed`, `Regularized`) does so first, and all looks are at the smoothed
mixture (`smoothed_looks`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skh import _checks
from skh._numba.reweighting import weighted_ess
from skh._typing import Indices
from skh.filtering.gate import Verdict, judge
from skh.filtering.looks import Taken, combine, subset
from skh.filtering.plans import Look, Looks, Placement
from skh.filtering.smoothed_looks import smoothed_looks, unsmoothed
from skh.filtering.surrogates.base import Surrogate
from skh.frank_wolfe.default import default_rule
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive
from skh.rules.base import Rule, WeightedPoints, checked_points, important_first
from skh.rules.matched import Matched
from skh.rules.sampling import QuasiMonteCarlo
from skh.rules.smoothing import SmoothingRule, smooths

POINTS_PER_SLOPE = 2  # points of the pilot for each of the d + 1 coefficients c and b, at least
PARTS_IF_TOLD = 3  # the pilot is a third of the points if the model tells its information
SURE_EFFICIENCY = 0.5  # ESS of a trial relative to that of its points: more is a success
TRIAL_PARTS = 10  # a trial takes one of so many parts of n, and d + 2 points at least
TRIAL_PARTS_WITH_FLOOR = 7  # the same over a floor
TRIAL_RULE = QuasiMonteCarlo()  # fast; a trial is for learning


@dataclass(frozen=True)
class SecondLook:
    """The points of ``rule``, half of them placed where the other half says it matters.

    Given to a filter where a rule is given.  Where a second look promises nothing, the step is that
    of the rule, to the bit; no step has more likelihood evaluations.

    >>> import skh
    >>> model = skh.models.lgss3()
    >>> _, ys = model.simulate(5, rng=0)
    >>> exact = skh.kalman_filter(model, ys).means
    >>> plain = skh.particle_filter(model, ys, skh.default_rule(), 50, rng=0)
    >>> twice = skh.particle_filter(model, ys, skh.SecondLook(), 50, rng=0)
    >>> bool(abs(twice.means - exact).max() < 0.1 * abs(plain.means - exact).max())
    True
    """

    rule: Rule = field(default_factory=default_rule)

    def __post_init__(self) -> None:
        _checks.rule("rule", self.rule)
        if smooths(unsmoothed(self.rule)):
            raise ValueError(
                "a rule that smooths must be outermost: the surrogate multiplies the smoothed "
                f"mixture, got {self.rule!r}"
            )

    @property
    def uses_information(self) -> bool:
        """True: information about the state is the curvature of the surrogate."""
        return True

    def plan(self, p: Predictive, n: int, *, rng: np.random.Generator) -> Looks:
        """Yield the points of each look; is sent their log-likelihoods; return the placement."""
        if isinstance(self.rule, SmoothingRule):
            smoothing = self.rule.smoothing(p, n)
            return (yield from smoothed_looks(self._inside, smoothing, p, n, rng))
        points = self._points(p, n, rng)
        rows = pilot_rows(self.rule, len(points), pilot_parts(p, len(points)))
        if len(rows) < POINTS_PER_SLOPE * (p.d + 1) or not points.w[rows].any():
            # In one batch: the bits of a likelihood may depend on how many points it is given.
            ess = weighted_ess(points.w, (yield points))
            return Placement(points, looks=(Look(len(points), ess, "too few points"),))
        given = subset(points, rows)
        pilot = Taken(given, (yield given))
        verdict = judge(p, points, pilot, n, lumpy=self._lumpy)
        if verdict.fit is None:
            return (yield from _ordinary(points, rows, pilot, verdict))
        looks, left, sure = [pilot], n - len(rows), verdict.sure
        while left > 0:
            fit = verdict.surrogate(looks, sure)
            m = look_size(n, left, p.d, sure, fit.floor)
            trial = not sure and m < left
            target = verdict.target(fit, p, m, sure, rng)
            given = target.points(self._guided_rule(target.q, fit, trial), m, rng)
            looks.append(Taken(given, (yield given), target, trial))
            left -= len(given)
            sure = looks[-1].efficiency > SURE_EFFICIENCY
        return combine(looks, verdict.reason, verdict.error)

    def _guided_rule(self, q: GaussianMixture, fit: Surrogate, trial: bool) -> Rule:
        """The rule for the points of a guided look.

        Where the surrogate is right, q is the posterior, whose moments are known: points are moved
        to them.  A rule's points have too little variance, which would add up over the steps.
        Those of point masses cannot be moved.
        """
        if trial:
            return TRIAL_RULE
        return self.rule if fit.floor or not q.covariances.any() else self._matched

    @property
    def _lumpy(self) -> bool:
        """Whether the mixtures are smoothed ones."""
        return False

    @cached_property
    def _inside(self) -> SecondLook:
        """The plan for a mixture that is smoothed already."""
        return _AtSmoothed(unsmoothed(self.rule))

    @cached_property
    def _matched(self) -> Matched:
        """The rule with the moments of its mixture."""
        return Matched(self.rule)

    def _points(self, p: Predictive, n: int, rng: np.random.Generator) -> WeightedPoints:
        """Return the rule's points for ``p``, at most n, not displaced."""
        points = checked_points(self.rule(p, n, rng=rng), p)
        if len(points) > n:
            raise ValueError(f"rule must return at most n = {n} points, got {len(points)}")
        if points.shift is not None:
            raise ValueError(
                "rule must not displace components: the surrogate multiplies p itself, "
                f"got {self.rule!r}"
            )
        return points


class _AtSmoothed(SecondLook):
    """A second look at mixtures that were smoothed because they were lumpy."""

    @property
    def _lumpy(self) -> bool:
        return True


def _ordinary(points: WeightedPoints, rows: Indices, pilot: Taken, verdict: Verdict) -> Looks:
    """Evaluate the points that are not in the pilot, and return all in their order."""
    left = np.ones(len(points), dtype=np.bool_)
    left[rows] = False
    rest = np.flatnonzero(left)
    others = yield subset(points, rest)
    places = np.empty(len(points), dtype=np.int64)
    places[np.concatenate([rows, rest])] = np.arange(len(points))
    log_likelihood = np.concatenate([pilot.log_likelihood, others])[places]
    look = verdict.look(len(points), weighted_ess(points.w, log_likelihood))
    return Placement(points, places, None, (look,))


def look_size(n: int, left: int, d: int, sure: bool, floor: bool) -> int:
    """Number of points of the next look: a few on trial, then all that are left.

    With a floor, half of them: another peak may still appear.  The last look is not left with d
    points or fewer.
    """
    trial = max(n // (TRIAL_PARTS_WITH_FLOOR if floor else TRIAL_PARTS), d + 2)
    m = trial
    if sure:
        m = left // 2 if floor and left > 2 * trial else left
    return m if left - m > d else left


def pilot_parts(p: Predictive, n: int) -> int:
    """The pilot is one of so many parts of n points: of two, or of three where the model helps.

    Information told by the model leaves only the slope to learn, and most points for the peak.
    """
    enough = n >= PARTS_IF_TOLD * POINTS_PER_SLOPE * (p.d + 1)
    return PARTS_IF_TOLD if p.told and enough else 2


def pilot_rows(rule: Rule, n: int, parts: int) -> Indices:
    """Rows of the pilot: the first ones if the first points matter most, else evenly spread."""
    return np.arange(-(-n // parts)) if important_first(rule) else np.arange(0, n, parts)
