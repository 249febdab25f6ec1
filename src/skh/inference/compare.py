"""Models compared by their log-evidence, with the numerical error of the comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh import _checks
from skh._runtime.progress import Report, progress_bar
from skh._typing import RNG, Array
from skh.filtering.observations import as_series
from skh.filtering.plans import Plan
from skh.filtering.series import particle_filter
from skh.inference.fit_result import Fit
from skh.rules.base import Rule


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Log-evidence of models on the same observations; made by `skh.compare_models`.

    - ``names``, best first; ``log_evidence`` (models,)
    - ``numerical_error`` (models,): how far each log-evidence is off because particles are few
    - ``probabilities`` (models,): of the models, if all were equally probable before
    - ``n_parameters``, ``bic`` (models,): of models that were fitted, else zero and -2 log-evidence
    """

    names: tuple[str, ...]
    log_evidence: Array
    numerical_error: Array
    n_parameters: Array
    bic: Array

    @property
    def differences(self) -> Array:
        """Log-evidence less that of the best."""
        return np.asarray(self.log_evidence - self.log_evidence[0])

    @property
    def probabilities(self) -> Array:
        """Posterior probabilities with equal priors; by BIC if parameters were fitted."""
        score = -0.5 * self.bic
        weights = np.exp(score - score.max())
        return np.asarray(weights / weights.sum())

    @property
    def decided(self) -> bool:
        """Whether the best leads the second by more than twice the error of their difference."""
        if len(self.names) == 1:
            return True
        error = float(np.hypot(*self.numerical_error[:2]))
        return bool(0.5 * (self.bic[1] - self.bic[0]) > 2 * error)

    def __repr__(self) -> str:
        width = max(5, *(len(name) for name in self.names))
        head = (
            f"{'model':<{width}}  {'log-evidence':>12}  {'num. error':>10}  parameters  "
            f"{'BIC':>10}  probability"
        )
        columns = zip(
            self.names,
            self.log_evidence,
            self.numerical_error,
            self.n_parameters,
            self.bic,
            self.probabilities,
            strict=True,
        )
        rows = [
            f"{name:<{width}}  {f:>12.3f}  {e:>10.2g}  {k:>10d}  {bic:>10.2f}  {p:>11.3g}"
            for name, f, e, k, bic, p in columns
        ]
        return "\n".join([head, *rows])


def compare_models(
    models: Mapping[str, Any],
    ys: Iterable[Any],
    *,
    n: int = 50,
    rule: Rule | Plan | None = None,
    runs: int = 3,
    rng: RNG = None,
    progress: bool | Report = False,
) -> ModelComparison:
    """Compare models, or fits of `skh.fit`, by their log-evidence on the same observations.

    Each model is filtered ``runs`` times with other random numbers, the last time with twice as
    many particles; the numerical error is the largest deviation from the run with more particles.
    Fitted models are charged for their parameters by Schwarz's criterion (BIC).

    >>> import skh
    >>> model, other = skh.models.lgss3(), skh.models.lgss3(seed=1)
    >>> ys = model.simulate(15, rng=0)[1]
    >>> both = {"true": model, "other": other}
    >>> found = skh.compare_models(both, ys, n=100, rule=skh.Stratified(), rng=0)
    >>> found.names, found.decided
    (('true', 'other'), True)
    """
    if not isinstance(models, Mapping) or not models:
        raise TypeError(f"models must be a dict of models or fits by name, got {models!r}")
    ys, n, runs = as_series(ys), _checks.positive_int("n", n), _checks.positive_int("runs", runs)
    if runs < 2:
        raise ValueError(f"runs must be 2 or more, to tell the numerical error, got {runs}")
    generator, rows = _checks.generator(rng), []
    with progress_bar(progress, "models") as report:
        for k, model in enumerate(models.values()):
            rows.append(estimated(model, ys, rule, n, runs, generator))
            report(k + 1, len(models))
    f, error, count = (np.array(column) for column in zip(*rows, strict=True))
    bic = count * np.log(len(ys)) - 2 * f
    order = np.argsort(bic, kind="stable")
    names = [str(name) for name in models]
    return ModelComparison(
        tuple(names[i] for i in order), f[order], error[order], count[order], bic[order]
    )


def estimated(
    model: Any, ys: Any, rule: Any, n: int, runs: int, rng: np.random.Generator
) -> tuple[float, float, int]:
    """Return the log-evidence of a model, its numerical error, its number of fitted parameters."""
    count = len(model.parameters) if isinstance(model, Fit) else 0
    model = model.model if isinstance(model, Fit) else model
    sizes = [n] * (runs - 1) + [2 * n]
    values = [particle_filter(model, ys, rule, m, rng=rng).log_evidence for m in sizes]
    return values[-1], float(np.abs(np.array(values[:-1]) - values[-1]).max()), count
