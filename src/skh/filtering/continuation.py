"""Going on from the belief of another filter."""

from __future__ import annotations

from typing import Any

from skh.filtering.belief import Belief
from skh.filtering.model_checks import check_carry
from skh.filtering.model_protocols import Carry, CarryingModel
from skh.views.text import described


def check_continuation(belief: Any, model: CarryingModel, d: int, t: int | None) -> Belief:
    """Validate a belief that a filter of ``model``, of dimension ``d``, shall go on from."""
    if not isinstance(belief, Belief):
        raise TypeError(f"belief must be a Belief, such as pf.belief, got {belief!r}")
    if t is not None:
        raise ValueError(
            f"t and belief exclude each other: the step after this belief is t={belief.t + 1}, "
            f"got t={t}"
        )
    if belief.x.shape[1] != d:
        raise ValueError(
            f"belief must have dimension {d}, as the model has, got {belief.x.shape[1]}"
        )
    needed = model.initial_carry(belief.x[:1])
    if not _same_form(needed, belief.carry):
        raise ValueError(
            "belief must have the records that the model carries, a "
            f"{type(needed).__name__}, got {_described(needed, belief.carry)}"
        )
    check_carry(belief.carry, belief.n_particles, "belief.carry", verb="be")
    return belief


def _described(needed: Carry, got: Carry) -> str:
    """Say what records are; those of a file have classes of the same names without the model."""
    name = type(got).__name__
    if type(got) is type(needed) or name != type(needed).__name__:
        return f"carry={described(got)}"
    return f"a lookalike of {name} from a file: read it with skh.load_result(path, model)"


def _same_form(a: Carry, b: Carry) -> bool:
    """Whether two carries have the same parts."""
    if isinstance(a, tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(_same_form, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same_form(a[key], b[key]) for key in a)
    apart = (tuple, dict, type(None))
    return (a is None and b is None) or not (isinstance(a, apart) or isinstance(b, apart))
