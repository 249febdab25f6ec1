r"""A second look: spend half of the likelihood evaluations where the first half says it matters.

A rule places all n points of a step for the predictive mixture p, blind to the observation.  With a
sharp likelihood o most evaluations are then wasted.  But the likelihood can be evaluated: a pilot
of n/2 points shows where it is large, and p times a Gaussian-shaped surrogate of o is again a
Gaussian mixture, for which the same rule places the other points:

1. Evaluate half of the rule's points, the pilot, and fit a `Parabola` (`surrogates`).
2. If a second look does not promise a larger effective sample size, evaluate the other half: the
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

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, inf, nan
from typing import NamedTuple

import numpy as np

from skh import _checks
from skh._typing import Array, Indices
from skh.filtering.likelihood_information import relative_to_best
from skh.filtering.looks import Taken, combine, subset, weighted_ess
from skh.filtering.plans import Look, Looks, Placement
from skh.filtering.smoothed_looks import smoothed_looks, unsmoothed
from skh.filtering.surrogates.envelope import MAX_UNEXPLAINED, fit_surrogate
from skh.filtering.surrogates.parabola import Parabola, Whitening
from skh.frank_wolfe.default import default_rule
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive
from skh.gaussians.separation import split
from skh.kernels.quadrature_weights import resolution
from skh.rules.base import Rule, WeightedPoints, checked_points, important_first
from skh.rules.matched import Matched
from skh.rules.sampling import QuasiMonteCarlo
from skh.rules.smoothing import SmoothingRule, smooths

POINTS_PER_SLOPE = 2  # points of the pilot for each of the d + 1 coefficients c and b, at least
POINTS_PER_COEFFICIENT = 0.5  # of the whole parabola, to go where the pilot has not been
POINTS_PER_SLOPE_WITH_FLOOR = 6  # the same where a floor hides most of the likelihood
MAX_SPACING = 1 / 3  # squared distance of the pilot's points, whitened, to guess between them
PARTS_RESOLUTION = 4.0  # of the covariance: parts narrower than 0.4 of its deviations
PARTS_SHARE = 0.2  # of the mass, for each of two parts that one parabola cannot describe
WORTHWHILE = 0.7  # guided if the ordinary step's ESS is below this share of the guided one's
BROAD_EFFICIENCY = 0.5  # ESS of the pilot relative to that of its weights; more is enough
LOST_ESS = 1.5  # the pilot saw the likelihood at a single point if its ESS is below
LOST_EFFICIENCY = 0.12  # the same, relative to the ESS of the quadrature weights
SURE_ERROR = 0.1  # error of a log-likelihood below which no trial is needed
EXACT_ERROR = 1e-3  # the same, at which the likelihood is taken for a parabola everywhere
MAX_CLIMB = 3.0  # log-likelihood expected above the best of the pilot; more needs a trial
SURE_EFFICIENCY = 0.5  # ESS of a trial relative to that of its points: more is a success
TRIAL_PARTS = 10  # a trial takes one of so many parts of n, and d + 2 points at least
TRIAL_POWER = 0.7  # of the surrogate in a trial: it may be too narrow
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
            return (yield from smoothed_looks(SecondLook(self.rule.rule), smoothing, p, n, rng))
        points = self._points(p, n, rng)
        rows = pilot_rows(self.rule, len(points))
        if len(rows) < POINTS_PER_SLOPE * (p.d + 1) or not points.w[rows].any():
            # In one batch: the bits of a likelihood may depend on how many points it is given.
            ess = weighted_ess(points.w, (yield points))
            return Placement(points, looks=(Look(len(points), ess, "too few points"),))
        given = subset(points, rows)
        pilot = Taken(given, (yield given))
        verdict = judge(p, points, pilot, n)
        if verdict.fit is None:
            return (yield from _ordinary(points, rows, pilot, verdict))
        looks, fit, left, sure = [pilot], verdict.fit, n - len(rows), verdict.sure(p)
        while left > 0:
            bump = verdict.frame.bump(fit).power(1.0 if sure else TRIAL_POWER)
            q, log_norm = p.times(bump)
            m = look_size(n, left, p.d, sure, fit.floor)
            trial = not sure and m < left
            given = checked_points(self._guided_rule(q, fit, trial)(q, m, rng=rng), q)
            looks.append(Taken(given, (yield given), bump, log_norm, trial))
            left -= len(given)
            sure = looks[-1].efficiency > SURE_EFFICIENCY
            if left > 0:
                # Without information, the second trial is spent on the second best region.
                first = len(looks) == 2 and not sure and verdict.information is None
                fit = verdict.fit_to(looks, other=first)
        return combine(looks, verdict.reason, verdict.error)

    def _guided_rule(self, q: GaussianMixture, fit: Parabola, trial: bool) -> Rule:
        """The rule for the points of a guided look.

        Where the surrogate is right, q is the posterior, whose moments are known: points are moved
        to them.  A rule's points have too little variance, which would add up over the steps.
        Those of point masses cannot be moved.
        """
        if trial:
            return TRIAL_RULE
        return self.rule if fit.floor or not q.covariances.any() else Matched(self.rule)

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


def _ordinary(points: WeightedPoints, rows: Indices, pilot: Taken, verdict: Verdict) -> Looks:
    """Evaluate the points that are not in the pilot, and return all in their order."""
    rest = np.setdiff1d(np.arange(len(points)), rows)
    others = yield subset(points, rest)
    places = np.empty(len(points), dtype=np.int64)
    places[np.concatenate([rows, rest])] = np.arange(len(points))
    log_likelihood = np.concatenate([pilot.log_likelihood, others])[places]
    look = verdict.look(len(points), weighted_ess(points.w, log_likelihood))
    return Placement(points, places, None, (look,))


class Verdict(NamedTuple):
    """The judgement of the pilot: whether to guide, by which surrogate, and why."""

    fit: Parabola | None  # None: take the ordinary step
    frame: Whitening
    information: Array | None  # in the frame
    error: float
    reason: str

    def look(self, n: int, ess: float) -> Look:
        """Describe a look of ``n`` points."""
        return Look(n, ess, self.reason, self.error)

    def sure(self, p: Predictive) -> bool:
        """Whether the surrogate needs no trial: it is accurate, and the pilot saw the peak."""
        if self.fit is None or self.error >= SURE_ERROR:
            return False
        if self.error < EXACT_ERROR:
            return True
        mean = p.times(self.frame.bump(self.fit))[0].mean
        return bool(self.fit(self.frame(mean[None]))[0] < MAX_CLIMB)

    def fit_to(self, looks: Sequence[Taken], *, other: bool) -> Parabola:
        """Fit the surrogate to all evaluations."""
        z = self.frame(np.concatenate([look.points.x for look in looks]))
        values = np.concatenate([look.log_likelihood for look in looks])
        return fit_surrogate(z, values, self.information, other=other)


def judge(p: Predictive, points: WeightedPoints, pilot: Taken, n: int) -> Verdict:
    """Fit a surrogate to the pilot and decide whether to guide the other points by it."""
    frame, F = Whitening.of(p), p.information
    F = None if F is None else frame.L.T @ F @ frame.L
    n1 = len(pilot.points)

    def verdict(reason: str, fit: Parabola | None = None, error: float = nan) -> Verdict:
        return Verdict(fit, frame, F, error, reason)

    if pilot.ess == 0.0:
        return verdict("the likelihood is zero at the pilot")
    if pilot.efficiency > BROAD_EFFICIENCY:
        return verdict("the likelihood is broad")
    if split(p, n, PARTS_RESOLUTION * p.covariance, PARTS_SHARE * n) is not None:
        return verdict("the predictive has parts far apart")
    fit = fit_surrogate(frame(pilot.points.x), pilot.log_likelihood, F)
    error = weighted_error(fit, pilot)
    ordinary = weighted_ess(points.w, fit(frame(points.x))) * float(points.w @ points.w)
    share = min(ordinary, pilot.efficiency)
    if share < WORTHWHILE * (n - n1) / n * exp(-(min(error, 1e3) ** 2)):
        return verdict("guided: the surrogate is accurate", fit, error)
    if is_lost(fit, pilot):
        return verdict("guided: the pilot missed the peak", fit, error)
    return verdict("a second look does not promise more", None, error)


def is_lost(fit: Parabola, pilot: Taken) -> bool:
    """Whether the pilot hardly saw the peak, but the surrogate shows the way to it."""
    n1, d = pilot.points.x.shape
    if not fit.floor:
        few = pilot.ess < LOST_ESS or pilot.efficiency < LOST_EFFICIENCY
        determined = n1 >= POINTS_PER_COEFFICIENT * (d + 1) * (d + 2) / 2
        return few and determined and fit.unexplained < MAX_UNEXPLAINED
    dense = n1 >= POINTS_PER_SLOPE_WITH_FLOOR * (d + 1) and resolution(n1, d) < MAX_SPACING
    return dense and pilot.efficiency < LOST_EFFICIENCY


def weighted_error(fit: Parabola, pilot: Taken) -> float:
    """Root mean square of leave-one-out errors where the likelihood or its surrogate is large."""
    if fit.left_out is None:
        return inf
    level = relative_to_best(pilot.log_likelihood)
    share = pilot.points.w * np.exp(np.minimum(np.maximum(level, fit.left_out), 0.0))
    return float(np.sqrt(share @ (level - fit.left_out) ** 2 / share.sum()))


def look_size(n: int, left: int, d: int, sure: bool, floor: bool) -> int:
    """Number of points of the next look: a few on trial, then all that are left.

    With a floor, half of them: another peak may still appear.  The last look is not left with d
    points or fewer.
    """
    trial = max(n // TRIAL_PARTS, d + 2)
    m = trial
    if sure:
        m = left // 2 if floor and left > 2 * trial else left
    return m if left - m > d else left


def pilot_rows(rule: Rule, n: int) -> Indices:
    """Rows of the pilot: the first half where the first points matter most, else every other."""
    return np.arange((n + 1) // 2) if important_first(rule) else np.arange(0, n, 2)
