"""The result of `skh.fit`: parameters, standard errors, how exact they are and how found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from skh._runtime.progress import Report
from skh._typing import Array
from skh.filtering.model_protocols import CarryingModel, Model
from skh.inference.ascent import Step
from skh.inference.bounds import Bounds
from skh.inference.problem import Problem
from skh.inference.profile import Profile, profile_of

MATTERS = 0.25  # standard errors by which a parameter is off because particles are few


class NumericalError(NamedTuple):
    """What the finite number of particles does to a fit, by a run with twice as many, other seed.

    ``parameters`` are the shifts of the optimum in standard errors; one above a quarter
    ``matters``: more particles would change the conclusions.
    """

    log_evidence: float
    parameters: dict[str, float]

    @property
    def matters(self) -> bool:
        """Whether more particles would change the conclusions."""
        shifts = np.array(list(self.parameters.values()))
        return not bool((np.abs(shifts) <= MATTERS).all())


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters of the largest log-evidence; made by `skh.fit`.

    - ``parameters``, ``standard_errors``: by name; NaN where the evidence has no maximum in them
    - ``covariance`` (p, p): inverse of the observed information, in the order of ``parameters``
    - ``log_evidence``: that of the filter at the optimum
    - ``numerical_error``: how far the log-evidence and the parameters are off (`NumericalError`)
    - ``converged``, ``message``: whether and why the search ended
    - ``trace``: a `Step` for each filter run of the search that found the optimum
    - ``optima``: the parameters where each start ended, with their log-evidence, best first
    - ``smooth``: whether gradients are exact at fixed particles; else they are large differences
    - ``noise``: standard deviation of the log-evidence from seed to seed, where it is too large for
      evidence to be compared (`skh.Scoring`), else 0
    - ``n_filters``, ``n_likelihood_evaluations``: what all starts took
    """

    parameters: dict[str, float]
    standard_errors: dict[str, float]
    covariance: Array
    log_evidence: float
    numerical_error: NumericalError
    converged: bool
    message: str
    trace: tuple[Step, ...]
    optima: tuple[tuple[dict[str, float], float], ...]
    smooth: bool
    noise: float
    n_filters: int
    n_likelihood_evaluations: int
    problem: Problem = field(repr=False)
    bounds: Bounds = field(repr=False)
    executor: Any = field(default=None, repr=False)

    @property
    def model(self) -> Model | CarryingModel:
        """The model with the fitted parameters."""
        return self.problem.model(self.parameters)

    @property
    def aic(self) -> float:
        """Akaike's information criterion: less is better."""
        return 2 * len(self.parameters) - 2 * self.log_evidence

    @property
    def bic(self) -> float:
        """Schwarz's information criterion, with the number of observed steps: less is better."""
        return len(self.parameters) * float(np.log(self.problem.observed)) - 2 * self.log_evidence

    def profile(
        self,
        name: str,
        values: Any = None,
        *,
        points: int = 9,
        width: float = 2.5,
        progress: bool | Report = False,
    ) -> Profile:
        """Maximise over the other parameters while ``name`` has given values.

        By default there are so many ``points`` within ``width`` standard errors of the optimum.
        """
        return profile_of(self, name, values, points, width, progress)

    def __repr__(self) -> str:
        return fit_text(self)


def fit_text(fit: Fit) -> str:
    """Return a table of the parameters and a line on how exact they are."""
    width = max(9, *(len(name) for name in fit.parameters))
    lines = [
        f"Fit: log-evidence {fit.log_evidence:.3f} "
        f"(numerical error {fit.numerical_error.log_evidence:.2g}), {fit.message}",
        f"{'parameter':<{width}}  {'estimate':>12}  {'std. error':>10}  numerical shift",
    ]
    for name, value in fit.parameters.items():
        lines.append(
            f"{name:<{width}}  {value:>12.6g}  {fit.standard_errors[name]:>10.3g}  "
            f"{fit.numerical_error.parameters[name]:+.2f} std. errors"
        )
    flat = [name for name, error in fit.standard_errors.items() if np.isnan(error)]
    if flat:
        lines.append(f"the evidence has no maximum in {', '.join(flat)}: fix one, or use more data")
    elif fit.numerical_error.matters:
        lines.append("the numerical error matters: use more particles")
    if fit.noise > 0:
        lines.append(f"the log-evidence varies by {fit.noise:.2g} from seed to seed")
    lines.append(
        f"{fit.n_filters} filter runs, {fit.n_likelihood_evaluations:,} likelihood evaluations"
    )
    return "\n".join(lines)


def by_name(names: tuple[str, ...], values: Array) -> dict[str, float]:
    """Return numbers by the names of their parameters."""
    return dict(zip(names, values.tolist(), strict=True))
