r"""The mixture of few particles for what it is: a sample of a smooth law.

The predictive mixture has a component for each particle.  Where the state has several dimensions
and little noise of its own (a pose, twenty times a second), components are much narrower than the
distances between them: K separate lumps, where the law that they stand for is smooth.  A rule that
places points on the lumps repeats the particles there are, and a filter soon follows few histories.

The means are a weighted sample, so their law is better estimated by a kernel density, with a share
:math:`h^2` of their covariance B moved from them to the components (West, 1993; Liu and West, 2001;
in particle filters Musso, Oudjane and Le Gland, 2001, "regularised"):

.. math::

    \tilde p = \sum_i w_i\,
        \mathcal N\bigl(m + \sqrt{1 - h^2}\, (m_i - m),\; \Sigma_i + h^2 B\bigr),
    \qquad h^2 = \Bigl(\frac{4}{(d + 2) K}\Bigr)^{2 / (d + 4)}.

Mean and covariance are those of the mixture, whatever h is.  It has the value that is best for a
Gaussian sample of :math:`K = 1 / \sum_i w_i^2` (Silverman, 1986) and vanishes as K grows: with very
many particles nothing is smoothed.  K counts components: a model with several per particle (modes)
is smoothed less than one with their sum.

A point x of component i is off that particle's own mean for two reasons, the kernel and the noise
of the model.  Only the second is news about what the particle carries.  The kernel's share is what
is expected of it given x,

.. math::

    \Delta = \bigl(\sqrt{1 - h^2} - 1\bigr) (m_i - m)
        + h^2 B\, (\Sigma_i + h^2 B)^{-1} (x - \tilde m_i),

and goes to the filter as the ``shift`` of the component: particles are moved with all that they
carry, as if they had been a little elsewhere all along (see `ancestors`).  How far they have been
moved is then known up to :math:`\Sigma_i (\Sigma_i + h^2 B)^{-1} h^2 B`, and so are their records.

Not for every filter.  Where components overlap well already, the smooth law is only a wrong one
(default rule, 50 particles, RMSE over 8 sets: LGSS d=3 0.038 instead of 0.031, stochastic
volatility 0.0065 instead of 0.0021), and two modes are run into each other (nonlinear benchmark:
2.8 instead of 0.13).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan

import numpy as np

from skh import _checks
from skh._typing import RNG
from skh.gaussians.linear_algebra import factorize, symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.rules.base import Rule, Shift, WeightedPoints, check_call, checked_points
from skh.rules.wrappers import Wrapper


@dataclass(frozen=True)
class Smoothed(Wrapper):
    """The points of another rule for the mixture as a smooth law.

    Goes around all others, ``Smoothed(Matched(rule))``.  The other order is another rule: what
    moves smoothed points (`Matched`, `Refined`, a search of `FWQuad`) draws their ancestors anew,
    from the mixture as it is, and the particles stay where they are.

    A model whose particles carry records needs ``displaced`` and ``blurred`` (see `ancestors`).
    The MMD to the mixture is not measured.

    >>> import skh
    >>> p = skh.GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 0.01)
    >>> points = skh.Smoothed(skh.default_rule())(p, 20, rng=0)
    >>> bool((abs(points.x - 2.0) < 1).any())  # between the two lumps
    True
    """

    rule: Rule

    def __post_init__(self) -> None:
        _checks.rule("rule", self.rule)
        if _smooths(self.rule):
            raise ValueError(f"rule must not smooth as well, got {self.rule!r}")

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """At most ``n`` points."""
        n, rng = check_call(p, n, rng)
        share = squared_bandwidth(p)
        q = p.shrunk(share)
        points = checked_points(self.rule(q, n, rng=rng), q)
        return replace(points, mmd=nan, shift=component_shift(p, q, share, points))


def _smooths(rule: object) -> bool:
    """Whether a rule, or one that it goes around, smooths."""
    while rule is not None and not isinstance(rule, Smoothed):
        rule = getattr(rule, "rule", None)
    return rule is not None


def component_shift(
    p: GaussianMixture, q: GaussianMixture, share: float, points: WeightedPoints
) -> Shift:
    """How far the kernel has moved the component of each point, given the point."""
    i, n = points.component, len(points)
    gain = q.divided(share * p.covariance_of_means)  # transposed; (d, d) or one each
    root = factorize(symmetric(p.matrices @ gain))[1]
    gain, root = (a[i] if a.ndim == 3 else np.broadcast_to(a, (n, p.d, p.d)) for a in (gain, root))
    by_shrinking, off = q.means[i] - p.means[i], points.x - q.means[i]
    return Shift(by_shrinking + np.einsum("ni,nij->nj", off, gain), root)


def squared_bandwidth(p: GaussianMixture) -> float:
    """The share of the covariance of the means that goes to the components."""
    K = 1.0 / float(p.weights @ p.weights)
    return float(min(1.0, (4.0 / ((p.d + 2) * K)) ** (2.0 / (p.d + 4))))
