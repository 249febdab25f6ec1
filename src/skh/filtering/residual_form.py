r"""Likelihoods in residual form, approximated by Gauss-Newton steps before points are placed.

A model may give residuals of an observation, ``residuals(t, x, y)`` (n, m) with

.. math:: \log p(y_t | x) = \text{const} - |r(x)|^2 / 2,

for instance :math:`R^{-1/2} (y_t - h(x))`.  Any sum of terms :math:`-\rho_j(x)`, each at most zero,
has this form, with :math:`r_j = \pm \sqrt{2 \rho_j}`.  Where m is large (an image), differences of
the residuals say much more about the state than those of the log-likelihood alone: 2 d + 1
evaluations give a parabola in d dimensions, :math:`|r|^2 \approx |r_0 + J (x - x_0)|^2`.

Two such linearisations, the second at the maximum of the posterior that the first promises, with
differences over the standard deviations of that posterior, give a Gaussian-shaped approximation
:math:`\hat o`.  The plan of the filter then places its points for the mixture p times
:math:`\hat o^\beta`, and weighs them by :math:`o / \hat o^\beta`: the same target, however poor the
approximation is.  :math:`\beta < 1`, so that the ratio stays bounded where the approximation is too
narrow.  The evaluations are among the n of the step.

So residuals need not be those of the likelihood.  One with a floor (outliers) is flat far from its
peak, and so are its residuals; `cauchy_residuals` are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, cast

import numpy as np

from skh._typing import Array
from skh.filtering.conversation import Stopwatch
from skh.filtering.model_protocols import CarryingModel, gather
from skh.filtering.plans import Looks, Placement, Plan
from skh.filtering.surrogates.parabola import Whitening
from skh.gaussians.bump import Bump
from skh.gaussians.linear_algebra import symmetric
from skh.gaussians.predictive import Predictive

LINEARISATIONS = 2  # linearisations, at most
LINEARISED_SHARE = 0.6  # of the evaluations of a step, that linearisations may take
APPROXIMATION_POWER = 0.8  # beta
LEAST_DIFFERENCE = 0.1  # of differences, in standard deviations of the predictive mixture

Residuals = Callable[[Array], Array]  # of points (k, d): (k, m)


@dataclass(frozen=True, eq=False)
class Approximation:
    """A Gaussian-shaped approximation of the likelihood of one observation."""

    bump: Bump
    n_evaluations: int

    def looks(self, plan: Plan, p: Predictive, n: int, rng: np.random.Generator) -> Looks:
        """The looks of ``plan`` at ``p`` times the approximation, with n evaluations in all."""
        q, log_norm = p.times(self.bump)
        given_q = cast(Predictive, q).with_information(None)  # of the ratio, nothing is known
        looks = plan.plan(given_q, n - self.n_evaluations, rng=rng)
        answer: Any = None  # starts it
        while True:
            try:
                given = looks.send(answer)
            except StopIteration as end:
                placement: Placement = end.value
                break
            answer = (yield given) + log_norm - self.bump.log(given.x)
        correction = log_norm - self.bump.log(placement.points.x)
        if placement.log_correction is not None:
            correction = correction + placement.log_correction
        found = tuple(replace(k, reason=f"linearised; {k.reason}") for k in placement.looks)
        return placement._replace(
            log_correction=correction, looks=found, n_others=self.n_evaluations
        )


def approximate(
    model: Any, t: int, p: Predictive, belief: Any, y: Any, n: int, watch: Stopwatch
) -> Approximation | None:
    """Approximate the likelihood of y if the model gives residuals and n is large enough.

    The time that it takes is the likelihood's.
    """
    tell = getattr(model, "residuals", None)
    count = min(LINEARISATIONS, int(LINEARISED_SHARE * n) // (2 * p.d + 1))
    if tell is None or y is None or count == 0:
        return None
    carry, carries = getattr(belief, "carry", None), isinstance(model, CarryingModel)
    start = perf_counter()

    def residuals(x: Array) -> Array:
        records = gather(carry, np.zeros(len(x), dtype=np.intp)) if carries else None
        return check_residuals(tell(t, x, y, *((records,) if carries else ())), t, len(x))

    bump = gauss_newton(residuals, Whitening.of(p), count).power(APPROXIMATION_POWER)
    watch.likelihood += perf_counter() - start
    return Approximation(bump, count * (2 * p.d + 1))


def gauss_newton(residuals: Residuals, frame: Whitening, count: int) -> Bump:
    """Linearise the residuals ``count`` times; return exp(-|r|^2 / 2) of the best linearisation.

    In coordinates z of the frame the predictive mixture is about standard normal.
    """
    d = len(frame.mean)
    z, best, level = np.zeros(d), None, -np.inf
    axes: Array = np.eye(d)
    for _ in range(count):
        at = np.concatenate([z[None], z + axes.T, z - axes.T])
        r = residuals(frame.mean + at @ frame.L.T)
        J = np.linalg.solve(axes.T, (r[1 : d + 1] - r[d + 1 :]) / 2).T
        F, g = symmetric(J.T @ J), -J.T @ r[0]
        reached = -0.5 * float(r[0] @ r[0] + z @ z)
        if best is None or reached > level:  # a step that leads down is not taken
            H = symmetric(frame.T.T @ F @ frame.T)
            best, level = Bump.known(0.0, g @ frame.T, H, frame.mean + frame.L @ z), reached
        spread: Array = np.asarray(np.linalg.inv(np.eye(d) + F), dtype=np.float64)
        z = z + spread @ (g - z)
        axes = np.asarray(np.linalg.cholesky(symmetric(spread) + LEAST_DIFFERENCE**2 * np.eye(d)))
    assert best is not None
    return best


def cauchy_residuals(r: Array) -> Array:
    r"""Residuals of Cauchy errors, :math:`\pm \sqrt{2 \log(1 + r^2)}`, in place of Gaussian ones r.

    A large one counts for little, as that of an outlier should, and still tells the way.

    >>> cauchy_residuals(np.array([-0.1, 1.0, 10.0, 1000.0])).round(2)
    array([-0.14,  1.18,  3.04,  5.26])
    """
    return np.asarray(np.sign(r) * np.sqrt(2 * np.log1p(r**2)))


def check_residuals(r: Any, t: int, k: int) -> Array:
    """Validate what ``residuals`` returns for k rows."""
    values: Array = np.asarray(r, dtype=np.float64)
    if values.ndim != 2 or len(values) != k or not np.isfinite(values).all():
        what = f"shape {values.shape}" if values.ndim != 2 or len(values) != k else "NaN or inf"
        raise ValueError(
            f"model.residuals at t={t} must return finite numbers of shape ({k}, m), got {what}"
        )
    return values
