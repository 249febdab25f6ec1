"""Try a model: what it returns, whether that can be relied on, what it costs, how sharp it is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from skh._typing import Array
from skh.app.input_error import one_line
from skh.app.trials import Series
from skh.filtering.clock import elapsed, model_over, wants_dt
from skh.filtering.model_checks import check_likelihood
from skh.filtering.model_protocols import CarryingModel, as_carrying, prior_of, propagate
from skh.filtering.observations import is_missing

TRIED = 16  # particles of the calls
MANY = 256  # particles of the call that measures the cost
LONG = 0.5  # seconds: calls that would take longer are not made with so many particles
SAME = 1e-9  # relative difference between a row alone and in a batch that rounding explains


@dataclass(frozen=True)
class Finding:
    """What a check found: "ok", "note" or "wrong"."""

    verdict: str
    about: str
    text: str
    seconds: float | None = None  # of one likelihood, where that was measured


@dataclass(frozen=True, eq=False)
class Trial:
    """Particles of the model, with their records, and an observation."""

    model: CarryingModel
    x: Array
    y: Any

    def likelihood(self, rows: Any = slice(None)) -> Array:
        """The log-likelihoods of some of the particles, checked."""
        x = self.x[rows].copy()
        x.setflags(write=False)  # as in a filter
        carry = self.model.initial_carry(x)
        returned = self.model.log_likelihood(0, x, self.y, carry)
        return check_likelihood(returned, carry, x, "log_likelihood")[0]


def check_model(model: Any, series: Series | None) -> Iterator[Finding]:
    """Yield what the checks of a model find; ``series`` are observations, or None.

    Checks that need what an earlier one did not find are left out.
    """
    rng = np.random.default_rng(0)
    checked = as_carrying(model)
    prior = yield from _tried("prior", lambda: prior_of(checked), _of_prior)
    if prior is None:
        return
    x = prior.sample(TRIED, rng=rng)[0]
    yield from _tried("transition", lambda: _moved(_first_step(checked, series), x), _of_transition)
    y = drawn(model, x, rng) if series is None else first_measured(series)
    if y is None:
        yield Finding("note", "likelihood", "not tried: name a table with observations")
        return
    trial = Trial(checked, x, y)
    values = yield from _tried("likelihood", trial.likelihood, _of_likelihood)
    if values is not None:
        yield from _reliable(trial, values, prior.sample(MANY, rng=rng)[0])


def first_measured(series: Series) -> Any:
    """Return the first observation that is not missing, None if all are."""
    return next((y for y in series.ys if not is_missing(y)), None)


def drawn(model: Any, x: Array, rng: np.random.Generator) -> Any:
    """Return an observation that the model draws; None if it cannot."""
    observe = getattr(model, "observe", None)
    return None if observe is None else observe(0, x[0], rng)


def _tried(
    about: str, call: Callable[[], Any], describe: Callable[[Any], str]
) -> Generator[Finding, None, Any]:
    """Yield what a call gives, and return it; None if it fails."""
    try:
        value = call()
    except Exception as error:
        yield Finding("wrong", about, explained(error))
        return None
    yield Finding("ok", about, describe(value))
    return value


def explained(error: Exception) -> str:
    """Say what a model raised; messages of this library need no name of an exception."""
    text = one_line(error)
    own = text.startswith(("model.", "log_likelihood"))
    return text if own else f"raises {type(error).__name__}: {text}"


def _of_prior(prior: Any) -> str:
    parts = "a Gaussian" if len(prior) == 1 else f"a mixture of {len(prior)} Gaussians"
    return f"{parts} in {prior.d} dimensions"


def _first_step(model: CarryingModel, series: Series | None) -> CarryingModel:
    """Return the model of the first step, for models that take dt."""
    if not wants_dt(model):
        return model
    if series is None or series.times is None:
        raise ValueError("model.transition takes dt: name a table, and the column of its times")
    first, second = series.times[:2] if len(series) > 1 else (0.0, 1.0)
    first_step: CarryingModel = model_over(model, elapsed(first, second))
    return first_step


def _moved(model: CarryingModel, x: Array) -> Any:
    w = np.full(len(x), 1 / len(x))
    return propagate(model, 0, x, w, model.initial_carry(x))


def _of_transition(p: Any) -> str:
    each = len(p) // TRIED
    return "a Gaussian for each particle" if each == 1 else f"{each} Gaussians for each particle"


def _of_likelihood(values: Array) -> str:
    impossible = int(np.isneginf(values).sum())
    text = f"one number for each of {len(values)} particles"
    return f"{text}; zero likelihood at {impossible} of them" if impossible else text


def _reliable(trial: Trial, values: Array, x: Array) -> Iterator[Finding]:
    """Check that calls can be relied on, each check only if those before it found nothing."""
    checks = (_deterministic, _writes, _vectorised)
    for check in checks:
        yield (finding := check(trial, values))
        if finding.verdict == "wrong":
            return
    yield _cost(trial, x)


def _deterministic(trial: Trial, values: Array) -> Finding:
    again = trial.likelihood()
    if np.array_equal(values, again):
        return Finding("ok", "repeatable", "the same call gives the same numbers")
    i = int(np.argmax(values != again))
    text = f"the same call gave {values[i]:.6g}, then {again[i]:.6g}, at particle {i}"
    return Finding("wrong", "repeatable", f"{text}: does log_likelihood draw random numbers?")


def _writes(trial: Trial, values: Array) -> Finding:
    """See whether the model changes the particles or the observation it is given."""
    y = np.array(trial.y, copy=True) if isinstance(trial.y, np.ndarray) else None
    before = trial.x.copy()
    trial.model.log_likelihood(0, trial.x, trial.y, trial.model.initial_carry(trial.x))
    changed = [] if np.array_equal(before, trial.x) else ["x"]
    changed += [] if y is None or np.array_equal(y, trial.y, equal_nan=True) else ["y"]
    if changed:
        return Finding("wrong", "arguments", f"log_likelihood writes into {' and '.join(changed)}")
    return Finding("ok", "arguments", "left as they are")


def _vectorised(trial: Trial, values: Array) -> Finding:
    """Compare rows alone with rows in a batch."""
    try:
        alone = np.array([trial.likelihood([i])[0] for i in range(len(values))])
    except Exception as error:
        text = f"{TRIED} particles work, one alone does not: {explained(error)}"
        return Finding("wrong", "rows", text)
    scale = SAME * (1 + np.abs(np.where(np.isfinite(values), values, 0.0)))
    with np.errstate(invalid="ignore"):
        differs = (values != alone) & ~(np.abs(values - alone) <= scale)
    if differs.any():
        i = int(np.argmax(differs))
        what = f"particle {i} has {values[i]:.6g} among {TRIED}, {alone[i]:.6g} alone"
        text = f"{what}: the likelihood of a row must not depend on the others"
        return Finding("wrong", "rows", text)
    return Finding("ok", "rows", "a particle alone has the likelihood that it has among others")


def _cost(trial: Trial, x: Array) -> Finding:
    """Time a call with one particle and with many."""
    from skh.app.compare import duration

    one = seconds_of(lambda: trial.likelihood([0]))
    size = int(np.clip(LONG / max(one, 1e-9), 4, len(x)))
    batch = Trial(trial.model, x[:size], trial.y)
    many = seconds_of(batch.likelihood)
    each = many / size
    text = f"{duration(one)} for one particle, {duration(many)} for {size}: {duration(each)} each"
    if many > 0.5 * size * one and one > 20e-6:
        text += "; it takes them one by one, so that an executor can share them among workers"
    return Finding("note", "cost", text, each)


def seconds_of(call: Callable[[], Any]) -> float:
    """The shortest of a few calls; of one if it is long."""
    best = np.inf
    for _ in range(5):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
        if best > LONG / 5:
            break
    return float(best)
