"""The gradient of the expected log-density by derivatives that the user gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.observations import is_missing
from skh.inference.expected_density import TERMS, ExpectedDensity
from skh.inference.information import moved_models
from skh.inference.parameters import Parameters


def given_gradient(
    density: ExpectedDensity, parameters: Parameters, h: Array, derivatives: Any
) -> Array:
    """Return the derivatives (p,); what ``derivatives`` has not is by central differences."""
    given = {name: getattr(derivatives, name, None) for name in TERMS}
    if not any(callable(f) for f in given.values()):
        raise TypeError(f"derivatives must have some of {', '.join(TERMS)}, got {derivatives!r}")
    theta, p = parameters.labelled(parameters.values), len(h)
    missing = [name for name in TERMS if not callable(given[name])]
    Q = density.at(moved_models(parameters, h), parts=missing)
    gradient = np.asarray((Q[1::2] - Q[2::2]) / (2 * h))

    def added(name: str, w: Array, *at: Any) -> Array:
        rows = _checks.shaped(f"derivatives.{name}", given[name](theta, *at), len(w), p)  # type: ignore[misc]
        return np.asarray(w @ rows)

    if given["log_prior"]:
        x, w = density.marginal(0)
        gradient += added("log_prior", w, x)
    for t, y in enumerate(density.ys):
        now = density.chain.beliefs[t].t
        if given["log_transition"] and t > 0:
            pairs = density.pairs(t - 1)
            if pairs.several:
                raise ValueError(
                    "derivatives.log_transition needs transitions of one Gaussian each"
                )
            gradient += added("log_transition", pairs.w, now - 1, pairs.x, pairs.x_next)
        if given["log_likelihood"] and not is_missing(y):
            x, w = density.marginal(t)
            gradient += added("log_likelihood", w, now, x, y)
    return gradient
