"""A model with parameters and its data, and the filter that estimates the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.model_checks import ZeroLikelihoodError
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.observations import as_series, is_missing
from skh.filtering.plans import Plan, plan_of
from skh.filtering.result import FilterResult
from skh.filtering.series import particle_filter
from skh.rules.base import Rule

MakeModel = Callable[..., Model | CarryingModel]


@dataclass(frozen=True, eq=False)
class Problem:
    """``make_model(**parameters)`` is filtered over ``ys`` by ``n`` particles of a rule.

    All runs have the same ``seed``: with common random numbers the evidence of two neighbouring
    parameters differs by what the parameters do, and little else.
    """

    make_model: MakeModel
    ys: Sequence[Any]
    rule: Rule | Plan | None
    n: int
    seed: int

    @classmethod
    def of(cls, make_model: Any, ys: Any, rule: Any, n: Any, rng: Any) -> Problem:
        """Validate the arguments that `fit` and `sample_posterior` share."""
        if not callable(make_model):
            raise TypeError(
                "make_model must be a function of the parameters that returns a model, "
                f"got {make_model!r}"
            )
        if rule is not None:
            plan_of(rule)
        n = _checks.positive_int("n", n)
        seed = int(_checks.generator(rng).integers(2**63))
        return cls(make_model, as_series(ys), rule, n, seed)

    def model(self, values: Mapping[str, float]) -> Model | CarryingModel:
        """Make the model; an error says at which parameters."""
        try:
            return self.make_model(**values)
        except Exception as error:
            error.add_note(f"raised by make_model({described(values)}); bounds can exclude it")
            raise

    def run(self, values: Mapping[str, float], *, history: bool = False) -> FilterResult | None:
        """Filter the series; None if the likelihood is zero at all particles of a step."""
        model = self.model(values)
        try:
            return particle_filter(
                model, self.ys, self.rule, self.n, rng=self.seed, history=history
            )
        except ZeroLikelihoodError:
            return None
        except Exception as error:
            error.add_note(f"raised with the parameters {described(values)}")
            raise

    def increments(self, values: Mapping[str, float]) -> Array:
        """Return the increments of the log-evidence, (T,); -inf where it is zero."""
        result = self.run(values)
        return np.full(len(self.ys), -np.inf) if result is None else result.log_evidence_increments

    def log_evidence(self, values: Mapping[str, float]) -> float:
        """Return the log-evidence, -inf where it is zero."""
        return float(self.increments(values).sum())

    def other(self, **changes: Any) -> Problem:
        """Return the problem with another seed, number of particles or rule."""
        return replace(self, **changes)

    @property
    def observed(self) -> int:
        """Number of steps with an observation."""
        return sum(not is_missing(y) for y in self.ys)


def described(values: Mapping[str, float]) -> str:
    """Return parameters as they are written in a call."""
    return ", ".join(f"{name}={value:.6g}" for name, value in values.items())


def zero_evidence(values: Mapping[str, float]) -> ValueError:
    """Return the error for a start at which no particle is likely."""
    return ValueError(
        "start must have a positive evidence, got a likelihood of zero at all particles "
        f"with {described(values)}"
    )
