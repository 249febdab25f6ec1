"""Draws from a posterior, with their diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skh import _checks
from skh._runtime.optional import require
from skh._typing import Array
from skh.inference.chain_diagnostics import effective_sample_size, r_hat

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of parameters from their posterior; made by `skh.sample_posterior`.

    - ``draws``: an array (chains, draws) for each parameter
    - ``log_evidence`` (chains, draws): the estimates that decided
    - ``accepted`` (chains, draws): whether the draw is a new one
    - ``exact``: whether the estimates are unbiased, so that the draws have no numerical bias
    - ``first_stage``, ``second_stage``: the filters that were used, and why
    - ``emulator_error``: root mean square error of the first stage's log-posterior
    - ``n_filters``, ``n_likelihood_evaluations``: what all of it took
    """

    draws: dict[str, Array]
    log_evidence: Array
    accepted: Array
    exact: bool
    first_stage: str
    second_stage: str
    emulator_error: float
    n_filters: int
    n_likelihood_evaluations: int

    @property
    def means(self) -> dict[str, float]:
        """Posterior means."""
        return {name: float(x.mean()) for name, x in self.draws.items()}

    @property
    def standard_deviations(self) -> dict[str, float]:
        """Posterior standard deviations."""
        return {name: float(x.std()) for name, x in self.draws.items()}

    @property
    def r_hat(self) -> dict[str, float]:
        """Rank-normalised split R-hat; above 1.01 the chains are too short."""
        return {name: r_hat(x) for name, x in self.draws.items()}

    @property
    def ess(self) -> dict[str, float]:
        """Effective numbers of draws, of normal scores of ranks."""
        return {name: effective_sample_size(x) for name, x in self.draws.items()}

    def quantiles(self, levels: ArrayLike = (0.05, 0.5, 0.95)) -> dict[str, Array]:
        """Posterior quantiles."""
        q = np.atleast_1d(_checks.levels("levels", levels))
        return {name: np.quantile(x, q) for name, x in self.draws.items()}

    def to_xarray(self) -> xr.Dataset:
        """Return a `Dataset` with the dimensions chain and draw, as ArviZ takes it."""
        xarray = require("xarray", "io", "posterior.to_xarray()")
        chains, draws = self.log_evidence.shape
        about: dict[str, Any] = {
            "inference_library": "skh",
            "exact": int(self.exact),
            "first_stage": self.first_stage,
            "second_stage": self.second_stage,
            "n_filters": self.n_filters,
        }
        dataset: xr.Dataset = xarray.Dataset(
            {name: (("chain", "draw"), x) for name, x in self.draws.items()},
            {"chain": np.arange(chains), "draw": np.arange(draws)},
            about,
        )
        return dataset

    def plot(self, figure: Any = None) -> Figure:
        """Draw the marginal posteriors and the chains; needs matplotlib (the extra ``app``)."""
        from skh.inference.plots import plot_posterior

        return plot_posterior(self, figure)

    def __repr__(self) -> str:
        chains, draws = self.log_evidence.shape
        width = max(9, *(len(name) for name in self.draws))
        kind = "exact" if self.exact else "numerically biased"
        head = f"{'parameter':<{width}}  {'mean':>11}  {'sd':>9}  {'ESS':>6}  R-hat"
        rows = [
            f"{name:<{width}}  {self.means[name]:>11.5g}  {self.standard_deviations[name]:>9.3g}  "
            f"{self.ess[name]:>6.0f}  {self.r_hat[name]:.3f}"
            for name in self.draws
        ]
        taken = f"{self.accepted.mean():.0%} accepted, {self.n_filters} filter runs"
        return "\n".join(
            [
                f"Posterior: {chains} chains of {draws} draws, {kind}, {taken}",
                head,
                *rows,
                f"first stage: {self.first_stage}",
                f"second stage: {self.second_stage}",
            ]
        )
