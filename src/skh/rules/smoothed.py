r"""Kernel-density regularisation of the predictive mixture.

In a state space of several dimensions with little process noise (a pose, twenty times a second),
components are much narrower than the distances between them.  A rule then only repeats the existing
particles, and the filter soon follows few histories.

The means are a weighted sample, so their law is better estimated by a kernel density, with a share
:math:`h^2` of their covariance B moved from them to the components (West, 1993; Liu and West, 2001;
in particle filters Musso, Oudjane and Le Gland, 2001, "regularised"):

.. math::

    \tilde p = \sum_i w_i\,
        \mathcal N\bigl(m + \sqrt{1 - h^2}\, (m_i - m),\; \Sigma_i + h^2 B\bigr),
    \qquad h^2 = \Bigl(\frac{4}{(d + 2) K}\Bigr)^{2 / (d + 4)}.

Mean and covariance are those of the mixture for any h.  This h is optimal for a Gaussian sample
of size :math:`K = 1 / \sum_i w_i^2` (Silverman, 1986) and vanishes as K grows.  K counts
components: a model with several per particle (modes) is smoothed less than one with their sum.

By how much points are displaced: `rules.smoothing`.

Where components overlap already, smoothing adds error (default rule, 50 particles, RMSE over 8
sets: LGSS d=3 0.038 instead of 0.031, stochastic volatility 0.0065 instead of 0.0021), and it
merges modes (nonlinear benchmark: 2.8 instead of 0.13).
"""

from __future__ import annotations

from dataclasses import dataclass

from skh.gaussians.mixture import GaussianMixture
from skh.rules.smoothing import Smoothing, SmoothingRule


@dataclass(frozen=True)
class Smoothed(SmoothingRule):
    """Points of another rule for a kernel-density estimate of the mixture (``mmd`` is NaN).

    Use it outermost, ``Smoothed(Matched(rule))``: rules around it that move points (`Matched`,
    `Refined`, a search of `FWQuad`) sample their ancestors again, without displacement.  A model
    whose particles carry records needs ``displaced`` and ``blurred`` (`filtering.carried_records`).

    >>> import skh
    >>> p = skh.GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 0.01)
    >>> points = skh.Smoothed(skh.default_rule())(p, 20, rng=0)
    >>> bool((abs(points.x - 2.0) < 1).any())  # between the two lumps
    True
    """

    def smoothing(self, p: GaussianMixture, n: int) -> Smoothing:
        """Smooth ``p`` by a kernel for as many equal components as it has."""
        share = squared_bandwidth(p)
        return Smoothing(p, p.shrunk(share), share * p.covariance_of_means)


def squared_bandwidth(p: GaussianMixture) -> float:
    """Return h^2, the share of the covariance of the means moved to the components."""
    K = 1.0 / float(p.weights @ p.weights)
    return float(min(1.0, (4.0 / ((p.d + 2) * K)) ** (2.0 / (p.d + 4))))
