"""Parameters of a model: a vector, or numbers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array

Theta = Any  # a sequence of numbers, or a mapping of names to numbers


@dataclass(frozen=True, eq=False)
class Parameters:
    """The arguments of a function that makes a model.

    A vector is passed as it is, ``make_model(theta)``; numbers by name are keyword arguments,
    ``make_model(**theta)``.

    >>> import skh
    >>> p = Parameters.of(skh.models.stochastic_volatility, {"persistence": 0.9, "noise": 0.2})
    >>> p.names, p.with_values([0.95, 0.3]).model()
    (('persistence', 'noise'), StochasticVolatility(persistence=0.95, noise=0.3, scale=0.6))
    """

    make_model: Callable[..., Any]
    names: tuple[str, ...]
    values: Array  # (p,)
    named: bool

    @classmethod
    def of(cls, make_model: Callable[..., Any], theta: Theta) -> Parameters:
        """Validate parameters and the function that takes them."""
        if not callable(make_model):
            raise TypeError(f"make_model must be a function of the parameters, got {make_model!r}")
        named = isinstance(theta, Mapping)
        if named and not all(isinstance(name, str) for name in theta):
            raise TypeError(f"the names in theta must be texts, got {list(theta)!r}")
        values = np.atleast_1d(
            _checks.real_array("theta", list(theta.values()) if named else theta)
        )
        if values.ndim != 1 or len(values) == 0:
            raise ValueError(
                f"theta must be a vector, or a mapping of names to numbers, got {theta!r}"
            )
        names = tuple(theta) if named else tuple(f"theta[{k}]" for k in range(len(values)))
        return cls(make_model, names, values.copy(), named)

    def with_values(self, values: Any) -> Parameters:
        """Return other values of the same parameters."""
        return replace(self, values=_checks.copied("theta", values, len(self.names)))

    def model(self) -> Any:
        """Make the model."""
        return (
            self.make_model(**self.labelled(self.values))
            if self.named
            else (self.make_model(self.values.copy()))
        )

    def labelled(self, vector: Array) -> Any:
        """Return a vector in the form that the parameters were given in."""
        if not self.named:
            return np.array(vector)
        return dict(zip(self.names, np.asarray(vector).tolist(), strict=True))

    def moved(self, by: Array) -> Any:
        """Make the model of parameters moved by the vector ``by``; errors name them."""
        there = self.with_values(self.values + by)
        try:
            return there.model()
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ValueError(
                f"differences need the model near theta, and make_model failed at "
                f"{there.labelled(there.values)}: {error}; choose a smaller step, or a theta "
                "farther from the border"
            ) from error
