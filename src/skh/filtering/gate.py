r"""The gate of a second look: whether the pilot's likelihoods are worth following, and by what.

Near-zero regret: there is a second look only where it promises a smaller error than the ordinary
step has.  The ordinary step's points are known before they are evaluated, and so are evidence and
mean of p times the surrogate, in closed form: how far the points are off on the surrogate
(`ordinary_error`) tells how far they will be off on the likelihood.  A guided look of m points is
off by about the surrogate's own error over :math:`\sqrt m`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from skh._numba.likelihood_fit import relative_to_best
from skh._typing import Array
from skh.filtering.looks import Taken
from skh.filtering.plans import Look
from skh.filtering.surrogates.base import Surrogate
from skh.filtering.surrogates.envelope import MAX_UNEXPLAINED, fit_surrogate
from skh.filtering.surrogates.parabola import Parabola, Prior, Whitening, informed
from skh.filtering.surrogates.process import fit_process
from skh.filtering.surrogates.target import Target
from skh.gaussians.predictive import Predictive
from skh.gaussians.separation import split
from skh.kernels.quadrature_weights import resolution
from skh.rules.base import WeightedPoints

POINTS_PER_COEFFICIENT = 0.5  # of the whole parabola, to go where the pilot has not been
POINTS_PER_SLOPE_WITH_FLOOR = 6  # the same where a floor hides most of the likelihood
MAX_SPACING = 1 / 3  # squared distance of the pilot's points, whitened, to guess between them
PARTS_RESOLUTION = 4.0  # of the covariance: parts narrower than 0.4 of its deviations
PARTS_SHARE = 0.2  # of the mass, for each of two parts that one parabola cannot describe
PROMISE = 0.5  # error of a guided look, over the surrogate's error and a root of its points
BROAD_EFFICIENCY = 0.5  # ESS of the pilot relative to that of its weights; more is enough
LOST_ESS = 1.5  # the pilot saw the likelihood at a single point if its ESS is below
LOST_EFFICIENCY = 0.12  # the same, relative to the ESS of the quadrature weights
LEAST_DEVIATION = 1e-12  # whitened deviation of q, to divide by
SURE_ERROR = 0.1  # error of a log-likelihood below which no trial is needed
EXACT_ERROR = 1e-3  # the same, at which the likelihood is taken for a parabola everywhere
MAX_CLIMB = 3.0  # log-likelihood expected above the best of the pilot; more needs a trial


class Verdict(NamedTuple):
    """The judgement of the pilot: whether to guide, by which surrogate, and why."""

    fit: Parabola | None  # None: take the ordinary step
    frame: Whitening
    expected: Prior | None  # of the information known, in the frame
    error: float
    reason: str
    product: Target | None = None  # p times the fit

    def look(self, n: int, ess: float) -> Look:
        """Describe a look of ``n`` points."""
        return Look(n, ess, self.reason, self.error)

    @property
    def sure(self) -> bool:
        """Whether the surrogate needs no trial: it is accurate, and the pilot saw the peak."""
        if self.fit is None or self.product is None or self.error >= SURE_ERROR:
            return False
        if self.error < EXACT_ERROR:
            return True
        return bool(self.fit(self.frame(self.product.q.mean[None]))[0] < MAX_CLIMB)

    def target(
        self, fit: Surrogate, p: Predictive, m: int, sure: bool, rng: np.random.Generator
    ) -> Target:
        """What a look of ``m`` points guided by ``fit`` is placed for."""
        if sure and fit is self.fit and self.product is not None:
            return self.product
        return fit.target(p, self.frame, m, sure, rng)

    def surrogate(self, looks: Sequence[Taken], sure: bool) -> Surrogate:
        """Fit to all evaluations: a parabola, or over a floor a process if it predicts better.

        Until a look succeeds the process is for exploring, and the parabola is not fitted again.
        """
        z = self.frame(np.concatenate([look.points.x for look in looks]))
        level = relative_to_best(np.concatenate([look.log_likelihood for look in looks]))
        first, fit = len(looks) == 1, self.fit
        if fit is None or (not first and (sure or not fit.floor)):
            fit = fit_surrogate(z, level, self.expected)
        if not fit.floor:
            return fit
        process = fit_process(z, level, None if self.expected is None else self.expected.H0)
        if not first and not sure:
            return process
        w = looks[0].points.w if first else np.ones(len(z))
        errors = weighted_error(fit, level, w), weighted_error(process, process.values, w)
        return fit if errors[0] < errors[1] else process


def judge(
    p: Predictive, points: WeightedPoints, pilot: Taken, n: int, *, lumpy: bool = False
) -> Verdict:
    """Fit a surrogate to the pilot and decide whether to guide the other points by it.

    ``lumpy``: components of p were too narrow.  Their spread is then that of the points before, so
    a deviation that is too small stays so over the steps, and counts as an error.
    """
    frame, F, n1 = Whitening.of(p), p.information, len(pilot.points)

    def refused(reason: str, error: float = nan) -> Verdict:
        return Verdict(None, frame, None, error, reason)

    if pilot.ess == 0.0:
        return refused("the likelihood is zero at the pilot")
    if pilot.efficiency > BROAD_EFFICIENCY:
        return refused("the likelihood is broad")
    if split(p, n, PARTS_RESOLUTION * p.covariance, PARTS_SHARE * n) is not None:
        return refused("the predictive has parts far apart")
    expected = None if F is None else informed(frame.L.T @ F @ frame.L)
    level = relative_to_best(pilot.log_likelihood)
    fit = fit_surrogate(frame(pilot.points.x), pilot.log_likelihood, expected)
    error = weighted_error(fit, level, pilot.points.w)
    promised = PROMISE * error / sqrt(n - n1)
    product = fit.product(p, frame)
    if promised < ordinary_error(product, points, frame, fit, lumpy):
        reason = "guided: the surrogate is accurate"
    elif is_lost(fit, pilot):
        reason = "guided: the pilot missed the peak"
    else:
        return refused("a second look does not promise more", error)
    return Verdict(fit, frame, expected, error, reason, product)


def ordinary_error(
    product: Target, points: WeightedPoints, frame: Whitening, fit: Parabola, lumpy: bool = False
) -> float:
    """Error of log-evidence and mean (in deviations) if the likelihood were the surrogate.

    Also the relative error of the deviations, if ``lumpy``.
    """
    q, log_norm = product.q, product.log_norm
    z, mean = frame(points.x), frame(q.mean[None])[0]
    level = fit(z)
    w = points.w * np.exp(level - level.max())
    total = float(w.sum())
    spread = np.maximum(np.sqrt(np.diag(frame.T @ q.covariance @ frame.T.T)), LEAST_DEVIATION)
    found = w @ z / total
    off: Array = np.abs(found - mean) / spread
    if lumpy:
        narrow = np.sqrt(w @ (z - found) ** 2 / total) / spread - 1.0
        off = np.hypot(off, np.where(spread > LEAST_DEVIATION, narrow, 0.0))
    return hypot(np.log(total) + level.max() - log_norm, sqrt(float(np.mean(off**2))))


def is_lost(fit: Parabola, pilot: Taken) -> bool:
    """Whether the pilot hardly saw the peak, but the surrogate shows the way to it."""
    n1, d = pilot.points.x.shape
    if not fit.floor:
        few = pilot.ess < LOST_ESS or pilot.efficiency < LOST_EFFICIENCY
        determined = n1 >= POINTS_PER_COEFFICIENT * (d + 1) * (d + 2) / 2
        return few and determined and fit.unexplained < MAX_UNEXPLAINED
    dense = n1 >= POINTS_PER_SLOPE_WITH_FLOOR * (d + 1) and resolution(n1, d) < MAX_SPACING
    return dense and pilot.efficiency < LOST_EFFICIENCY


def weighted_error(fit: Surrogate, values: Array, w: Array) -> float:
    """Root mean square of leave-one-out errors where the likelihood or its surrogate is large."""
    if fit.left_out is None:
        return inf
    share = w * np.exp(np.minimum(np.maximum(values, fit.left_out), 0.0))
    return float(np.sqrt(share @ (values - fit.left_out) ** 2 / share.sum()))
