"""Filter a whole series of observations."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

from numpy.typing import ArrayLike

from skh import _checks
from skh._runtime.progress import Report, progress_bar
from skh._typing import RNG, Array
from skh.filtering.accuracy import check_accuracy, to_accuracy, with_numerical_error
from skh.filtering.belief import Belief
from skh.filtering.checkpoint import Checkpoint, NoCheckpoint
from skh.filtering.clock import Time, times_of
from skh.filtering.default_plan import default_plan
from skh.filtering.model_checks import ZeroLikelihoodError
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.observations import as_iterable, as_series
from skh.filtering.particle_filter import ParticleFilter
from skh.filtering.plans import Plan
from skh.filtering.result import FilterResult, MeanState, quantile_levels, summary
from skh.filtering.result_builder import ResultBuilder
from skh.rules.base import Rule
from skh.views.attributes import checked_names, model_names, run_attributes, seed_of


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
    times: Iterable[Any] | None = None,
    on_zero_likelihood: Literal["raise", "skip"] = "raise",
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    numerical_error: bool = False,
    accuracy: float | None = None,
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
    times : numbers or dates, increasing
        When each observation was made, for models that take dt (see `skh.filtering.clock`).
    on_zero_likelihood : "raise" or "skip"
        What to do with an observation whose likelihood is zero at all particles: raise
        `ZeroLikelihoodError`, or count the step as not observed (logged; see ``result.skipped``).
    checkpoint : path
        File to resume from if it exists, with the numbers of an uninterrupted run, and to write the
        run to ``checkpoint_every`` so many seconds, and when it ends.  See docs/production.md.
    numerical_error : bool
        Filter once more, with twice as many particles and other random numbers, to estimate how far
        the run is off: ``result.numerical_error``.  The run itself stays the same.
    accuracy : float, optional
        Choose the number of particles: from ``n`` on it is doubled until the estimated error of the
        means is at most so many standard deviations, such as 0.05.  See docs/numerical_error.md.

    An error, or Ctrl-C, at step t carries the result of the steps before as its ``result``.

    Examples
    --------
    >>> import skh
    >>> model = skh.models.lgss3()
    >>> states, ys = model.simulate(20, rng=0)
    >>> result = skh.particle_filter(model, ys, skh.Stratified(), 100, rng=1)
    >>> result.means.shape, result.n_likelihood_evaluations.sum()
    ((20, 3), np.int64(2000))
    >>> result = skh.particle_filter(model, ys, skh.Stratified(), 100, rng=1, accuracy=0.2)
    >>> result.numerical_error.overall <= 0.2
    True
    """
    options: dict[str, Any] = {
        "quantiles": quantiles,
        "history": history,
        "progress": progress,
        "on_zero_likelihood": on_zero_likelihood,
    }
    saving: dict[str, Any] = {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
    checks = _checks.boolean("numerical_error", numerical_error)
    if accuracy is None and not checks:
        return filtered(model, ys, rule, n, rng=rng, times=times, **options, **saving)
    ys, n = as_series(ys), _checks.positive_int("n", n)
    times = None if times is None else list(times)

    def run(size: int, rng: RNG) -> FilterResult:
        own = saving if size == n else {}
        return filtered(model, ys, rule, size, rng=rng, times=times, **options, **own)

    if accuracy is None:
        return with_numerical_error(run, n, rng, model)
    return to_accuracy(run, n, rng, model, check_accuracy(accuracy, checkpoint))


def filtered(
    model: Model | CarryingModel,
    ys: Iterable[Any],
    rule: Rule | Plan | None,
    n: int,
    *,
    rng: RNG,
    quantiles: ArrayLike,
    history: bool,
    progress: bool | Report,
    times: Iterable[Any] | None,
    on_zero_likelihood: str,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
) -> FilterResult:
    """Filter a series once."""
    ys, levels = as_iterable(ys), quantile_levels(quantiles)
    moments, skips = times_of(times, ys), check_zero_policy(on_zero_likelihood)
    history, pf = _checks.boolean("history", history), ParticleFilter(model, rule, n, rng=rng)
    builder = ResultBuilder(history, described_run(model, rule, pf, rng, levels))
    saved = NoCheckpoint()
    if checkpoint is not None:
        settings = {"quantiles": tuple(levels.tolist()), "history": history}
        settings["on_zero_likelihood"] = on_zero_likelihood
        saved = Checkpoint(checkpoint, checkpoint_every, pf, builder, rng, **settings)
    series = Series(pf, builder, saved, levels, skips, getattr(model, "mean_state", None))
    with progress_bar(progress, "filtering") as report:
        series.run(with_times(ys, moments), len(ys) if isinstance(ys, Sized) else None, report)
    if (result := builder.result()) is None:
        raise ValueError("ys must hold at least one observation, got none")
    return result


@dataclass(frozen=True)
class Series:
    """A filter, what becomes of its steps, and how each is summarised."""

    pf: ParticleFilter
    builder: ResultBuilder
    saved: NoCheckpoint
    levels: Array
    skips: bool
    mean_state: MeanState | None

    def run(
        self, observations: Iterable[tuple[Any, Time | None]], total: int | None, report: Report
    ) -> None:
        """Filter all observations but those of the checkpoint, which are compared with it."""
        consumed = 0
        try:
            for t, (y, time) in enumerate(observations):
                if t < self.saved.done:
                    self.saved.check(t, y, time)
                else:
                    self.step(y, time)
                consumed = t + 1
                report(consumed, total)
        except BaseException as error:
            error.result = self.builder.result()  # type: ignore[attr-defined] # steps are expensive
            self.saved.try_to_save()
            raise
        self.saved.refuse_shorter(consumed)
        self.saved.try_to_save()

    def step(self, y: Any, time: Time | None) -> None:
        """Filter one observation; add a row to the result and the step to the checkpoint."""
        belief, skipped = step_or_skip(self.pf, y, time, self.skips)
        row = summary(belief, self.levels, self.mean_state)
        self.builder.add(belief, {**row, "skipped": skipped, **timed(time)})
        self.saved.add(y, time)


def described_run(
    model: Any, rule: Rule | Plan | None, pf: ParticleFilter, rng: RNG, levels: Array
) -> dict[str, Any]:
    """Return the fields of a `FilterResult` that say what was run."""
    names, rule = model_names(model), default_plan() if rule is None else rule
    return {
        "quantile_levels": tuple(levels.tolist()),
        "state_names": names and checked_names(names, pf.predict().d, "model.state_names"),
        "attributes": run_attributes(model, rule, pf.n, seed_of(rng, pf._rng)),
    }


def check_zero_policy(policy: Any) -> bool:
    """Validate ``on_zero_likelihood``; return whether to skip."""
    if policy not in ("raise", "skip"):
        raise ValueError(f'on_zero_likelihood must be "raise" or "skip", got {policy!r}')
    return bool(policy == "skip")


def with_times(
    ys: Iterable[Any], times: Iterator[Time] | None
) -> Iterator[tuple[Any, Time | None]]:
    """Yield each observation with its time, None without times."""
    if times is None:
        yield from ((y, None) for y in ys)
        return
    t = -1
    for t, y in enumerate(ys):
        if (time := next(times, None)) is None:
            raise ValueError(f"times must hold one time for each observation, got only {t}")
        yield y, time
    if next(times, None) is not None:
        raise ValueError(f"times must hold one time for each of {t + 1} observations, got more")


def timed(time: Time | None) -> dict[str, Time]:
    """Return the row of ``times``, if there is one."""
    return {} if time is None else {"times": time}


def step_or_skip(pf: ParticleFilter, y: Any, time: Any, skips: bool) -> tuple[Belief, bool]:
    """Make a step; return whether it was made without the observation, which is impossible."""
    try:
        return pf.step(y, t=time), False
    except ZeroLikelihoodError:
        if not skips:
            raise
    message = (
        "the likelihood of y at t=%d is zero at all particles: the step counts as not observed"
    )
    logging.getLogger("skh").warning(message, pf.t)
    return pf.step(None, t=time), True
