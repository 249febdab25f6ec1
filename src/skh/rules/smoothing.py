r"""Smoothed mixtures, and by how much their points are displaced.

A rule that smooths replaces each component :math:`\mathcal N(m_i, \Sigma_i)` of a mixture p by
:math:`\mathcal N(\tilde m_i, \Sigma_i + H)` and places points for that mixture q; the kernel H may
differ between parts of p.  A point x of component i deviates from that particle's mean by the
kernel and by the process noise.  Only the noise is informative about the particle's record.  Given
x, the kernel's part has mean

.. math:: \Delta = \tilde m_i - m_i + H\, (\Sigma_i + H)^{-1} (x - \tilde m_i),

and covariance :math:`\Sigma_i (\Sigma_i + H)^{-1} H`.  Both go to the filter as the ``shift`` of
the component, by which particles and records are moved (`filtering.carried_records`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

import numpy as np

from skh import _checks
from skh._typing import RNG, Array, Indices
from skh.gaussians.linear_algebra import factorize, symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.rules.base import Rule, Shift, WeightedPoints, check_call, checked_points
from skh.rules.wrappers import Wrapper


@dataclass(frozen=True, eq=False)
class Smoothing:
    """A mixture ``p``, its smoothed version ``q``, and the kernel that was added to covariances."""

    p: GaussianMixture
    q: GaussianMixture
    kernel: Array  # (d, d), or (K, d, d)
    part: Indices | None = None  # (K,): number of the part that each component was smoothed in

    def displaced(self, points: WeightedPoints) -> WeightedPoints:
        """Return points of ``q`` as points of displaced components of ``p``."""
        i, (n, d), (gain, root) = points.component, points.x.shape, self.gain_and_root
        gain, root = (a[i] if a.ndim == 3 else np.broadcast_to(a, (n, d, d)) for a in (gain, root))
        by_shrinking, off = self.q.means[i] - self.p.means[i], points.x - self.q.means[i]
        mean = by_shrinking + np.einsum("ni,nij->nj", off, gain)
        return replace(points, mmd=nan, shift=Shift(mean, root, self.part))

    @cached_property
    def gain_and_root(self) -> tuple[Array, Array]:
        """Gain, transposed, and root of the covariance, of all components or of each."""
        gain = self.q.divided(self.kernel)
        return gain, factorize(symmetric(self.p.matrices @ gain))[1]


@dataclass(frozen=True)
class SmoothingRule(Wrapper):
    """Base class of rules that place the points of another rule for a smoothed mixture."""

    rule: Rule

    def __post_init__(self) -> None:
        _checks.rule("rule", self.rule)
        if smooths(self.rule):
            raise ValueError(f"rule must not smooth as well, got {self.rule!r}")

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """Return at most ``n`` points."""
        n, rng = check_call(p, n, rng)
        smoothing = self.smoothing(p, n)
        if smoothing is None:
            return checked_points(self.rule(p, n, rng=rng), p)
        q = smoothing.q
        return smoothing.displaced(checked_points(self.placing(q, n, rng=rng), q))

    @property
    def placing(self) -> Rule:
        """The rule for points of a smoothed mixture."""
        return self.rule

    def smoothing(self, p: GaussianMixture, n: int) -> Smoothing | None:
        """Smooth ``p`` for ``n`` points; None: leave it as it is."""
        raise NotImplementedError


def smooths(rule: object) -> bool:
    """Whether a rule, or a rule inside it, smooths."""
    while rule is not None and not isinstance(rule, SmoothingRule):
        rule = getattr(rule, "rule", None)
    return rule is not None
