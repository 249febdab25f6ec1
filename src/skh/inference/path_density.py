r"""The log-density of paths and observations, for models whose particles carry records.

Along a path of x the records are those of one particle: what is not sampled stays integrated out,
and :math:`\log p_\theta(x_{0:T-1}, y_{0:T-1})` is a sum of what the model returns on the way.  Its
mean over paths drawn backwards (`skh.inference.paths`) is the expected log-density.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # loads scipy.special on first use

from skh._typing import Array
from skh.filtering.clock import ModelOverTime
from skh.filtering.model_checks import check_log_likelihoods
from skh.filtering.model_protocols import as_carrying, propagate
from skh.filtering.observations import is_missing
from skh.gaussians.predictive import Predictive
from skh.inference.support import Support


@dataclass(frozen=True, eq=False)
class PathDensity:
    """The mean log-density of paths (m, T, d) at any models."""

    paths: Array
    chain: Any
    ys: Sequence[Any]

    @property
    def n_likelihoods(self) -> int:
        """Likelihood evaluations for one model."""
        return len(self.paths) * sum(not is_missing(y) for y in self.ys)

    def at(self, models: Sequence[Any]) -> Array:
        """Return the mean log-density for each of the models; the first is the smoother's."""
        return np.asarray(self.of_paths(models).mean(axis=1))

    def of_paths(self, models: Sequence[Any]) -> Array:
        """Return the log-density of each path for each of the models, (len(models), m)."""
        models, x = [as_carrying(model) for model in models], self.paths[:, 0]
        priors, carries = [m.prior() for m in models], [m.initial_carry(x) for m in models]
        support = Support.of(priors[0])
        total = np.stack([support.log_mixture(prior, x) for prior in priors])
        for t, y in enumerate(self.ys):
            if t > 0:
                logs, carries = self._moved(t, models, carries)
                total += logs
            if not is_missing(y):
                logs, carries = self._weighed(t, y, models, carries)
                total += logs
        return total

    def _moved(self, t: int, models: list[Any], carries: list[Any]) -> tuple[Array, list[Any]]:
        """Log-densities of the step from t - 1 to t, and the records after it."""
        b, time = self.chain.beliefs[t - 1], self.chain.beliefs[t].time
        x, x_next = self.paths[:, t - 1], self.paths[:, t]
        even = np.full(len(x), 1.0 / len(x))
        moving = [ModelOverTime(model).until(b, time) for model in models]
        laws = [propagate(m, b.t, x, even, c) for m, c in zip(moving, carries, strict=True)]
        support = Support.of(laws[0])
        logs = np.stack([row_densities(support, law, x_next) for law in laws])
        return logs, [m.move(b.t, x, c, x_next) for m, c in zip(moving, carries, strict=True)]

    def _weighed(
        self, t: int, y: Any, models: list[Any], carries: list[Any]
    ) -> tuple[Array, list[Any]]:
        """Log-likelihoods of the observation of step t, and the records after it."""
        x, now = self.paths[:, t], self.chain.beliefs[t].t
        told = [m.log_likelihood(now, x, y, c) for m, c in zip(models, carries, strict=True)]
        where = f"model.log_likelihood at t={now}"
        logs = np.stack([check_log_likelihoods(log_l, x, where) for log_l, _ in told])
        return logs, [carry for _, carry in told]


def row_densities(support: Support, law: Predictive, x_next: Array) -> Array:
    """``log f(x_next | x)`` for the rows that the law was made of."""
    support.check(law)
    m = len(x_next)
    each = len(law) // m
    S = np.broadcast_to(law.matrices, (len(law), law.d, law.d))
    logs = support.log_density(np.repeat(x_next, each, axis=0), law.means, S)
    with np.errstate(divide="ignore"):
        logs = (logs + np.log(law.weights * m)).reshape(m, each)
    return np.asarray(scipy.special.logsumexp(logs, axis=1))
