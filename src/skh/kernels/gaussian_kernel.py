r"""The Gaussian kernel, its closed forms for Gaussian mixtures, and the MMD.

For :math:`\kappa(x, x') = \exp(-\|x - x'\|^2 / 2\sigma^2)` and a mixture p (paper, section 2.3):

.. math::

    \mu_p(x) = \textstyle\sum_i \pi_i\, |B_i|^{-1/2}
               \exp\bigl(-\tfrac{1}{2\sigma^2} (x - \mu_i)^\top B_i^{-1} (x - \mu_i)\bigr),
    \qquad B_i = I + \Sigma_i / \sigma^2,

which is :math:`\sum_i \pi_i (\sqrt{2\pi}\sigma)^d \mathcal N(x | \mu_i, \Sigma_i + \sigma^2 I)` in
a form without over- or underflow that allows singular :math:`\Sigma_i`.  Likewise
:math:`\|\mu_p\|^2` is the double sum with :math:`B_{ij} = I + (\Sigma_i + \Sigma_j) / \sigma^2`.
Averages of kernels average both; a metric is a change of coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._numba.gaussian_sums import add_gaussians
from skh._numba.kernel_rows import kernel_row, transposed
from skh._numba.metrics import set_unit_coordinates
from skh._runtime.lazy import lazy
from skh._runtime.threads import in_threads
from skh._typing import Array
from skh.gaussians.linear_algebra import (
    check_covariance,
    identity,
    inverse_triangle,
    positive_root,
    symmetric,
)
from skh.gaussians.mixture import GaussianMixture, check_mixture
from skh.kernels.mean_map import AlignedMeanMap, aligned_sum, mean_map, norm2, one_by_one


@dataclass(frozen=True)
class GaussianKernel:
    r"""The kernel :math:`\sum_s a_s \exp(-(x - x')^\top \Lambda^{-1} (x - x') / 2\sigma_s^2)`.

    Parameters
    ----------
    variance : float or sequence of floats
        :math:`\sigma^2`, or several :math:`\sigma_s^2`, whose Gaussians are averaged.
    metric : (d, d), optional
        Positive definite matrix :math:`\Lambda`; identity by default.
    weights : sequence of floats, optional
        :math:`a_s`, scaled to sum to one; equal by default.

    Examples
    --------
    >>> kernel = GaussianKernel(1.0)
    >>> p = GaussianMixture([1.0], [[0.0]], 1.0)
    >>> kernel.mean_map(p, [[0.0]]).round(4)
    array([0.7071])
    """

    variance: float | Sequence[float]
    metric: ArrayLike | None = None
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        variances = _checks.real_array("variance", self.variance)
        if variances.ndim > 1 or variances.size == 0 or variances.min() <= 0:
            raise ValueError(
                f"variance must be a positive number or a sequence of them, got {self.variance!r}"
            )
        plain = tuple(variances.tolist()) if variances.ndim else float(variances)
        object.__setattr__(self, "variance", plain)  # a copy: the caller may change a list
        if self.metric is not None:
            object.__setattr__(self, "metric", _metric(self.metric))
        if self.weights is not None:
            weights = _checks.probabilities("weights", self.weights)
            _checks.same_length("weights", weights, "variance", variances.size)
            object.__setattr__(self, "weights", tuple(weights.tolist()))

    def with_metric(self, metric: Array) -> GaussianKernel:
        """Return this kernel, which has no metric, with a symmetric one.

        Much faster than the constructor, which would check all of it again.
        """
        L, T = np.empty((1, *metric.shape)), np.empty((1, *metric.shape))
        regular = set_unit_coordinates(L, T, metric)
        kernel = object.__new__(GaussianKernel)
        kernel.__dict__.update(
            self.__dict__,
            metric=tuple(map(tuple, metric.tolist())),
            _finest=_checks.sealed(self.finest_variance * metric),
            _from_unit=L[0] if regular else positive_root("metric", metric),
        )
        kernel.__dict__.update({"_to_unit": T[0]} if regular else {})
        return kernel

    @lazy
    def variances(self) -> Array:
        """Variances of the averaged Gaussians, ``(S,)``."""
        return np.atleast_1d(np.asarray(self.variance, dtype=np.float64))

    @lazy
    def scales(self) -> Array:
        r"""Rates :math:`1 / 2\sigma_s^2` and weights of the Gaussians, (2, S)."""
        S = self.variances.size
        weights = np.full(S, 1.0 / S) if self.weights is None else np.array(self.weights)
        return np.array([0.5 / self.variances, weights])

    def finest(self, d: int) -> Array:
        """Covariance (d, d) of the narrowest Gaussian."""
        return self.finest_variance * identity(d) if self.metric is None else self._finest

    @lazy
    def finest_variance(self) -> float:
        """Variance of the narrowest Gaussian, in coordinates of unit metric."""
        return float(self.variances.min())

    @lazy
    def _finest(self) -> Array:
        return np.asarray(self.finest_variance * np.asarray(self.metric))

    @lazy
    def _from_unit(self) -> Array | None:
        """Factor L with L L' = metric: x = L y for y in coordinates of unit metric."""
        metric = self.metric
        return None if metric is None else np.linalg.cholesky(np.asarray(metric, np.float64))

    @lazy
    def _to_unit(self) -> Array | None:
        """Inverse T of that factor: in coordinates T x the metric is the identity."""
        L = self._from_unit
        return None if L is None else inverse_triangle(L)

    def _check_dimension(self, d: int) -> None:
        if self._to_unit is not None and len(self._to_unit) != d:
            raise ValueError(
                f"metric must be ({d}, {d}) for points in {d} dimensions, "
                f"got ({len(self._to_unit)}, {len(self._to_unit)})"
            )

    def coordinates(self, x: ArrayLike, d: int | None = None, name: str = "x") -> Array:
        """Map rows ``x`` to columns ``(d, n)`` in coordinates of unit metric."""
        return self.coordinates_of(_checks.points(name, x, d))

    def coordinates_of(self, x: Array) -> Array:
        """`coordinates` for finite points."""
        self._check_dimension(x.shape[1])
        if self._to_unit is not None:
            return self._to_unit @ x.T
        turned = in_threads(transposed, len(x))  # NumPy is as fast, but single-threaded
        return np.ascontiguousarray(x.T) if turned is transposed else turned(x)

    def axes_of_unit_metric(self, d: int) -> Array:
        """Matrix (d, d) that maps `coordinates` back to points."""
        return np.eye(d) if self._from_unit is None else self._from_unit

    def from_coordinates(self, X: Array) -> Array:
        """Map columns ``(d, n)`` back to rows: the inverse of `coordinates`."""
        return np.ascontiguousarray((X if self._from_unit is None else self._from_unit @ X).T)

    def mixture(self, p: GaussianMixture) -> GaussianMixture:
        """Transform ``p`` to the `coordinates`."""
        check_mixture("p", p)
        self._check_dimension(p.d)
        if (T := self._to_unit) is None:
            return p
        # As `p.linear_map`, without the information about the state, which takes longer.
        S = symmetric(T @ p.matrices @ T.T)
        return GaussianMixture._known(p._weights, p.means @ T.T, S)

    def gram(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Kernel matrix between the rows of ``x`` and the rows of ``y``, ``(n, m)``."""
        X = self.coordinates(x)
        Y = self.coordinates(y, len(X), "y")
        out = np.empty((X.shape[1], Y.shape[1]))
        for row, c in zip(out, X.T, strict=True):
            kernel_row(row, Y, c, self.scales)
        return out

    def weighted_sum(self, x: ArrayLike, w: ArrayLike, y: ArrayLike) -> Array:
        """``gram(y, x) @ w`` without the matrix: the mean map of the weighted points ``x``."""
        X = self.coordinates(x)
        Y = self.coordinates(y, len(X), "y")
        w = _checks.shaped("w", w, "n")
        _checks.same_length("w", w, "x", X.shape[1])
        out = np.zeros(Y.shape[1])
        for rate, weight in self.scales.T:
            add_gaussians(out, Y, X.T, weight * w, np.full(len(w), rate))
        return out

    def mean_map(self, p: GaussianMixture, x: ArrayLike) -> Array:
        r""":math:`\mu_p(x) = E_p[\kappa(X, x)]` at each row of ``x``, ``(n,)``, exact."""
        check_mixture("p", p)
        return self.mean_map_at(p, self.coordinates(x, p.d))

    def mean_map_at(self, p: GaussianMixture, X: Array) -> Array:
        """Mean map at columns ``X`` (d, n) in the kernel's `coordinates`."""
        check_mixture("p", p)
        if X.ndim != 2 or len(X) != p.d:
            _checks.shaped("X", X, p.d, "n")  # raises
        if self._turns(p):
            return self.aligned_mean_map(p)(X)
        return self._mean_map(self.mixture(p), X)

    def _turns(self, p: GaussianMixture) -> bool:
        """Whether components have common axes, which are not those of the `coordinates`."""
        return self.metric is not None and p.covariances.ndim < 3

    def aligned_mean_map(self, p: GaussianMixture) -> AlignedMeanMap:
        """Mean map along common axes, kept for the mixture that was used last.

        Not for one matrix per component.
        """
        kept = self.__dict__.get("_kept")
        if kept is None or kept[0] is not p:
            self._check_dimension(p.d)
            of = self._to_unit, p._weights, p._means, p.covariances, self.scales
            kept = self.__dict__["_kept"] = p, AlignedMeanMap.of(*of)
        aligned: AlignedMeanMap = kept[1]
        return aligned

    def _mean_map(self, p: GaussianMixture, X: Array) -> Array:
        return mean_map(p, X, self.variances, self.scales[1])

    def mean_norm2(self, p: GaussianMixture) -> float:
        r""":math:`\|\mu_p\|^2 = E[\kappa(X, X')]` for independent X, X' from p, exact."""
        check_mixture("p", p)
        if p.covariances.ndim == 1:
            aligned = self.aligned_mean_map(p)
            of = p._weights, aligned.means, aligned.variances
            sums = [aligned_sum(*of, v) for v in self.variances]
            return float(self.scales[1] @ sums)
        if self._turns(p):
            aligned = self.aligned_mean_map(p)
            of = p._weights, aligned.means, aligned.variances
            return norm2(*of, self.scales)
        p = self.mixture(p)
        if p.covariances.ndim in (0, 2):
            # X - X' ~ N(m_i - m_j, 2 S): the mean map of the widened mixture at m_i.
            X = np.ascontiguousarray(p._means.T)
            return float(p.weights @ self._mean_map(p.widened(2.0), X))
        return float(self.scales[1] @ [one_by_one(p, v) for v in self.variances])


def mmd(kernel: GaussianKernel, p: GaussianMixture, x: ArrayLike, w: ArrayLike) -> float:
    r"""Maximum mean discrepancy between ``p`` and the points ``x`` with weights ``w``, exact.

    :math:`\mathrm{MMD}^2 = w^\top K w - 2 w^\top \mu_p(x) + \|\mu_p\|^2`, the squared worst error
    over the unit ball of the kernel's function space (paper, eq. 3).  As a difference of nearly
    equal numbers it is noise below ~1e-8; squares that rounding makes negative count as zero.

    >>> p = GaussianMixture([0.5, 0.5], [[0.0], [1.0]], 0.0)
    >>> mmd(GaussianKernel(1.0), p, [[0.0], [1.0]], [0.5, 0.5])
    0.0
    """
    check_kernel("kernel", kernel)
    check_mixture("p", p)
    x = _checks.points("x", x, p.d)
    w = _checks.probabilities("w", w)
    _checks.same_length("w", w, "x", len(x))
    quadratic = float(w @ kernel.weighted_sum(x, w, x))
    linear = float(w @ kernel.mean_map(p, x))
    return root(quadratic - 2 * linear + kernel.mean_norm2(p))


def check_kernel(name: str, value: object) -> None:
    """Raise a TypeError unless ``value`` is a GaussianKernel."""
    if not isinstance(value, GaussianKernel):
        raise TypeError(f"{name} must be a GaussianKernel, got {value!r}")


def _metric(value: ArrayLike) -> tuple[tuple[float, ...], ...]:
    """Validate a metric and convert it to nested tuples."""
    metric = _checks.real_array("metric", value)
    if metric.ndim != 2 or metric.shape[0] != metric.shape[1]:
        raise ValueError(f"metric must be a (d, d) matrix, got shape {metric.shape}")
    check_covariance("metric", metric)
    positive_root("metric", metric)
    return tuple(tuple(row) for row in metric.tolist())


def root(square: float) -> float:
    """Square root of a number that only rounding can have made negative."""
    return sqrt(max(square, 0.0))
