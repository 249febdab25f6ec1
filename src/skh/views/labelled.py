"""A result as labelled arrays, for xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skh._runtime.optional import require
from skh.views.tables import look_reasons, n_looks, state_names, state_parts, times_of

if TYPE_CHECKING:
    import xarray as xr

PER_STEP = ("log_evidence_increments", "ess", "mmd", "n_particles", "n_likelihood_evaluations")


def to_xarray(result: Any, names: Any = None) -> xr.Dataset:
    """Return a `Dataset` with the dimensions time, state, state2 and quantile."""
    xarray = require("xarray", "io", "result.to_xarray()")
    labels = list(state_names(result, names))
    variables = {
        "means": (("time", "state"), result.means),
        "covariances": (("time", "state", "state2"), result.covariances),
        "quantiles": (("time", "quantile", "state"), result.quantiles),
        **{name: ("time", getattr(result, name)) for name in PER_STEP},
        "n_looks": ("time", n_looks(result)),
        "look": ("time", look_reasons(result).astype(str)),
        **_hidden(result),
        **_parts("mean_states", result),
        **_parts("seconds", result),
        **_parts("skipped", result),
    }
    coordinates = {
        "time": times_of(result),
        "step": ("time", np.arange(len(result.means))),
        "state": labels,
        "state2": labels,
        "quantile": np.asarray(getattr(result, "quantile_levels", ())),
    }
    dataset: xr.Dataset = xarray.Dataset(variables, coordinates, dict(result.attributes))
    return dataset


def _hidden(result: Any) -> dict[str, Any]:
    """The moments of the hidden part z, if there is one."""
    if result.z_means is None:
        return {}
    return {
        "z_means": (("time", "z"), result.z_means),
        "joint_covariances": (("time", "joint", "joint2"), result.joint_covariances),
    }


def _parts(field: str, result: Any) -> dict[str, Any]:
    """A field of arrays (T, ...), if the result has it, with dimensions of its own."""
    return {
        name: (("time", *(f"{name}_{k}" for k in range(array.ndim - 1))), array)
        for name, array in state_parts(field, getattr(result, field, None)).items()
    }
