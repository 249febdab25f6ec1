"""Filter a whole series of observations."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from skh import _checks
from skh._runtime.progress import Report, progress_bar
from skh._typing import RNG
from skh.filtering.belief import Belief
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.observations import as_iterable
from skh.filtering.particle_filter import ParticleFilter
from skh.filtering.plans import Look, Plan
from skh.filtering.result import FilterResult, quantile_levels, stack_fields, summary
from skh.rules.base import Rule


def particle_filter(
    model: Model | CarryingModel,
    ys: Iterable[Any],
    rule: Rule | Plan | None = None,
    n: int = 100,
    *,
    rng: RNG = None,
    quantiles: ArrayLike = (),
    history: bool = False,
    progress: bool | Report = False,
) -> FilterResult:
    """Filter a series of observations; the results equal those of `ParticleFilter.step`.

    Parameters
    ----------
    model : Model or CarryingModel
        In R^d, or `skh.geometry.Charted`, whose mean states are ``result.mean_states``.
    ys : observations
        Anything that ``model.log_likelihood`` takes; None or all NaN if nothing was measured.
        Partly missing vectors are passed to the likelihood, with their NaN.
    rule : Rule or Plan, default ``default_plan()``
    n : int
        Number of particles requested from the rule at each step.
    rng : Generator, int or None
    quantiles : floats in [0, 1]
        Levels of the filtered quantiles to return.
    history : bool
        Keep the belief of each step; ``result.trajectories()`` needs it.
    progress : bool or f(steps_done, total)
        True shows a progress bar.  The total is None for a generator, which is read step by step.

    An error, or Ctrl-C, at step t carries the result of the steps before as its ``result``.

    Examples
    --------
    >>> import skh
    >>> model = skh.models.lgss3()
    >>> states, ys = model.simulate(20, rng=0)
    >>> result = skh.particle_filter(model, ys, skh.Stratified(), 100, rng=1)
    >>> result.means.shape, result.n_likelihood_evaluations.sum()
    ((20, 3), np.int64(2000))
    """
    ys, levels = as_iterable(ys), quantile_levels(quantiles)
    total = len(ys) if isinstance(ys, Sized) else None
    builder = ResultBuilder(keeps_history=_checks.boolean("history", history))
    pf, mean_state = ParticleFilter(model, rule, n, rng=rng), getattr(model, "mean_state", None)
    with progress_bar(progress, "filtering") as report:
        try:
            for t, y in enumerate(ys):
                belief = pf.step(y)
                builder.add(belief, summary(belief, levels, mean_state))
                report(t + 1, total)
        except BaseException as error:
            error.result = builder.result()  # type: ignore[attr-defined] # steps are expensive
            raise
    if (result := builder.result()) is None:
        raise ValueError("ys must hold at least one observation, got none")
    return result


@dataclass
class ResultBuilder:
    """Collect the steps of a series into a `FilterResult`."""

    keeps_history: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    looks: list[tuple[Look, ...]] = field(default_factory=list)
    beliefs: list[Belief] = field(default_factory=list)

    def add(self, belief: Belief, row: dict[str, Any]) -> None:
        """Add a step."""
        self.rows.append(row)
        self.looks.append(belief.looks)
        if self.keeps_history:
            self.beliefs.append(belief)

    def result(self) -> FilterResult | None:
        """The result of the steps so far; None before the first."""
        if not self.rows:
            return None
        history = tuple(self.beliefs) if self.keeps_history else None
        return FilterResult(**stack_fields(self.rows), history=history, looks=tuple(self.looks))
