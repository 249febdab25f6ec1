"""Save results, and load them without pickle; `skh.files.container` describes the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from typing import Any

import numpy as np

from skh.files.container import Contents, SavedFileError, read_file, write_file
from skh.files.trees import Encoder, with_classes_of
from skh.filtering.belief import Belief
from skh.filtering.fingerprint import records_template
from skh.filtering.model_protocols import CarryingModel, Model, as_carrying, prior_of
from skh.filtering.result import FilterResult
from skh.filtering.saving import (
    as_belief,
    belief_fields,
    content,
    look_columns,
    looks_of,
    with_own_classes,
)


def save_result(result: FilterResult, path: str | PathLike[str]) -> None:
    """Write a result to a file."""
    encoder = Encoder()
    write_file(path, "result", encoder.encode(result_fields(result)), encoder.arrays())


def load_result(
    path: str | PathLike[str], model: Model | CarryingModel | None = None
) -> FilterResult:
    """Read a result that `FilterResult.save` wrote.

    Records of a history and mean states may be named tuples of the model's own classes: with
    ``model`` they are again, without it they are named tuples with the same fields.  Raises
    `skh.SavedFileError` if the states of ``model`` have another dimension.

    >>> import skh
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> result = skh.particle_filter(skh.models.lgss3(), [0.1, 0.2], skh.Stratified(), 20, rng=0)
    >>> with TemporaryDirectory() as folder:
    ...     result.save(Path(folder) / "run.npz")
    ...     again = skh.load_result(Path(folder) / "run.npz")
    >>> bool((again.means == result.means).all())
    True
    """
    known = None if model is None else as_carrying(model)
    file = read_file(path, "result")
    values = content(file, "means", "looks", "history")
    refuse_other_dimension(values["means"], known, file)
    values["looks"] = looks_of(values["looks"])
    values["history"] = history_of(values["history"], known, file)
    values = with_model_states(values, known, file)
    names = {field.name for field in fields(FilterResult)}
    return FilterResult(**{name: value for name, value in values.items() if name in names})


def refuse_other_dimension(means: Any, model: CarryingModel | None, file: Contents) -> None:
    """Raise `SavedFileError` if the states of a result have another dimension than the model's."""
    if model is None:
        return
    d, saved = prior_of(model).d, np.shape(means)[1]
    if d != saved:
        raise SavedFileError(
            f"{file.path} has states in {saved} dimensions, and the model given has {d}"
        )


def result_fields(result: FilterResult) -> dict[str, Any]:
    """Return the fields of a result as a tree."""
    values = {field.name: getattr(result, field.name) for field in fields(FilterResult)}
    values["looks"] = look_columns(result.looks)
    if result.history is not None:
        values["history"] = [belief_fields(belief) for belief in result.history]
    return values


def history_of(
    saved: list[Mapping[str, Any]] | None, model: CarryingModel | None, file: Contents
) -> tuple[Belief, ...] | None:
    """Return the beliefs of a history."""
    if saved is None:
        return None
    records = None if model is None else records_template(model)
    return tuple(as_belief(values, records, file) for values in saved)


def with_model_states(
    values: Mapping[str, Any], model: CarryingModel | None, file: Contents
) -> dict[str, Any]:
    """Give named tuples among the fields of a result the classes that they had."""
    values = with_own_classes(FilterResult, values)
    mean_state = getattr(model, "mean_state", None)
    if values.get("mean_states") is None or mean_state is None:
        return values
    try:
        states = with_classes_of(mean_state(_at_prior(model)), values["mean_states"])
    except TypeError as error:
        raise SavedFileError(f"{file.path} has states of another model: {error}") from error
    return {**values, "mean_states": states}


def _at_prior(model: Any) -> Belief:
    """Return the belief of one particle at the mean of a component of the prior."""
    x = np.asarray(prior_of(model).means[:1])
    index = np.zeros(1, dtype=np.intp)
    return Belief(0, x, np.ones(1), index, 0.0, np.nan, 0, carry=model.initial_carry(x))
