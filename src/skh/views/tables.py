"""A result as a table: one row for each step."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skh._runtime.optional import require
from skh._typing import Array
from skh.files.atomic import as_path, replace_file
from skh.views.attributes import checked_names

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, NDArray[Any]]
DateUnit = Literal["D", "m", "s", "ms", "us"]
DATE_UNITS: tuple[DateUnit, ...] = get_args(DateUnit)  # that dates in a file are trimmed to


def state_names(result: Any, names: Any = None) -> tuple[str, ...]:
    """Return the names of the coordinates: given, of the model, or x0, x1, ..."""
    d = result.means.shape[1]
    if names is not None:
        return checked_names(names, d)
    own = getattr(result, "state_names", None)
    return tuple(own) if own else tuple(f"x{k}" for k in range(d))


def hidden_names(result: Any) -> tuple[str, ...]:
    """Return the names of the hidden part, z0, z1, ..., if there is one."""
    n_z = 0 if result.z_means is None else result.z_means.shape[1]
    return tuple(f"z{k}" for k in range(n_z))


def times_of(result: Any) -> NDArray[Any]:
    """Return the times of the steps: the real ones if they are known, else 0, 1, ..."""
    times = getattr(result, "times", None)
    return np.arange(len(result.means)) if times is None else np.asarray(times)


def deviations_of(covariances: Array) -> Array:
    """Standard deviations (T, d) of covariances (T, d, d); rounding may leave less than zero."""
    return np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))


def n_looks(result: Any) -> NDArray[np.intp]:
    """Number of looks of each step; one for a plain rule, zero without an observation."""
    if getattr(result, "n_looks", None) is not None:
        return np.asarray(result.n_looks, dtype=np.intp)
    looks = result.looks or ((),) * len(result.means)
    observed = result.n_likelihood_evaluations > 0
    return np.asarray(np.maximum([len(step) for step in looks], observed), dtype=np.intp)


def look_reasons(result: Any) -> NDArray[Any]:
    """Why each step looked as it did; empty for a plain rule and without an observation."""
    looks = result.looks or ((),) * len(result.means)
    return np.array([step[-1].reason if step else "" for step in looks], dtype=object)


def columns(result: Any, names: Any = None) -> Columns:
    """Return the columns of the table of a result, by name."""
    found: Columns = {"step": np.arange(len(result.means))}
    if getattr(result, "times", None) is not None:
        found["time"] = times_of(result)
    deviations = deviations_of(result.covariances)
    for k, name in enumerate(state_names(result, names)):
        found[f"{name}_mean"], found[f"{name}_sd"] = result.means[:, k], deviations[:, k]
        for j, level in enumerate(getattr(result, "quantile_levels", ())):
            found[f"{name}_q{level:g}"] = result.quantiles[:, j, k]
    if result.z_means is not None:
        deviations = deviations_of(result.z_covariances)
        for k in range(deviations.shape[1]):
            found[f"z{k}_mean"], found[f"z{k}_sd"] = result.z_means[:, k], deviations[:, k]
    found.update(state_columns("state", result.mean_states))
    found.update(
        log_evidence_increment=result.log_evidence_increments,
        ess=result.ess,
        mmd=result.mmd,
        n_particles=result.n_particles,
        n_likelihood_evaluations=result.n_likelihood_evaluations,
        n_looks=n_looks(result),
        look=look_reasons(result),
    )
    if getattr(result, "skipped", None) is not None:
        found["skipped"] = np.asarray(result.skipped)
    found.update(state_columns("seconds", getattr(result, "seconds", None)))
    return found


def state_columns(name: str, states: Any) -> Columns:
    """Return mean states (arrays, poses, tuples or dicts of arrays) as columns of numbers.

    >>> list(state_columns("state", (np.zeros((5, 2)), np.zeros(5))))
    ['state_0_0', 'state_0_1', 'state_1']
    """
    found: Columns = {}
    for part, array in state_parts(name, states).items():
        for index in np.ndindex(array.shape[1:]):
            label = "_".join([part, *map(str, index)])
            found[label] = array[(slice(None), *index)]
    return found


def state_parts(name: str, states: Any) -> Columns:
    """Return the arrays (T, ...) of mean states by name; none if there are no such states."""
    if states is None:
        return {}
    if isinstance(states, tuple):
        labels = getattr(states, "_fields", map(str, range(len(states))))
        states = dict(zip(labels, states, strict=True))
    if not isinstance(states, dict):
        return {name: np.asarray(states)}
    found: Columns = {}
    for part, value in states.items():
        found.update(state_parts(f"{name}_{part}", value))
    return found


def to_dataframe(result: Any, names: Any = None) -> pd.DataFrame:
    """Return the table as a pandas `DataFrame`, with the attributes of the run in ``attrs``."""
    pandas = require("pandas", "io", "result.to_dataframe()")
    frame: pd.DataFrame = pandas.DataFrame(columns(result, names)).set_index("step")
    frame.attrs.update(getattr(result, "attributes", {}))
    return frame


def to_csv(result: Any, path: str | Path, names: Any = None) -> None:
    """Write the table to a file of comma-separated values; NaN is an empty field."""
    table, text = columns(result, names), StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*map(_fields, table.values()), strict=True))
    content = text.getvalue().encode()
    replace_file(as_path("path", path), lambda file: file.write(content))


def _fields(column: NDArray[Any]) -> Iterable[Any]:
    """Return what a file holds for a column."""
    return written_dates(column) if column.dtype.kind == "M" else map(_field, column)


def written_dates(dates: NDArray[Any]) -> NDArray[np.str_]:
    """Return dates as texts, all with as many digits as one of them needs.

    >>> written_dates(np.array(["1997-01-03", "1997-01-06"], dtype="datetime64[ns]")).tolist()
    ['1997-01-03', '1997-01-06']
    """
    needed = (unit for unit in DATE_UNITS if (dates.astype(f"M8[{unit}]") == dates).all())
    return np.datetime_as_string(dates, next(needed, None))


def _field(value: Any) -> Any:
    """Return what a file holds for a value: numbers with all their digits."""
    if isinstance(value, np.generic):
        value = str(value) if value.dtype.kind == "m" else value.item()
    return "" if isinstance(value, float) and value != value else value


def to_parquet(result: Any, path: str | Path, names: Any = None) -> None:
    """Write the table to a Parquet file, with the attributes of the run."""
    require("pyarrow", "io", "result.to_parquet()")
    to_dataframe(result, names).to_parquet(Path(path), engine="pyarrow")
