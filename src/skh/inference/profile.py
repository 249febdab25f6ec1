"""The profile of the log-evidence in one parameter, and the interval that it gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy  # loads scipy.stats on first use

from skh import _checks
from skh._runtime.progress import Report, progress_bar
from skh._typing import Array
from skh.inference.ascent import Ascent, Climber, Task
from skh.inference.bounds import Bounds, checked_values
from skh.inference.local_evidence import LocalEvidence
from skh.inference.work import Work

SAME_VALUE = 1e-9  # relative difference of values that rounding on the free scale makes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from skh.inference.fit_result import Fit


@dataclass(frozen=True, eq=False)
class Profile:
    """The largest log-evidence for each of some values of one parameter; see `Fit.profile`.

    ``parameters`` has all parameters at each value.
    """

    name: str
    values: Array
    log_evidence: Array
    parameters: tuple[dict[str, float], ...]
    best: tuple[float, float] = field(repr=False)  # the fit's value and log-evidence
    bounds: Bounds = field(repr=False)  # of the parameter

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval by the likelihood ratio; an end is infinite if beyond the values.

        Between the values the profile is interpolated by cubic splines, on the scale in which the
        search moves.
        """
        level = _checks.fraction("level", level)
        drop = 0.5 * float(scipy.stats.chi2.ppf(level, 1))
        x, f = self._curve()
        top = int(f.argmax())
        left = _crossing(x[: top + 1][::-1], f[: top + 1][::-1], f[top] - drop, -np.inf)
        return left, _crossing(x[top:], f[top:], f[top] - drop, np.inf)

    def _curve(self, m: int = 2001) -> tuple[Array, Array]:
        """The profile on a fine grid: with the optimum among its points, interpolated."""
        other = np.isfinite(self.log_evidence) & ~np.isclose(
            self.values, self.best[0], rtol=SAME_VALUE
        )
        values = np.append(self.values[other], self.best[0])
        z = np.array([self.bounds.free({self.name: value})[0] for value in values])
        order, f = z.argsort(), np.append(self.log_evidence[other], self.best[1])
        fine = np.linspace(z.min(), z.max(), m)
        spline = scipy.interpolate.make_interp_spline(z[order], f[order], k=min(3, z.size - 1))
        return self.bounds.values(fine[:, None])[:, 0], np.asarray(spline(fine))

    def plot(self, figure: Any = None, *, level: float = 0.95) -> Figure:
        """Draw the profile, with its interval; needs matplotlib (the extra ``app``)."""
        from skh.inference.plots import plot_profile

        return plot_profile(self, figure, level)


def _crossing(x: Array, f: Array, level: float, beyond: float) -> float:
    """Return where f, from its maximum on, first falls to a level."""
    below = np.flatnonzero(f <= level)
    if len(below) == 0 or below[0] == 0:
        return beyond
    j = int(below[0])
    share = (f[j - 1] - level) / (f[j - 1] - f[j])
    return float(x[j - 1] + share * (x[j] - x[j - 1]))


def profile_of(
    fit: Fit, name: str, values: Any, points: int, width: float, progress: bool | Report
) -> Profile:
    """Compute a profile from the optimum outwards, each value starting from its neighbour."""
    if name not in fit.parameters:
        known = ", ".join(fit.parameters)
        raise ValueError(f"name must be one of the parameters {known}, got {name!r}")
    if fit.noise > 0:
        raise ValueError(
            f"the log-evidence varies by {fit.noise:.2g} from seed to seed, too much for a "
            "profile: fit with more particles, or use the standard errors"
        )
    grid = default_values(fit, name, points, width) if values is None else given(fit, name, values)
    centre = fit.parameters[name]
    found: dict[float, tuple[dict[str, float], float]] = {}
    with progress_bar(progress, f"profile of {name}") as report:
        for side in (grid[grid >= centre], grid[grid < centre][::-1]):
            z = fit.bounds.free(fit.parameters)
            for value in side.tolist():
                z, found[value] = at_value(fit, name, value, z)
                report(len(found), len(grid))
    rows = [found[value] for value in grid.tolist()]
    best = centre, fit.log_evidence
    levels = np.array([f for _, f in rows])
    return Profile(name, grid, levels, tuple(p for p, _ in rows), best, fit.bounds.only(name))


def default_values(fit: Fit, name: str, points: Any, width: Any) -> Array:
    """Return values evenly spaced around the optimum, on the scale in which the search moves."""
    points, width = _checks.positive_int("points", points), _checks.positive("width", width)
    k, z = fit.bounds.names.index(name), fit.bounds.free(fit.parameters)
    sd = fit.standard_errors[name] / abs(float(fit.bounds.slopes(z)[k]))
    if not np.isfinite(sd):
        raise ValueError(f"values must be given, for {name} has no standard error")
    Z = np.tile(z, (points, 1))
    Z[:, k] += np.linspace(-width, width, points) * sd
    return np.unique(fit.bounds.values(Z)[:, k])


def given(fit: Fit, name: str, values: Any) -> Array:
    """Validate the values of a profile."""
    array = np.unique(_checks.real_array("values", values))
    if array.size == 0:
        raise ValueError("values must hold at least one value, got none")
    for value in array:
        checked_values("values", {**fit.parameters, name: value}, fit.bounds)
    return array


def conditional_scales(fit: Fit) -> Array:
    """Return standard errors of free coordinates while the others are fixed."""
    slopes = fit.bounds.slopes(fit.bounds.free(fit.parameters))
    precision = np.linalg.inv(fit.covariance / np.outer(slopes, slopes))
    return np.asarray(1.0 / np.sqrt(np.diagonal(precision)))


def at_value(
    fit: Fit, name: str, value: float, z: Array
) -> tuple[Array, tuple[dict[str, float], float]]:
    """Maximise over the other parameters from ``z``; return the optimum and its evidence."""
    k, work = fit.bounds.names.index(name), Work(fit.executor)
    problem = replace(fit.problem, make_model=partial(fit.problem.make_model, **{name: value}))
    others, start = fit.bounds.without(name), np.delete(z, k)
    climber = Climber(Task(problem, others, work, most=10), verified=False)
    climber.here = LocalEvidence.at(problem, others, start, work) if len(start) else None
    if climber.here is None:
        return z, ({**fit.parameters, name: value}, problem.log_evidence(others.named(start)))
    ascent = climber.climb(Ascent(start, scales=np.delete(conditional_scales(fit), k)))
    parameters = {**others.named(ascent.z), name: value}
    parameters = {key: parameters[key] for key in fit.bounds.names}
    return fit.bounds.free(parameters), (parameters, ascent.log_evidence)
