r"""Models on manifolds as models in R^d.

Write the model in terms of states (poses, say) and choose a `Chart`:

>>> import numpy as np
>>> import skh
>>> from skh.geometry import SE2, Charted, wrap
>>> class Robot:  # drives 1 m per step, turns at random; measures the bearing of a beacon at 0
...     def prior(self):
...         return np.array([5.0, 0.0, 3.0]), 0.01 * np.eye(3)
...     def transition(self, t, s):
...         forward = np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), np.zeros(len(s))], axis=1)
...         return s + forward, np.diag([0.01, 0.01, 0.1])
...     def log_likelihood(self, t, s, y):
...         bearing = np.arctan2(-s[:, 1], -s[:, 0]) - s[:, 2]
...         return -0.5 * wrap(y - bearing) ** 2 / 0.01
>>> model = Charted(Robot(), SE2())
>>> result = skh.particle_filter(model, [0.1, 0.2, -0.1], skh.Stratified(), 50, rng=0)
>>> result.mean_states.shape
(3, 3)

The reference of the chart at t + 1 is the mean of the particles at t.  ``belief.x`` are coordinates
in it; `states_of` returns the states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.carried_records import Ancestors, displaceable
from skh.filtering.clock import model_over, wants_dt
from skh.filtering.model_protocols import (
    Carry,
    Transition,
    WithoutCarry,
    as_carrying,
    can_displace,
    reseeding,
)
from skh.filtering.restart import with_prior
from skh.gaussians.linear_algebra import symmetric, transpose
from skh.gaussians.mixture import GaussianMixture
from skh.geometry import charted_information
from skh.geometry.charted_records import ChartedCarry, carry_of
from skh.geometry.charts import Chart
from skh.geometry.stack import (
    State,
    mapped,
    read_only,
    refuse_what_is_for_vectors,
    rows_of,
    state_and_spread,
    tiled,
)


class Charted:
    """A model on a manifold, filtered in charts at the means of its particles.

    Parameters
    ----------
    model : object with prior, transition, log_likelihood
        A `Model` or `CarryingModel` of (read-only) states: rows for `SE2` and `Angles`, a stacked
        `Pose` for `SE3`.  ``joint_transition`` is not supported.

        - ``prior()`` returns one state and the covariance of the increments around it; or, if
          states are rows, a `GaussianMixture` of possible starts.
        - ``transition(t, states)`` returns the most probable next states and the covariances of
          the increments around them, (), (n,), (d, d) or (n, d, d); or, if states are rows, a
          `GaussianMixture` with equally many components for each state.
          Positions move along the world's axes: rotate noise given in a body's with each state.
        - ``log_likelihood(t, states, y)`` returns (n,) numbers.
        - ``observation_metric(t, states)``, if there is one, returns the information about the
          increments, (d, d) or (n, d, d); so does ``information(t, states, y)``, given y.
          ``residuals(t, states, y)`` returns (n, m) numbers (see `skh.filtering.residual_form`).
        - The methods of a `skh.CarryingModel`, ``initial_carry(states)`` and
          ``move(t, states, carry, next_states)``, take states as well.
    chart : Chart
        `SE3()`, `SE2()`, `Angles(d, angles=[...])`, or your own.

    Notes
    -----
    ``belief.x``, ``result.means`` and ``pf.predict()`` are coordinates in the chart of their step:
    for `SE3` relative to its reference; for `SE2` and `Angles`, angles may exceed pi.  For states
    use ``result.mean_states``, `mean_state`, `states_of`, `paths_of`, and `reference_of`.

    Examples
    --------
    A robot in the plane turns at random and measures the distance ahead to a wall at x = 9:

    >>> import numpy as np
    >>> import skh
    >>> def drive(t, s):  # half a metre straight ahead
    ...     return s + 0.5 * np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), 0 * s[:, 2]], axis=1), 0.01
    >>> def log_likelihood(t, s, y):  # one particle: (x, y, heading)
    ...     return -0.5 * ((9.0 - s[0]) / np.cos(s[2]) - y) ** 2 / 0.1
    >>> robot = skh.model_from_functions(
    ...     prior=([0.0, 0.0, 0.0], 0.01),
    ...     transition=drive,
    ...     log_likelihood=log_likelihood,
    ...     batched=False,
    ... )
    >>> model = skh.geometry.Charted(robot, skh.geometry.SE2())
    >>> result = skh.particle_filter(model, [9.1, 8.4, None, 7.6], n=50, rng=0)
    >>> result.mean_states.shape
    (4, 3)
    """

    def __init__(self, model: Any, chart: Chart) -> None:
        if not callable(getattr(chart, "coordinates", None)) or isinstance(chart, type):
            raise TypeError(f"chart must be a chart such as skh.geometry.SE3(), got {chart!r}")
        refuse_what_is_for_vectors(model)
        self.model = model
        self.chart = chart
        self._model: Any = as_carrying(model)
        self._unseeded: Charted | None = None  # of a copy with other random numbers

    def with_prior(self, prior: Any) -> Charted:
        """The model with another prior, as ``model.prior()`` might return it."""
        return Charted(with_prior(self.model, prior), self.chart)

    def prior(self) -> GaussianMixture:
        """The distribution of x_0 in the chart at its centre."""
        return self._start()[1]

    def _start(self) -> tuple[State, GaussianMixture]:
        """Return the reference of the first chart and the distribution of x_0 in it."""
        given, where = self._model.prior(), "that model.prior returns"
        if isinstance(given, GaussianMixture):
            means = self._checked(f"the means {where}", given.means, len(given))
            reference = self._first_reference(means, given.weights)
            x = self.chart.coordinates(reference, means)
            S = self._in_chart(f"the covariances {where}", x, given.covariances)
            return reference, GaussianMixture(given.weights, x, S)
        expected = "(state, covariance) or, where states are rows, a GaussianMixture"
        centre, covariance = state_and_spread("model.prior", given, expected)
        centre = self._checked(f"the state {where}", centre)
        x = np.atleast_2d(self.chart.coordinates(centre, centre))
        try:
            return centre, GaussianMixture([1.0], x, covariance)
        except (TypeError, ValueError) as error:
            raise ValueError(f"model.prior must return {expected}: {error}") from error

    @property
    def first_reference(self) -> State:
        """The reference of the first chart."""
        return self._start()[0]

    def _first_reference(self, means: State, weights: Array) -> State:
        """Return the reference of the first chart, of draws of the prior that stay the same."""
        if self._unseeded is None:
            return self.chart.mean(means, weights)
        return self._unseeded._start()[0]

    def initial_carry(self, x: Array) -> ChartedCarry:
        """The states and records of the first particles."""
        states = self.chart.states(self._start()[0], x)
        return self._carry(states, self._model.initial_carry(read_only(states)))

    def transition(self, t: int, x: Array, carry: ChartedCarry) -> Transition:
        """Means and covariances of x_{t+1} in the next chart, or their mixture."""
        given = self._model.transition(t, read_only(carry.states), carry.inner)
        where, n, reference = f"model.transition at t={t}", len(x), carry.reference
        is_mixture = isinstance(given, GaussianMixture)
        if is_mixture:  # of equally many components for each particle
            n = len(given)
            reference = mapped(
                lambda part: np.broadcast_to(part[0], (n, *part.shape[1:])), reference
            )
        pair = (given.means, given.covariances) if is_mixture else given
        states, S = state_and_spread(where, pair, "(states, covariances) or a GaussianMixture")
        states = self._checked(f"the states that {where} returns", states, n)
        means = self.chart.coordinates(reference, states)
        S = self._in_chart(f"the covariances that {where} returns", means, S)
        return GaussianMixture(given.weights, means, S) if is_mixture else (means, S)

    def _checked(self, name: str, states: State, *rows: int) -> State:
        """Validate states of the model, if the chart has a method ``checked``."""
        checked = getattr(self.chart, "checked", None)
        return checked(name, states, *rows) if checked else states

    def _in_chart(self, name: str, means: Array, covariances: ArrayLike) -> Array:
        """Return the covariances D S D' of coordinates from those of increments."""
        n, d, S = *means.shape, _checks.floats(name, covariances)
        if S.shape not in ((), (n,), (d, d), (n, d, d)):
            raise ValueError(
                f"{name} must have shape (), ({n},), ({d}, {d}) or ({n}, {d}, {d}), got {S.shape}"
            )
        if S.ndim < 2:
            S = np.multiply.outer(S, np.eye(d))
        shorter = getattr(self.chart, "covariances", None)
        if shorter:
            return np.asarray(shorter(means, S))
        D = self.chart.jacobian(means)
        return symmetric(D @ S @ transpose(D))

    def move(self, t: int, x: Array, carry: ChartedCarry, x_next: Array) -> ChartedCarry:
        """The chosen states and their updated records."""
        states = self.chart.states(carry.reference, x_next)
        inner = self._model.move(t, carry.states, carry.inner, read_only(states))
        return self._carry(states, inner)

    def displaced(self, carry: ChartedCarry, ancestors: Ancestors) -> ChartedCarry:
        """The states and records of displaced particles."""
        reference = ancestors.rows(carry.reference)
        x = ancestors.moved(self.chart.coordinates(carry.reference, carry.states))
        inner = carry.inner
        if inner is not None:
            inner = displaceable(self._model).displaced(inner, ancestors)
        return ChartedCarry(self.chart.states(reference, x), reference, inner)

    @property
    def displaceable(self) -> bool:
        """Whether the model's records can be displaced."""
        return can_displace(self._model)

    def blurred(self, carry: ChartedCarry, others: Sequence[ChartedCarry]) -> ChartedCarry:
        """The records of particles with uncertain displacements."""
        if carry.inner is None:
            return carry
        inner = self._model.blurred(carry.inner, [other.inner for other in others])
        return carry._replace(inner=inner)

    def log_likelihood(
        self, t: int, x: Array, y: Any, carry: ChartedCarry
    ) -> tuple[Array, ChartedCarry]:
        """The model's log-likelihoods at the states, and the records after ``y``."""
        log_l, inner = self._model.log_likelihood(t, read_only(carry.states), y, carry.inner)
        return log_l, carry._replace(inner=inner)

    @property
    def information_at(self) -> Callable[[int, Array, ChartedCarry | None], Array] | None:
        """The model's ``observation_metric`` in coordinates x of the next chart, or None."""
        return charted_information.metric_in_chart(self, self._start)

    @property
    def information(self) -> Callable[[int, Array, Any, ChartedCarry | None], Array] | None:
        """The model's ``information`` of y in coordinates x of the next chart, or None."""
        return charted_information.information_in_chart(self, self._start)

    @property
    def residuals(self) -> Callable[[int, Array, Any, ChartedCarry | None], Array] | None:
        """The model's ``residuals`` at coordinates x of the next chart, or None."""
        return charted_information.residuals_in_chart(self, self._start)

    @property
    def is_timed(self) -> bool:
        """Whether the model's transition takes dt; see `skh.filtering.clock`."""
        return wants_dt(self._model)

    def over(self, dt: float) -> Charted:
        """The model of a step of length ``dt``."""
        return self._with(model_over(self._model, dt))

    @property
    def seeded(self) -> Callable[[int], Charted] | None:
        """Return the model with other random numbers, if the model inside draws at random."""
        reseed = reseeding(self._model)
        return reseed and (lambda seed: self._with(as_carrying(reseed(seed)), self))

    def _with(self, model: Any, unseeded: Charted | None = None) -> Charted:
        """Return a copy with another model inside."""
        charted = copy(self)
        charted._model, charted._unseeded = model, unseeded
        return charted

    def states_of(self, carry: ChartedCarry) -> State:
        """The states of particles with these records."""
        return read_only(carry.states)

    def joined(self, carry: ChartedCarry) -> ChartedCarry:
        """The records of all particles of a step, with one reference for their next chart."""
        joined = getattr(self._model, "joined", None)
        return self._carry(carry.states, joined(carry.inner) if joined else carry.inner)

    @property
    def updates_records(self) -> bool:
        """Whether an observation changes records: not if the model is plain."""
        return not isinstance(self._model, WithoutCarry)

    @property
    def hidden_moments(self) -> Callable[[ChartedCarry], tuple[Array, Array]] | None:
        """The model's ``hidden_moments``, or None."""
        moments = getattr(self._model, "hidden_moments", None)
        return moments and (lambda carry: moments(carry.inner))

    def mean_state(self, belief: Belief) -> State:
        """Weighted mean of the particles' states."""
        return self.chart.mean(carry_of(belief).states, belief.w)

    def _carry(self, states: State, inner: Carry) -> ChartedCarry:
        return ChartedCarry(states, tiled(self.chart.mean(states), rows_of(states)), inner)
