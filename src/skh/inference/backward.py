r"""One step backwards: the law of x_t given x_{t+1}, under the particles of time t.

With particles :math:`x^i`, weights :math:`w^i` and transitions f (Godsill, Doucet and West, 2004)

.. math:: P(x_t = x^i | x_{t+1}, y_{0:t})
    = \frac{w^i f(x_{t+1} | x^i)}{\sum_l w^l f(x_{t+1} | x^l)}.

These weights are of use where several f overlap at each point.  Where the components of the
predictive mixture are narrower than the spacing of the particles (`rules.regularized`), only one of
them reaches it, however unlikely, and where the noise does not reach all coordinates (a position
driven by its velocity), only that of its own ancestor.  There the particles stand for a density: it
is smoothed as a filter smooths it, with mean and covariance kept, along the narrow directions.
Given the component i, x_t then is not :math:`x^i` but the particle displaced towards
:math:`x_{t+1}`, with a remaining covariance (`rules.smoothing`, `filtering.carried_records`):

.. math:: x_t \sim \mathcal N(b_i + G_i (x_{t+1} - c_i),\ V_i).

For one component this is the backward step of Rauch, Tung and Striebel; for wide ones G = V = 0.
A displaced particle stands for a Gaussian in the step before, too: by points with its moments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh._numba.backward_weights import backward_weights
from skh._typing import Array, Indices
from skh.filtering.belief import Belief
from skh.filtering.carried_records import Ancestors
from skh.filtering.clock import ModelOverTime
from skh.filtering.model_protocols import CarryingModel, WithoutCarry, propagate, reseeding
from skh.gaussians.linear_algebra import apply, symmetric, transpose
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive
from skh.rules.regularized import (
    MEANS_PER_AXIS,
    has_wide_components,
    lump_smoothing,
    share_of_components,
)
from skh.rules.smoothing import Smoothing

TINY_WEIGHT = 1e-300  # in place of zero, where weights divide
WIDER = 4  # the kernel is that for so many times fewer particles
MOST_DENSITIES = 1 << 20  # 8 MB of densities


@dataclass(frozen=True, eq=False)
class Displacement:
    """x_t given x_{t+1} and component c: N(base + gain (x_{t+1} - centre), root root')."""

    base: Array  # (K, d)
    centre: Array  # (K, d)
    gain: Array  # (K, d, d)
    root: Array  # (K, d, d)

    @classmethod
    def of(cls, smoothing: Smoothing, p: Predictive, x: Array) -> Displacement:
        """Return the displacements of particles ``x`` whose predictive ``p`` was smoothed."""
        K, d = p.means.shape
        ancestors = Ancestors.of(np.arange(K), np.zeros((K, d)), p, smoothing.part)
        slopes = np.stack([(r @ (x - x[:1])).T for r in ancestors.regressions])[ancestors.group]
        gain, root = (np.broadcast_to(a, (K, d, d)) for a in smoothing.gain_and_root)
        centre = smoothing.q.means
        base = x[ancestors.index] + apply(slopes, centre - p.means)
        return cls(base, centre, slopes @ transpose(gain), slopes @ root)


@dataclass(frozen=True, eq=False)
class Contracted:
    """Sums over all pairs (j, i), with the smoothed weights of the points j at t + 1.

    For each component or particle i of time t: its weight, and the weighted sums of x_{t+1} and of
    its square, both from ``origin``; the share of pairs that were pruned and their probability.
    """

    weight: Array  # (K,)
    origin: Array  # (d,)
    first: Array  # (K, d)
    second: Array | None  # (K, d, d), None if not needed
    pruned_pairs: float
    pruned_mass: float

    def conditional(self) -> tuple[Array, Array]:
        """Mean (K, d) and covariance (K, d, d) of x_{t+1} given the component."""
        assert self.second is not None
        w = np.maximum(self.weight, TINY_WEIGHT)
        mean = self.first / w[:, None]
        spread = self.second / w[:, None, None] - mean[:, :, None] * mean[:, None, :]
        return self.origin + mean, symmetric(spread)


@dataclass(frozen=True, eq=False)
class BackwardStep:
    """The particles of time t and where they lead, prepared for points of time t + 1."""

    x: Array  # (n, d)
    mixture: GaussianMixture  # of x_{t+1}: ``each`` consecutive components per particle
    each: int
    displacement: Displacement | None = None

    @property
    def summed(self) -> int:
        """How many components are summed: those of a particle, where it is not displaced."""
        return self.each if self.displacement is None else 1

    def weights(self, x_next: Array, prune: float = 0.0) -> tuple[Array, Array, Indices]:
        """Backward weights (m, n) of points (m, d), what each row lost by pruning, of how many.

        If particles are displaced: of the components, (m, K).
        """
        return self._weights(x_next, prune, self.summed)

    def _weights(self, x_next: Array, prune: float, summed: int) -> tuple[Array, Array, Indices]:
        logs = self.mixture.densities.at(x_next)
        return backward_weights(logs, summed, prune)  # type: ignore[no-any-return] # compiled

    def rows(
        self, x_next: Array, prune: float, summed: int
    ) -> Iterator[tuple[slice, Array, Array, Indices]]:
        """Yield `weights` of some points after the other: all together may not fit in memory."""
        step = max(1, MOST_DENSITIES // len(self.mixture))
        for start in range(0, len(x_next), step):
            some = slice(start, start + step)
            yield some, *self._weights(x_next[some], prune, summed)

    def contracted(
        self, x_next: Array, w: Array, prune: float, by_component: bool = False
    ) -> Contracted:
        """Sum over the points of time t + 1, with their smoothed weights.

        Second moments are those given each component: for displaced particles or ``by_component``.
        """
        summed = 1 if by_component else self.summed
        K, d = len(self.mixture) // summed, x_next.shape[1]
        origin = w @ x_next  # squares are taken from here, for less rounding
        e, squares = x_next - origin, None
        if by_component or self.displacement is not None:
            squares = (e[:, :, None] * e[:, None, :]).reshape(-1, d * d)
        weight, first, second = np.zeros(K), np.zeros((K, d)), np.zeros((K, d * d))
        pairs, mass = 0, 0.0
        for some, B, lost, dropped in self.rows(x_next, prune, summed):
            B *= w[some, None]
            weight += B.sum(axis=0)
            first += B.T @ e[some]
            if squares is not None:
                second += B.T @ squares[some]
            pairs, mass = pairs + int(dropped.sum()), mass + float(w[some] @ lost)
        sums = None if squares is None else second.reshape(K, d, d)
        return Contracted(weight, origin, first, sums, pairs / (K * len(x_next)), mass)


def backward_step(
    models: ModelOverTime, before: Belief, after: Belief, regularize: bool
) -> BackwardStep:
    """Prepare the step from ``after`` back to ``before``."""
    model = models.until(before, after.time)
    p = propagate(model, before.t, before.x, before.w, before.carry)
    smoothing = backward_smoothing(p, len(before.w)) if regularize else None
    if smoothing is None:
        return BackwardStep(before.x, p, p.components_per_particle)
    displacement = Displacement.of(smoothing, p, before.x)
    return BackwardStep(before.x, smoothing.q, p.components_per_particle, displacement)


def backward_smoothing(p: Predictive, n: int) -> Smoothing | None:
    """Smooth the mixture where it is lumpy for ``n`` particles, as if for fewer; None: nowhere.

    A filter's points must not be blurred.  Here, points are displaced back by as much as the kernel
    moved them, which is exact for linear transitions: a wider kernel averages over more particles.
    """
    least = MEANS_PER_AXIS * (p.d + 1)
    if n < least or has_wide_components(p, share_of_components(n, p.d)):
        return None
    return lump_smoothing(p, max(n // WIDER, least), singular=True)


def check_markov(model: CarryingModel) -> None:
    """Raise TypeError unless the next x depends on the particle's present x alone."""
    if reseeding(model) is not None:
        raise TypeError(
            f"smoothing needs transition densities, and {_name(model)} draws its transitions at "
            "random: it has none"
        )
    inner: Any = getattr(model, "_model", model)  # of a chart
    plain = isinstance(inner, WithoutCarry)
    if not plain and not getattr(inner, "records_are_current", False):
        raise TypeError(
            f"smoothing does not know how the records of {_name(model)} depend on the past: if "
            "they follow from the present state and observation alone, say so by an attribute "
            "records_are_current = True of the model"
        )


def _name(model: Any) -> str:
    model = model.model if isinstance(model, WithoutCarry) else model
    return type(model).__name__
