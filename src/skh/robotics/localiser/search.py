"""One filter of a localiser, from a wide prior to a settled belief: n follows the target.

Many points, placed by quasi-Monte Carlo along a Hilbert curve, cover a wide prior; as the belief
gets smaller, they get fewer; the filter's plan takes over when a single cluster is left.  What
determines whether the right pose survives the first observations:

- *Points too few for their target are smoothed.*  A likelihood narrower than the distance between
  points drops poses that are nearly right.  So an observation is included in parts (its
  likelihood to powers that sum to one, each as large as an effective share of `KEPT_SHARE`
  allows), and between the parts points move by about the distance between them.
- *Several clusters keep enough points each.*  Equally good hypotheses stay equally good for
  dozens of steps, in which few random points drift to one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.particle_filter import ParticleFilter
from skh.filtering.plans import Plan
from skh.geometry.charted import Charted
from skh.geometry.charted_states import states_of
from skh.geometry.charts import SE2
from skh.robotics.localiser.bins import Bins
from skh.robotics.localiser.driven import Driven
from skh.rules.base import Rule
from skh.rules.sampling import QuasiMonteCarlo

PER_BOX = 20  # points for each box that matters, while there are several clusters
KEPT_SHARE = 0.3  # effective share of the points after a part of an observation
LEAST_PART = 0.1  # of an observation; a smaller rest joins the part before
CALMING = 0.8  # of the moves, with each observation: they must not keep a belief wide
SEVERAL = 8  # times the least number of points, while there are several clusters
APART = 2.0  # boxes: standard deviation of the place in a belief of several clusters
BISECTIONS = 30


class Search:
    """A filter whose number of points follows its belief, between ``least`` and ``most``."""

    def __init__(
        self,
        model: Driven,
        n: tuple[int, int],
        plan: Rule | Plan | None,
        bins: Bins,
        rng: np.random.Generator,
    ) -> None:
        self.model, self.bins = model, bins
        self.n_evaluations, self.log_evidence = 0, 0.0
        self._charted, self._plan, self._rng = Charted(model, SE2()), plan, rng
        self.least, self.most = n
        wide = self._charted.prior()
        self.settled = len(wide) == 1 or not self._apart(wide.means, wide.weights)
        self.resolved, self._looked = self.settled, 0  # observations so far
        self._filter = self._made(self.least if self.settled else self.most, None)

    @property
    def belief(self) -> Belief | None:
        """The belief after the last observation."""
        return self._filter.belief

    @property
    def n(self) -> int:
        """Number of points of the next step."""
        return self._filter.n

    def step(self, control: Any, y: Any) -> Belief:
        """Drive by ``control`` and include an observation; None: nothing was seen."""
        self.model.control = control
        if self.settled or y is None:
            belief = self._filter.step(y)
        elif self.resolved:
            belief = self._part(y, lambda log_l: 1.0)
        else:
            belief = self._in_parts(y)
        self._count(belief)
        self._looked += y is not None
        self._follow(belief)
        return belief

    def _count(self, belief: Belief) -> None:
        self.n_evaluations += belief.n_likelihood_evaluations
        self.log_evidence += belief.log_evidence_increment

    def _in_parts(self, y: Any) -> Belief:
        """Include an observation in parts, with moves between them."""
        left = 1.0
        while True:
            power = 0.0

            def part(log_l: Array, most: float = left) -> float:
                nonlocal power
                power = flattened(log_l, KEPT_SHARE, most)
                power = most if most - power < LEAST_PART else power
                return power

            belief = self._part(y, part)
            left -= power
            if left <= 0.0:
                return belief
            self._count(belief)
            self._follow(belief)
            self.model.control = None

    def _part(self, y: Any, power: Callable[[Array], float]) -> Belief:
        """Make a step with a power of the likelihood."""
        question = self._filter.ask()
        while question is not None:
            log_l = self.model.log_likelihood(question.t, question.states, y)
            question = self._filter.tell(power(log_l) * log_l)
        belief = self._filter.belief
        assert belief is not None
        return belief

    def _follow(self, belief: Belief) -> None:
        """Choose the number of points and the rule of the next step."""
        poses, w = np.asarray(states_of(belief)), belief.w
        size = self.bins.perplexity(poses, w)
        settled = not self._apart(poses, w)
        least = self.least if settled else SEVERAL * self.least
        n = int(min(max(PER_BOX * size, least), self.most)) if not settled else self.least
        self.resolved = settled or n < self.most
        spacing = 0.0 if settled else CALMING**self._looked * (size / n) ** (1 / 3)
        self.model.spread = spacing * self.bins.widths
        if settled != self.settled:
            self.settled = settled
            self._filter = self._made(n, belief)
        self._filter.n = n

    def _made(self, n: int, belief: Belief | None) -> ParticleFilter:
        rule = self._plan if self.settled else QuasiMonteCarlo()
        return ParticleFilter(self._charted, rule, n, rng=self._rng, belief=belief)

    def _apart(self, poses: Array, w: Array) -> bool:
        """Whether a belief has parts far from each other."""
        from_mean = poses[:, :2] - w @ poses[:, :2]
        return bool(w @ (from_mean**2).sum(axis=1) > (APART * self.bins.side) ** 2)


def flattened(log_likelihood: Array, share: float, most: float) -> float:
    """Return the largest power, ``most`` at most, that leaves an effective share of the points.

    >>> flattened(np.array([0.0, -1.0, -2.0]), 0.9, 1.0) < 1.0
    True
    """
    level = log_likelihood - log_likelihood.max()
    with np.errstate(invalid="ignore"):
        level = np.where(np.isneginf(level), -1e300, level)

    def kept(power: float) -> float:
        w = np.exp(power * level)
        return float(w.sum() ** 2 / (w @ w) / len(w))

    if kept(most) >= share:
        return most
    low, high = 0.0, most
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) >= share else (low, middle)
    return low if low > 0.0 else high
