"""A model on a manifold as a model in R^d: what a particle filter of this library can run.

Write the model in terms of states (poses, say) and of a `Chart`; `Charted` does the rest::

    class Robot:  # drives 1 m per step, turns at random; measures the bearing of a beacon at 0
        def prior(self): return np.array([5.0, 0.0, 3.0]), 0.01 * np.eye(3)
        def transition(self, t, s):
            forward = np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), np.zeros(len(s))], axis=1)
            return s + forward, np.diag([0.01, 0.01, 0.1])
        def log_likelihood(self, t, s, y):
            bearing = np.arctan2(-s[:, 1], -s[:, 0]) - s[:, 2]
            return -0.5 * wrap(y - bearing) ** 2 / 0.01

    model = Charted(Robot(), SE2())
    result = skh.particle_filter(model, ys, rule, 50)

``prior`` gives one state and the covariance of the increments around it; ``transition`` the most
probable next state of each row, and the covariance of the increments around it, in any form that
`GaussianMixture` takes a full matrix in.  A model whose particles carry a record (see `skh.model`)
has ``initial_carry(states)``, ``move(t, states, carry, next_states)`` and a ``log_likelihood`` that
takes and returns the record.

The reference of the chart at t + 1 is the mean of the particles at t.  A belief's ``x`` are
coordinates in it; `states_of` gives the states, of which the chart takes the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skh._checks import Array
from skh.ancestors import Ancestors, displaceable
from skh.belief import Belief, Predicted
from skh.gaussian import symmetric, transposed
from skh.geometry.charts import Chart, State
from skh.mixture import GaussianMixture
from skh.model import Carry, as_carrying


class ChartedCarry(NamedTuple):
    """Each particle's state and record, and in every row the reference of the next chart."""

    states: State
    reference: State
    inner: Carry


class Charted:
    """A model on a manifold, filtered in the charts at the means of its particles."""

    def __init__(self, model: Any, chart: Chart) -> None:
        if not callable(getattr(chart, "coordinates", None)) or isinstance(chart, type):
            raise TypeError(f"chart must be a chart such as skh.geometry.SE3(), got {chart!r}")
        self.model = model
        self.chart = chart
        self._model: Any = as_carrying(model)

    def prior(self) -> GaussianMixture:
        """The distribution of x_0, in the chart at its own centre."""
        centre, covariance = self._model.prior()
        x = np.atleast_2d(self.chart.coordinates(centre, centre))
        return GaussianMixture([1.0], x, covariance)

    def initial_carry(self, x: Array) -> ChartedCarry:
        """The states of the first particles."""
        states = self.chart.states(self._model.prior()[0], x)
        return self._carry(states, self._model.initial_carry(states))

    def transition(self, t: int, x: Array, carry: ChartedCarry) -> tuple[Array, Array]:
        """Means and covariances of x_{t+1} in the next chart: D S D'."""
        states, covariances = self._model.transition(t, carry.states, carry.inner)
        means = self.chart.coordinates(carry.reference, states)
        return means, self._in_chart(means, covariances)

    def _in_chart(self, means: Array, covariances: ArrayLike) -> Array:
        """Covariances of coordinates from those of increments."""
        n, d, S = *means.shape, np.asarray(covariances, dtype=np.float64)
        if S.shape not in ((d, d), (n, d, d)):
            raise ValueError(
                f"the covariances of transition must have shape ({d}, {d}) or ({n}, {d}, {d}), "
                f"got {S.shape}"
            )
        shorter = getattr(self.chart, "covariances", None)
        if shorter:
            return np.asarray(shorter(means, S))
        D = self.chart.jacobian(means)
        return symmetric(D @ S @ transposed(D))

    def move(self, t: int, x: Array, carry: ChartedCarry, x_next: Array) -> ChartedCarry:
        """The chosen states, and what they tell about the records."""
        states = self.chart.states(carry.reference, x_next)
        return self._carry(states, self._model.move(t, carry.states, carry.inner, states))

    def displaced(self, carry: ChartedCarry, ancestors: Ancestors) -> ChartedCarry:
        """The states and records of moved particles."""
        reference = ancestors.rows(carry.reference)
        x = ancestors.moved(self.chart.coordinates(carry.reference, carry.states))
        inner = carry.inner
        if inner is not None:
            inner = displaceable(self._model).displaced(inner, ancestors)
        return ChartedCarry(self.chart.states(reference, x), reference, inner)

    def blurred(self, carry: ChartedCarry, others: Sequence[ChartedCarry]) -> ChartedCarry:
        """As the model."""
        if carry.inner is None:
            return carry
        inner = self._model.blurred(carry.inner, [other.inner for other in others])
        return carry._replace(inner=inner)

    def log_likelihood(
        self, t: int, x: Array, y: Any, carry: ChartedCarry
    ) -> tuple[Array, ChartedCarry]:
        """As the model."""
        log_l, inner = self._model.log_likelihood(t, carry.states, y, carry.inner)
        return log_l, carry._replace(inner=inner)

    @property
    def hidden_moments(self) -> Callable[[ChartedCarry], tuple[Array, Array]] | None:
        """Those of the model, where it has any."""
        moments = getattr(self._model, "hidden_moments", None)
        return moments and (lambda carry: moments(carry.inner))

    def _carry(self, states: State, inner: Carry) -> ChartedCarry:
        n = len(states[0] if isinstance(states, tuple) else states)
        return ChartedCarry(states, _tiled(self.chart.mean(states), n), inner)


def _tiled(state: State, n: int) -> State:
    """A state in n rows that share memory."""
    if isinstance(state, tuple):
        return type(state)(*(_tiled(part, n) for part in state))
    return np.broadcast_to(state, (n, *np.shape(state)))


def states_of(belief: Belief | Predicted) -> State:
    """The states of the particles of a `Charted` model, one per row."""
    carry = belief.carry
    if not isinstance(carry, ChartedCarry):
        raise TypeError(f"belief must come from a Charted model, got one that carries {carry!r}")
    return carry.states
