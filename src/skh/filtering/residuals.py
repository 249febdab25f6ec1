r"""Residuals of observations, for checking a model against data.

The probability integral transform (PIT) of an entry of y_t is its level in the prediction of the
filter, :math:`u_t = P(y_t \le y \mid y_{0:t-1})`.  If the model is right, these are independent and
uniform on (0, 1) over time (Rosenblatt, 1952; Dawid, 1984), and :math:`\Phi^{-1}(u_t)` are standard
normal residuals.  Entries of one vector are transformed one by one, each in its marginal
distribution, so they may depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy  # loads scipy.special on first use

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.belief import Belief
from skh.filtering.clock import Time, times_of
from skh.filtering.forecasts import inner_model, model_function, random_numbers, states_ahead
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.observations import as_iterable, as_series, fill_masked, is_missing
from skh.filtering.particle_filter import ParticleFilter
from skh.filtering.plans import Plan
from skh.filtering.series import with_times
from skh.rules.base import Rule
from skh.rules.sampling import QuasiMonteCarlo
from skh.views.text import described

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL_ROUNDING = 1e-9  # by which a distribution function may leave [0, 1] or decrease


@dataclass(frozen=True, eq=False, repr=False)
class Residuals:
    """PIT values ``pit`` (T, m) of the entries of observations, NaN where nothing was measured."""

    pit: Array

    @cached_property
    def normal(self) -> Array:
        """Standard normal residuals (T, m)."""
        inside = np.clip(self.pit, np.finfo(np.float64).tiny, _checks.BELOW_ONE)
        return np.asarray(scipy.special.ndtri(inside))

    @cached_property
    def p_values(self) -> Array:
        """P-value of each entry, (m,): Kolmogorov-Smirnov test that its PIT is uniform.

        A small one says that the model, or the filter, does not fit the data.
        """
        from scipy.stats import kstest  # slow to import

        columns = [column[np.isfinite(column)] for column in self.pit.T]
        return np.array([kstest(u, "uniform").pvalue if len(u) else np.nan for u in columns])

    def plot(self, entry: int = 0, *, name: str | None = None, figure: Any = None) -> Figure:
        """Return a figure for checking a model by one entry of the observations (``skh[app]``).

        Residuals over time, the histogram of PIT values, quantiles against normal ones, and
        autocorrelations, each with where 95% lie if the model is right.
        """
        from skh.views.residual_plots import plot_residuals

        return plot_residuals(self, entry, name, figure)

    def __repr__(self) -> str:
        T, m = self.pit.shape
        tests = ", ".join(f"{p:.2g}" for p in self.p_values[:6]) + (", ..." if m > 6 else "")
        return f"Residuals({T} steps, {m} entries, p_values=[{tests}])"


def pit(
    model: Model | CarryingModel,
    ys: Iterable[Any],
    rule: Rule | Plan | None = None,
    n: int = 100,
    *,
    rng: RNG = None,
    draws: int = 1000,
    times: Iterable[Any] | None = None,
) -> Residuals:
    """Return the residuals of observations, each in the prediction from those before it.

    The model needs ``observation_cdf(t, x, y)``, the probability that an entry of y_t is at most
    that of y, for each row of x, (n, m); of discrete entries a pair: less than, and at most.  Or
    ``observe(t, x, rng)``, which draws y_t given one state: then a PIT is a rank among ``draws``.
    ``times`` are those of the observations, for models that take dt (see `skh.filtering.clock`).

    Examples
    --------
    >>> import skh
    >>> model = skh.models.lgss3()
    >>> _, ys = model.simulate(50, rng=0)
    >>> good = skh.pit(model, ys, skh.Stratified(), rng=1)
    >>> bad = skh.pit(model, 3 * ys, skh.Stratified(), rng=1)  # three times as spread
    >>> bool(good.p_values[0] > 0.05), bool(bad.p_values[0] < 0.05)
    (True, True)
    """
    pf, rows, ys = ParticleFilter(model, rule, n, rng=rng), [], as_iterable(ys)
    for y, time in with_times(ys, times_of(times, ys)):
        rows.append(level_of(pf, y, draws, random_numbers(pf, None), time))
        pf.step(y, t=time)
    return _stacked(rows)


def pit_of_history(
    history: tuple[Belief, ...] | None,
    model: Model | CarryingModel,
    ys: Iterable[Any],
    *,
    draws: int,
    rng: RNG,
) -> Residuals:
    """Return the residuals of observations in the predictions from the beliefs of a run."""
    if history is None:
        raise ValueError("pit needs particle_filter(..., history=True)")
    series, generator = as_series(ys), _checks.generator(rng)
    if len(series) != len(history):
        raise ValueError(f"ys must be the {len(history)} observations, got {len(series)}")
    rows = []
    for before, y, belief in zip((None, *history), series, history, strict=False):
        first = history[0].t if before is None else None
        pf = ParticleFilter(model, rng=generator, t=first, belief=before)
        rows.append(level_of(pf, y, draws, generator, belief.time))
    return _stacked(rows)


def _stacked(rows: Sequence[Array | None]) -> Residuals:
    """Put the steps together; those without an observation are NaN."""
    measured = [row for row in rows if row is not None]
    if not measured:
        raise ValueError("ys must hold at least one measured observation, got none")
    gap = np.full_like(measured[0], np.nan)
    if any(row.shape != gap.shape for row in measured):
        sizes = sorted({row.size for row in measured})
        raise ValueError(f"ys must all have the same number of entries, got {sizes}")
    return Residuals(np.stack([gap if row is None else row for row in rows]))


def level_of(
    pf: ParticleFilter, y: Any, draws: int, rng: np.random.Generator, time: Time | None = None
) -> Array | None:
    """Return the level of each entry of the next observation; None without one."""
    cdf, observe = (model_function(pf._model, name) for name in ("observation_cdf", "observe"))
    if cdf is None and observe is None:
        raise TypeError(
            "pit needs a model with observation_cdf(t, x, y) or observe(t, x, rng), got "
            f"{described(inner_model(pf._model))}"
        )
    draws = _checks.positive_int("draws", draws)
    if is_missing(y):
        return None
    entries = _entries(y, pf.t)
    if cdf is None:
        low, high = _ranks(pf, entries, draws, rng, time)
    else:
        low, high = _mass(pf, cdf, entries, draws, rng, time)
    level = low + rng.random(len(entries)) * (high - low)
    return np.where(np.isnan(entries), np.nan, level)


def _entries(y: Any, t: int) -> Array:
    try:
        return np.ravel(_checks.floats("y", fill_masked(np.asarray(y))))
    except TypeError as error:
        raise TypeError(f"pit needs observations that are numbers, got {y!r} at t={t}") from error


def _ranks(
    pf: ParticleFilter, y: Array, draws: int, rng: np.random.Generator, time: Time | None
) -> tuple[Array, Array]:
    """Return the levels between which each entry lies among draws."""
    drawn = pf.predict_observation(draws=draws, rng=rng, t=time).y.reshape(draws, -1)
    if drawn.shape[1] != len(y):
        raise ValueError(
            f"model.observe must draw {len(y)} entries, as in y at t={pf.t}, got {drawn.shape[1]}"
        )
    below, ties = (drawn < y).sum(axis=0), (drawn == y).sum(axis=0)
    return below / (draws + 1), (below + ties + 1) / (draws + 1)


def _mass(
    pf: ParticleFilter,
    cdf: Any,
    y: Array,
    draws: int,
    rng: np.random.Generator,
    time: Time | None,
) -> tuple[Array, Array]:
    """Return the probability below each entry, and up to it."""
    ahead = states_ahead(pf, 1, draws, QuasiMonteCarlo(), rng, time)
    returned = cdf(ahead.t, ahead.states, y)
    pair = returned if isinstance(returned, tuple) else (returned, returned)
    where = f"model.observation_cdf at t={ahead.t}"
    if len(pair) != 2:
        raise TypeError(f"{where} must return an array or a pair, got a tuple of {len(pair)}")
    low, high = (_probabilities(where, values, draws, y) for values in pair)
    return low.mean(axis=0), high.mean(axis=0)


def _probabilities(where: str, values: Any, n: int, y: Array) -> Array:
    """Validate values of distribution functions, (n, m) or, for one entry, (n,)."""
    array = _checks.floats(f"what {where} returns", values)
    array = array[:, None] if array.ndim == 1 == len(y) else array
    if array.shape != (n, len(y)):
        raise ValueError(f"{where} must return shape ({n}, {len(y)}), got {array.shape}")
    seen = array[:, ~np.isnan(y)]
    inside = (seen >= -LEVEL_ROUNDING) & (seen <= 1.0 + LEVEL_ROUNDING)
    if not inside.all():
        raise ValueError(f"{where} must return numbers in [0, 1], got {seen[~inside][0]}")
    return np.clip(array, 0.0, 1.0)
