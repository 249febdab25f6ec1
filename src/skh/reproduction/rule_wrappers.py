"""Rules around other rules: one that notes times and MMDs, one that changes coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from skh._typing import RNG
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel, mmd
from skh.rules.base import Rule, WeightedPoints
from skh.rules.wrappers import Wrapper


@dataclass
class Observed(Wrapper):
    """A rule that notes, for each call of ``rule``, the time and the MMD for each kernel.

    The MMD is to ``targets[t]`` in call t, or to the given mixture if there are no targets.
    ``seconds`` is the time of the rule, ``overhead`` the time of measuring MMDs.
    """

    rule: Rule
    kernels: Sequence[GaussianKernel] = ()
    targets: Sequence[GaussianMixture] | None = None
    clock: Callable[[], float] = perf_counter
    seconds: float = 0.0
    overhead: float = 0.0
    mmds: list[list[float]] = field(default_factory=list)

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """The points of the rule, unchanged."""
        start = self.clock()
        points = self.rule(p, n, rng=rng)
        end = self.clock()
        target = p if self.targets is None else self.targets[len(self.mmds)]
        self.mmds.append([mmd(kernel, target, points.x, points.w) for kernel in self.kernels])
        self.seconds += end - start
        self.overhead += self.clock() - end
        return points


@dataclass(frozen=True)
class Whitened(Wrapper):
    """``rule`` in coordinates in which the mixture has unit covariance.

    For Frank-Wolfe rules this equals a kernel with the covariance of each mixture as its metric:
    one sigma^2 then has the same meaning at every step, whatever the units of the coordinates.
    """

    rule: Rule

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """The points of the rule, transformed back to the mixture's coordinates."""
        if not p.covariance.any():  # a known state needs no scaling
            return self.rule(p, n, rng=rng)
        L = np.linalg.cholesky(p.covariance)
        points = self.rule(p.linear_map(np.linalg.inv(L)), n, rng=rng)
        shift = points.shift and replace(
            points.shift, mean=points.shift.mean @ L.T, root=L @ points.shift.root
        )
        return replace(points, x=points.x @ L.T, shift=shift)
