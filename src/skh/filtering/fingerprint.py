"""Tell whether a saved file belongs to this model.

Functions cannot be compared, so that the fingerprint of a model is what can be: the name of its
class (and of the model inside), its prior, the form of its records, and the parameters of models
that are frozen dataclasses, as far as they are numbers, arrays and texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh.files.container import Contents, SavedFileError
from skh.files.digests import digest
from skh.filtering.model_protocols import Carry, CarryingModel, WithoutCarry, prior_of
from skh.filtering.parallel import ParallelModel
from skh.gaussians.linear_algebra import standard_deviations

PRIOR_TOLERANCE = 1e-6  # in standard deviations: the last digits differ between machines
PARAMETER_DIGITS = 9  # of the largest number of an array
HOW_EVALUATED = {"batched", "executor", "timeout", "retries", "chunk", "chunks"}  # not what it is


def described_model(model: CarryingModel) -> dict[str, Any]:
    """Return the fingerprint of a model."""
    p, inner = prior_of(model), model.model if isinstance(model, WithoutCarry) else model
    return {
        "class": class_name(inner),
        "parameters": parameters(inner),
        "prior_mean": np.asarray(p.mean),
        "prior_covariance": np.asarray(p.covariance),
        "records": form(records_template(model)),
    }


def class_name(model: Any) -> str:
    """Return the name of a model's class, and of the model inside, if any.

    Workers do not count: they compute the likelihoods of the same model.
    """
    inner, name = getattr(model, "model", None), type(model).__qualname__
    if isinstance(model, ParallelModel):
        return class_name(inner)
    return f"{name}({class_name(inner)})" if hasattr(inner, "prior") else name


def parameters(model: Any) -> dict[str, int]:
    """Return digests of the numbers, arrays and texts of a frozen dataclass, by name."""
    inner = getattr(model, "model", None)
    if hasattr(inner, "prior"):
        return parameters(inner)
    options = getattr(model, "__dataclass_params__", None)
    if options is None or not options.frozen:
        return {}
    names = {field.name for field in fields(model) if field.name[0] != "_"} - HOW_EVALUATED
    values = {name: getattr(model, name, None) for name in sorted(names)}
    return {name: digest(_rounded(value)) for name, value in values.items() if _is_data(value)}


def _is_data(value: Any) -> bool:
    """Whether a value is made of numbers and texts alone."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind in "fiubcSUmM")
    return isinstance(value, bool | int | float | str | np.generic)


def _rounded(value: Any) -> Any:
    """Round floating-point numbers: their last digits may differ between machines."""
    array = np.asarray(value)
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        return value
    largest = f"{np.abs(array).max(initial=0.0):.{PARAMETER_DIGITS}e}"
    relative = array / (float(largest) or 1.0)
    return largest, np.round(relative, PARAMETER_DIGITS) + 0.0


def records_template(model: CarryingModel) -> Carry:
    """Return the records of one particle, whose classes a saved file's records shall have."""
    return model.initial_carry(prior_of(model).means[:1])


def form(carry: Carry) -> Any:
    """Return the parts of records in words: the form of a carry."""
    if carry is None:
        return "none"
    if isinstance(carry, Mapping):
        return {str(key): form(value) for key, value in carry.items()}
    if isinstance(carry, tuple):
        names = getattr(carry, "_fields", None)
        parts = [form(part) for part in carry]
        return dict(zip(names, parts, strict=True)) if names else parts
    return f"array {list(np.shape(carry)[1:])}"


def refuse_other_model(saved: Mapping[str, Any], model: CarryingModel, file: Contents) -> None:
    """Raise `SavedFileError` if the model is not the one of the file."""
    given = described_model(model)
    for key, words in (("class", "a model of class {}"), ("records", "records of the form {}")):
        if saved[key] != given[key]:
            raise SavedFileError(
                f"{file.path} belongs to {words.format(saved[key])}, and the model given has "
                f"{given[key]}"
            )
    if part := different_part(saved, given):
        name = part.removeprefix("prior_")
        raise SavedFileError(
            f"{file.path} belongs to another model: its prior has {name} {_short(saved[part])}, "
            f"that of the model given {_short(given[part])}"
        )
    for name in saved["parameters"].keys() & given["parameters"].keys():
        if saved["parameters"][name] != given["parameters"][name]:
            raise SavedFileError(
                f"{file.path} belongs to a model of the same class with another {name}"
            )


def _short(array: NDArray[Any]) -> str:
    """Return an array as one line."""
    return np.array2string(array, threshold=20, separator=", ").replace("\n", "")


def different_part(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """Return which moment of two priors differs, in units of their deviations; "" if none does."""
    means = [a["prior_mean"], b["prior_mean"]]
    if means[0].shape != means[1].shape:
        return "prior_mean"
    covariances: list[NDArray[Any]] = [a["prior_covariance"], b["prior_covariance"]]
    size = np.maximum(*(standard_deviations(S.diagonal(), np.stack(means)) for S in covariances))
    if not (abs(means[0] - means[1]) <= PRIOR_TOLERANCE * size).all():
        return "prior_mean"
    close = abs(covariances[0] - covariances[1]) <= PRIOR_TOLERANCE * np.outer(size, size)
    return "" if close.all() else "prior_covariance"
