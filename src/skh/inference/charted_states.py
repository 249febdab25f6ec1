"""Mean states of smoothed particles in charts."""

from __future__ import annotations

from typing import Any

from skh.filtering.belief import Belief
from skh.filtering.result import stack_fields
from skh.geometry.charted import Charted
from skh.geometry.charted_states import reference_of
from skh.geometry.stack import State
from skh.inference.smoothing_result import SmoothedStep


def mean_states(
    model: Any,
    beliefs: tuple[Belief, ...],
    steps: tuple[SmoothedStep, ...],
    before: Belief | None = None,
) -> State | None:
    """Mean state of each step, (T, ...), for models in charts, else None."""
    if not isinstance(model, Charted):
        return None
    first = model.first_reference if before is None else reference_of(before)
    references = [first, *(reference_of(belief) for belief in beliefs[:-1])]
    rows = [
        model.chart.mean(model.chart.states(reference, step.x), step.w)
        for reference, step in zip(references, steps, strict=True)
    ]
    return stack_fields(rows)
