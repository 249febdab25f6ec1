r"""Smoothing of the predictive mixture only where it is lumpy.

With total covariance C = W + B of a mixture of n particles (W the mean covariance of components,
B the covariance of their means), the generalised eigenvectors v of W and C are directions along
which a share :math:`\lambda = v'Wv / v'Cv` of the variance is inside components.  Neighbours among
n points in d dimensions have a squared distance of about :math:`n^{-2/d}` in units of C.  Where
components are narrower than that, the mixture is a sum of separate lumps, and says little about
what is between them.  A likelihood then chooses some lumps, and the filter is too sure.

So along directions with :math:`\lambda < \rho = \min(1/2,\, 2 n^{-2/d})`, means are moved towards
the mean by :math:`\sqrt{1 - s}` and components get an additional variance of
:math:`s (1 - \lambda)`, with :math:`s = (\rho - \lambda) / (1 - \lambda)`.  Their share is then
:math:`\rho`; mean and covariance of the mixture stay (a regularised particle filter: Musso, Oudjane
and Le Gland, 2001).  All other directions stay as they are:

- those with wide components, which smoothing would only blur;
- those in which components have no variance at all (mode numbers, constant parameters): points stay
  where the model allows them.

Parts that are far apart (`gaussians.separation`) are smoothed one by one, so that modes never
merge.  The fewer components a part has, the farther away it must be: nothing tells a mode with one
or two of them from a lump.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skh._typing import Array, Indices
from skh.gaussians.linear_algebra import exceeds, standard_deviations, symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive
from skh.gaussians.separation import MIN_PART_POINTS, split
from skh.kernels.quadrature_weights import resolution
from skh.rules.base import Rule
from skh.rules.matched import Matched
from skh.rules.smoothing import Smoothing, SmoothingRule

SPACINGS = 2.0  # squared distances of neighbours, that a component's variance should be at least
MAX_SHARE = 0.5  # of the variance, that is moved to components at most
NO_SHARE = 1e-9  # of the variance, in directions where components have none
LEAST_CORRELATION = 1e-6  # eigenvalue of the correlations below which a direction has no variance
MEANS_PER_AXIS = 2  # of d + 1: the covariance of fewer means is too poor an estimate
PART_RESOLUTION = 4.0  # of the covariance: parts narrower than 0.4 of its deviations
DIGITS = 9  # of values in units of the standard deviation, that differ beyond rounding
PART_MASS = 0.2  # of a part that is smoothed apart from the rest, at least


@dataclass(frozen=True)
class Regularized(SmoothingRule):
    """Points of another rule, for the mixture smoothed where it is lumpy.

    To the bit those of ``rule`` where no component is narrower than the spacing of ``n`` points,
    and for mixtures that a filter does not want smoothed (its prior; the predictive of a model
    whose particles carry records that cannot be displaced, see `filtering.carried_records`).

    >>> import numpy as np
    >>> import skh
    >>> means = np.random.default_rng(0).normal(size=(50, 6))
    >>> p = skh.GaussianMixture(np.full(50, 0.02), means, 1e-4)
    >>> q = skh.Regularized(skh.default_rule()).smoothing(p, 50).q
    >>> bool(np.allclose(q.mean, p.mean) and np.allclose(q.covariance, p.covariance))
    True
    >>> (np.trace(q.matrices) / np.trace(q.covariance)).round(3)
    np.float64(0.5)
    """

    @property
    def placing(self) -> Rule:
        """Points with the moments of the smoothed mixture, which are those of the mixture.

        A rule's points have too little variance.  Lumps hide that; without them it would add up
        over the steps.
        """
        return Matched(self.rule)

    def smoothing(self, p: GaussianMixture, n: int) -> Smoothing | None:
        """Smooth ``p`` where it is lumpy; None: nowhere."""
        return lump_smoothing(p, n)


def lump_smoothing(p: GaussianMixture, n: int, *, singular: bool = False) -> Smoothing | None:
    """Smooth ``p`` where it is lumpy for ``n`` points; None: nowhere.

    With ``singular`` also along directions in which components have no variance but different
    means, as a smoother needs (`inference.backward`), unless the means share few values there.
    """
    if isinstance(p, Predictive) and not p.smoothable:
        return None
    if n < MEANS_PER_AXIS * (p.d + 1) or has_wide_components(p, share_of_components(n, p.d)):
        return None
    parts = list(distant_parts(p, np.arange(len(p))))
    kernels = [ComponentKernel.of(p.selected(index), n, singular) for index in parts]
    if not any(kernel.s.any() for kernel in kernels):
        return None
    if len(parts) == 1:
        kernel = kernels[0]
        q = p.with_components(kernel.moved(p.means), p.matrices + kernel.matrix)
        return Smoothing(p, q, kernel.matrix)
    means, added = p.means.copy(), np.zeros((len(p), p.d, p.d))
    part = np.zeros(len(p), dtype=np.intp)
    for k, (index, kernel) in enumerate(zip(parts, kernels, strict=True)):
        means[index], added[index], part[index] = kernel.moved(means[index]), kernel.matrix, k
    return Smoothing(p, p.with_components(means, p.matrices + added), added, part)


def share_of_components(n: int, d: int) -> float:
    """Share rho of the variance along a direction that components should have.

    >>> [round(share_of_components(50, d), 4) for d in (1, 2, 3, 6)]
    [0.0008, 0.04, 0.1474, 0.5]
    """
    return min(MAX_SHARE, SPACINGS * resolution(n, d))


def has_wide_components(p: GaussianMixture, share: float) -> bool:
    """Whether each component has this share of the variance in every direction."""
    return exceeds(p.matrices, share, p.covariance)


def distant_parts(p: GaussianMixture, index: Indices) -> Iterator[Indices]:
    """Split the components ``index`` of ``p`` into parts that are far apart."""
    q = p.selected(index) if len(index) < len(p) else p
    n, wide = int(MIN_PART_POINTS / PART_MASS), PART_RESOLUTION * q.covariance
    two = split(q, n, wide, of_sample=True)
    if two is None:
        yield index
    else:
        for rows in two:
            yield from distant_parts(p, index[rows])


@dataclass(frozen=True, eq=False)
class ComponentKernel:
    """The kernel of one part, along the directions where its components are too narrow."""

    mean: Array
    s: Array  # (k,): share of the variance of means that is moved to components
    directions: Array  # (d, k): the mixture's standard deviation along each direction
    coordinates: Array  # (k, d): the inverse
    matrix: Array  # (d, d)

    @classmethod
    def of(cls, p: GaussianMixture, n: int, singular: bool = False) -> ComponentKernel:
        """Return the kernel for ``n`` points; see `lump_smoothing`."""
        S, W = p.covariance, p.matrices
        W = W if W.ndim == 2 else np.einsum("k,kij->ij", p.weights, W)
        sd = standard_deviations(S.diagonal(), p.means)
        variances, axes = np.linalg.eigh(S / np.outer(sd, sd))
        there = variances > LEAST_CORRELATION
        root, axes = np.sqrt(variances[there]), axes[:, there]
        white = (axes / root).T / sd
        inside, turn = np.linalg.eigh(symmetric(white @ W @ white.T))
        rho = share_of_components(n, max(len(root), 1))
        none = inside <= NO_SHARE
        everywhere = singular and differ((p.means - p.mean) @ (turn[:, none].T @ white).T)
        narrow = (inside < rho) & (everywhere | ~none)
        inside = np.maximum(inside[narrow], 0.0)
        directions = sd[:, None] * ((axes * root) @ turn[:, narrow])
        if not everywhere:
            directions[W.diagonal() <= 0.0] = 0.0  # exactly
        matrix = symmetric((directions * (rho - inside)) @ directions.T)
        s = (rho - inside) / (1.0 - inside)
        return cls(p.mean, s, directions, turn[:, narrow].T @ white, matrix)

    def moved(self, means: Array) -> Array:
        """Move means towards the mean of all."""
        by = (means - self.mean) @ self.coordinates.T * (np.sqrt(1.0 - self.s) - 1.0)
        return np.asarray(means + by @ self.directions.T)


def differ(values: Array) -> bool:
    """Whether most rows differ from all others, as those of a continuous distribution do."""
    distinct = len(np.unique(values.round(DIGITS), axis=0)) if values.shape[1] else 0
    return distinct > len(values) / 2
