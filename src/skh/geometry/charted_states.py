"""States of particles that a filter keeps in the coordinates of charts."""

from __future__ import annotations

from skh._typing import Array
from skh.filtering.belief import Belief, Predicted
from skh.filtering.model_protocols import gather
from skh.filtering.result import FilterResult, stack_fields, trace_ancestors
from skh.geometry.charted_records import carry_of
from skh.geometry.stack import State, mapped, read_only


def states_of(belief: Belief | Predicted) -> State:
    """Return the states of the particles of a `Charted` model, one per row.

    >>> import skh
    >>> flight = skh.models.survey_flight(1, rng=0)
    >>> belief = skh.ParticleFilter(flight.model, n=20, rng=1).step(flight.observations[0])
    >>> poses = skh.geometry.states_of(belief)
    >>> poses.position.shape, poses.rotation.shape
    ((20, 3), (20, 3, 3))
    """
    return read_only(carry_of(belief).states)


def reference_of(belief: Belief | Predicted) -> State:
    """Return the reference state of the next step's chart, that of ``pf.predict()``.

    For ``pf.predict(h)``, call ``step(None)`` h - 1 times on a ``copy.deepcopy`` of the filter.
    For `SE2` and `Angles`, coordinates are states up to whole turns in any chart.

    >>> import skh
    >>> flight = skh.models.survey_flight(1, rng=0)
    >>> pf = skh.ParticleFilter(flight.model, n=20, rng=1)
    >>> belief = pf.step(flight.observations[0])
    >>> x, _ = pf.predict().sample(5, rng=2)
    >>> skh.geometry.SE3().states(skh.geometry.reference_of(belief), x).rotation.shape
    (5, 3, 3)
    """
    return mapped(lambda part: part[0], carry_of(belief).reference)


def paths_of(result: FilterResult) -> tuple[State, Array]:
    """Return the paths of states to the last particles, (n, T, ...), and their weights."""
    if not isinstance(result, FilterResult):
        raise TypeError(f"result must be a FilterResult, got {result!r}")
    path = trace_ancestors(result.history)
    rows = [gather(states_of(belief), line) for belief, line in path]
    return stack_fields(rows, axis=1), path[-1][0].w
