"""One step of a filter that looks twice: where it looks, and what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from skh._typing import Array
from skh.filtering.particle_filter import ParticleFilter
from skh.filtering.plans import Looks, Placement, Plan
from skh.gaussians.linear_algebra import mixture_moments
from skh.gaussians.predictive import Predictive
from skh.reproduction.engine.record import Record
from skh.reproduction.second_look.cases import Data
from skh.reproduction.second_look.lattice import one_step
from skh.rules.base import Rule, WeightedPoints

PREDICTIVE, POSTERIOR, SURROGATE = "step: predictive", "step: posterior", "step: surrogate"
PILOT, LOOK = "step: pilot", "step: look"
CONTOUR = 72  # points of an ellipse
RADIUS = 2.0  # of the ellipses, standard deviations


@dataclass
class Watched:
    """A plan that notes the mixture and the points of each look of its last step."""

    inner: Plan
    mixture: Predictive | None = None
    looks: list[WeightedPoints] = field(default_factory=list)

    @property
    def rule(self) -> Rule:
        """The rule of the plan."""
        return self.inner.rule

    @property
    def uses_information(self) -> bool:
        """As the plan says."""
        return self.inner.uses_information

    def plan(self, p: Predictive, n: int, *, rng: np.random.Generator) -> Looks:
        """Pass on the points of the plan, and the answers."""
        self.mixture, self.looks = p, []
        plan, answer = self.inner.plan(p, n, rng=rng), None
        while True:
            try:
                points = plan.send(answer)  # type: ignore[arg-type] # None starts a generator
            except StopIteration as end:
                placement: Placement = end.value
                return placement
            self.looks.append(points)
            answer = yield points


def picture_records(start: Record, plan: Plan, data: Data, t: int) -> Iterator[Record]:
    """The points of step ``t`` with their weights, and ellipses of the distributions.

    The surrogate's ellipse is that of the mixture that the last look was placed for.
    """
    watched = Watched(plan)
    pf = ParticleFilter(data.model, watched, start.n, rng=start.seed)
    for y in data.ys[: t + 1]:
        belief = pf.step(y)
    p, looks = watched.mixture, watched.looks
    assert p is not None
    sizes = np.cumsum([0, *(len(look) for look in looks)])
    for k, (begin, end) in enumerate(pairwise(sizes)):
        name = LOOK if k else PILOT
        yield from _points(replace(start, rule=name), belief.x[begin:end], belief.w[begin:end])
    exact = one_step(data.model, t, data.ys[t], p, np.random.default_rng(0))
    ellipses = {
        PREDICTIVE: (p.mean, p.covariance),
        SURROGATE: _moments(looks[-1].w, looks[-1].x),
        POSTERIOR: _moments(exact.w, exact.x),
    }
    for name, (mean, covariance) in ellipses.items():
        contour = ellipse(mean, covariance)
        yield from _points(replace(start, rule=name), contour, np.zeros(len(contour)))


def _moments(w: Array, x: Array) -> tuple[Array, Array]:
    return mixture_moments(w, x, np.zeros((len(x), x.shape[1], x.shape[1])))


def ellipse(mean: Array, covariance: Array) -> Array:
    """A closed contour (k, 2) of a Gaussian in the plane."""
    angles = np.linspace(0, 2 * np.pi, CONTOUR)
    circle = RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.asarray(mean + circle @ np.linalg.cholesky(covariance).T)


def _points(start: Record, x: Array, w: Array) -> Iterator[Record]:
    """One record per point: its place, and its weight as the third coordinate."""
    for k, (place, weight) in enumerate(zip(x, w, strict=True)):
        yield replace(start, time=float(k), x=float(place[0]), y=float(place[1]), z=float(weight))
