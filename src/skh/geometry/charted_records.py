"""What the particles of a charted model carry."""

from __future__ import annotations

from typing import NamedTuple

from skh.filtering.belief import Belief, Predicted
from skh.filtering.model_protocols import Carry
from skh.geometry.stack import State


class ChartedCarry(NamedTuple):
    """Each particle's state and record, and the reference of the next chart in every row."""

    states: State
    reference: State
    inner: Carry


def carry_of(belief: Belief | Predicted) -> ChartedCarry:
    """Return the records of a belief of a `Charted` model."""
    carry = getattr(belief, "carry", None)
    if not isinstance(carry, ChartedCarry):
        raise TypeError(f"belief must come from a Charted model, got {belief!r}")
    return carry
