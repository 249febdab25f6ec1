r"""How far a run is off because its particles are few: estimated from a run with twice as many.

Let :math:`m_t`, :math:`v_t` be the filtered means and variances of a run with n particles, and
:math:`m'_t`, :math:`v'_t` those of a *check*: a run on the same observations with 2 n particles and
other random numbers.  In each coordinate their difference is taken in units of the spread of both
beliefs together,

.. math:: u_t = (m_t - m'_t) / s_t, \qquad s_t^2 = (v_t + v'_t) / 2 + (m_t - m'_t)^2 / 4,

and the estimate is :math:`s_t` times the root mean square of u over `WINDOW` steps around t.  A
single difference may be small by chance; those of some steps are not.

With :math:`\delta_t` the difference of the increments of the log-evidence, its error is

.. math:: \tfrac23 \Big[\big(\sum_t \delta_t\big)^2 + \sum_t \delta_t^2\Big] + (b\, g / n)^2,

squared: the difference itself, what it would typically be if the increments erred independently,
and a bias of the g steps with a second look that the check has too (`GUIDED_BIAS`).  If errors fall
like :math:`n^{-1/2}`, the run has two thirds of the variance of the difference (`OWN_SHARE`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skh._typing import Array

if TYPE_CHECKING:
    from skh.filtering.result import FilterResult

WINDOW = 5  # steps over which differences are averaged
# Per step that was guided by a second look, times 1/n: linear models and range-bearing sensors had
# 0.004 to 0.02.  It falls more slowly than 1/n, so that a run with 2 n particles shows half of it.
GUIDED_BIAS = 0.01
OWN_SHARE = 2 / 3  # of a squared difference of the log-evidences, that of the run itself


class ErrorEstimate(NamedTuple):
    """Estimated errors of a `FilterResult` that more particles would remove.

    - ``means`` (T, d): of the filtered means, in the units of the state
    - ``relative`` (T, d): the same in standard deviations of the belief, at most 2
    - ``log_evidence``: of the log-evidence
    - ``n_check``: number of particles of the run that they were estimated from

    The true error is below twice the estimate in most cases; see docs/numerical_error.md.
    """

    means: Array
    relative: Array
    log_evidence: float
    n_check: int

    @property
    def overall(self) -> float:
        """Error of the means in standard deviations, root mean square over steps and coordinates.

        It is what ``particle_filter(..., accuracy=)`` compares with.
        """
        return float(np.sqrt(np.mean(self.relative**2)))

    def __repr__(self) -> str:
        return (
            f"means off by about {self.overall:.2g} standard deviations (at most "
            f"{self.relative.max():.2g}), log-evidence by {self.log_evidence:.2g}; from a run with "
            f"{self.n_check} particles"
        )


def estimated_error(result: FilterResult, check: FilterResult, chart: Any = None) -> ErrorEstimate:
    """Return the error of ``result`` as estimated from a ``check`` with more particles.

    With a ``chart`` differences are those of the mean states, in the chart's increments.

    >>> import skh
    >>> model = skh.models.lgss3()
    >>> ys = model.simulate(20, rng=0)[1]
    >>> runs = [skh.particle_filter(model, ys, skh.Stratified(), n, rng=n) for n in (200, 400)]
    >>> estimated_error(*runs).means.shape
    (20, 3)
    """
    difference = result.means - check.means
    if chart is not None:  # the means of two runs are coordinates around different references
        difference = np.asarray(chart.minus(result.mean_states, check.mean_states))
    scale = np.sqrt((_variances(result) + _variances(check)) / 2 + difference**2 / 4)
    u = np.divide(difference, scale, out=np.zeros_like(scale), where=scale > 0)
    relative = np.sqrt(windowed_means(u**2))
    n_check = int(check.n_particles.max())
    return ErrorEstimate(relative * scale, relative, evidence_error(result, check), n_check)


def evidence_error(result: FilterResult, check: FilterResult) -> float:
    """Return the estimated error of the log-evidence."""
    delta = result.log_evidence_increments - check.log_evidence_increments
    guided = sum(len(looks) > 1 for looks in result.looks)
    shared = GUIDED_BIAS * guided / int(result.n_particles.max())
    own = OWN_SHARE * (delta.sum() ** 2 + (delta**2).sum())
    return float(np.sqrt(own + shared**2))


def windowed_means(values: Array) -> Array:
    """Means of the rows over `WINDOW` steps around each, fewer at the ends.

    >>> windowed_means(np.arange(6.0)[:, None]).ravel()
    array([1. , 1.5, 2. , 3. , 3.5, 4. ])
    """
    T, half = len(values), WINDOW // 2
    sums = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])
    t = np.arange(T)
    first, end = np.maximum(t - half, 0), np.minimum(t + half + 1, T)
    return np.asarray((sums[end] - sums[first]) / (end - first)[:, None])


def _variances(result: FilterResult) -> Array:
    return np.asarray(np.diagonal(result.covariances, axis1=1, axis2=2))
