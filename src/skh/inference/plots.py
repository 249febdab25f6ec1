"""Figures of profiles and posteriors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skh._typing import Array
from skh.views.figures import BAND, INK, PILOT_INK, TRUTH, empty_figure, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skh.inference.posterior_result import Posterior
    from skh.inference.profile import Profile


def plot_profile(profile: Profile, figure: Any, level: float) -> Figure:
    """Draw a profile relative to its maximum, and the interval of a level."""
    low, high = profile.interval(level)
    x, f = profile._curve()
    with empty_figure(figure, 4.5, 3.0) as drawn:
        axis: Axes = drawn.subplots()
        top, ends = f.max(), (max(low, x[0]), min(high, x[-1]))
        axis.axvspan(*ends, color=BAND, alpha=0.15, lw=0, label=f"{level:.0%} interval")
        axis.plot(x, f - top, color=INK, lw=1.2)
        axis.plot(profile.values, profile.log_evidence - top, "o", ms=4, color=INK, label="profile")
        axis.axvline(profile.best[0], color=TRUTH, lw=1.0, ls="--", label="maximum")
        axis.set_xlabel(profile.name)
        axis.set_ylabel("log-evidence\nless its maximum")
        grid(axis)
        axis.legend(loc="lower center")
    return drawn


def plot_posterior(posterior: Posterior, figure: Any) -> Figure:
    """Draw, for each parameter, a histogram with its mean, and the chains."""
    names = list(posterior.draws)
    with empty_figure(figure, 7.0, 1.7 * len(names)) as drawn:
        axes = drawn.subplots(len(names), 2, squeeze=False, width_ratios=[1, 2])
        for (left, right), name in zip(axes, names, strict=True):
            _marginal(left, posterior.draws[name], name)
            _traces(right, posterior.draws[name])
            right.set_title(f"ESS {posterior.ess[name]:.0f}, R-hat {posterior.r_hat[name]:.3f}")
        axes[-1, 1].set_xlabel("draw")
    return drawn


def _marginal(axis: Axes, draws: Array, name: str) -> None:
    bins = int(np.clip(np.sqrt(draws.size), 10, 50))
    axis.hist(draws.ravel(), bins=bins, density=True, color=BAND, alpha=0.45)
    axis.axvline(float(draws.mean()), color=TRUTH, lw=1.0, ls="--")
    axis.set_xlabel(name)
    axis.set_yticks([])


def _traces(axis: Axes, draws: Array) -> None:
    for k, chain in enumerate(draws):
        axis.plot(chain, lw=0.5, color=INK if k % 2 else PILOT_INK, alpha=0.8)
    grid(axis)
