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
        """Return the mean log-density for each of the models."""
        return np.array([self.of_paths(model).mean() for model in models])

    def of_paths(self, model: Any) -> Array:
        """Return the log-density of each path, (m,)."""
        model = as_carrying(model)
        models, beliefs, x = ModelOverTime(model), self.chain.beliefs, self.paths[:, 0]
        prior = model.prior()
        total, carry = Support.of(prior).log_mixture(prior, x), model.initial_carry(x)
        for t, y in enumerate(self.ys):
            if not is_missing(y):
                log_l, carry = model.log_likelihood(beliefs[t].t, x, y, carry)
                total = total + check_log_likelihoods(log_l, x, f"model.log_likelihood at t={t}")
            if t + 1 < len(self.ys):
                moving, x_next = models.until(beliefs[t], beliefs[t + 1].time), self.paths[:, t + 1]
                total = total + row_densities(moving, beliefs[t].t, x, carry, x_next)
                carry = moving.move(beliefs[t].t, x, carry, x_next)
                x = x_next
        return np.asarray(total)


def row_densities(model: Any, t: int, x: Array, carry: Any, x_next: Array) -> Array:
    """``log f(x_next | x)`` for each row."""
    m = len(x)
    law = propagate(model, t, x, np.full(m, 1.0 / m), carry)
    each, support = len(law) // m, Support.of(law)
    S = np.broadcast_to(law.matrices, (len(law), law.d, law.d))
    logs = support.log_density(np.repeat(x_next, each, axis=0), law.means, S)
    with np.errstate(divide="ignore"):
        logs = (logs + np.log(law.weights * m)).reshape(m, each)
    return np.asarray(scipy.special.logsumexp(logs, axis=1))
