r"""The expected log-density of states and observations, at fixed states of a smoother.

.. math:: Q(\theta) = E[\log p_\theta(x_{0:T-1}, y_{0:T-1}) \mid y_{0:T-1}]
    = E[\log p_\theta(x_0)] + \sum_t E[\log f_\theta(x_{t+1} | x_t)] + \sum_t E[\log g_\theta(y_t |
    x_t)],

the intermediate quantity of the EM algorithm.  Expectations are under the smoother of other, given
parameters, so that Q is as smooth in :math:`\theta` as the model is; its derivative at the
parameters of the smoother is the score (Fisher's identity).

Given the component i of x_{t+1}, log f is a quadratic function of x_{t+1}: the first two moments of
x_{t+1} given i, sums over all pairs that were computed once for the smoother, are all it needs.
Points with these moments, symmetric to the mean (cubature), give the same expectations by N instead
of N^2 densities, and serve for displaced particles (`skh.inference.backward`), too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh._typing import Array, Indices
from skh.filtering.model_checks import check_log_likelihoods
from skh.filtering.model_protocols import CarryingModel, as_carrying, gather, propagate
from skh.filtering.observations import is_missing
from skh.gaussians.linear_algebra import block_matrix
from skh.gaussians.mixture import GaussianMixture
from skh.geometry.charted import Charted
from skh.geometry.charted_records import ChartedCarry
from skh.geometry.charted_states import reference_of
from skh.inference.smoothing import Chain, displaced_moments
from skh.inference.smoothing_result import SmoothedStep, cubature
from skh.inference.support import Support

TERMS = ("log_prior", "log_transition", "log_likelihood")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Weighted pairs of states of times t and t + 1, with the component of each transition."""

    x: Array  # (m, d)
    component: Indices  # (m,): of those of one particle
    x_next: Array  # (m, d)
    w: Array  # (m,)
    several: bool  # components per particle


@dataclass(frozen=True, eq=False)
class ExpectedDensity:
    """Q at any models, for a smoothed ``chain`` and its observations ``ys``."""

    chain: Chain
    steps: Sequence[SmoothedStep]
    ys: Sequence[Any]

    @property
    def n_likelihoods(self) -> int:
        """Likelihood evaluations for one model."""
        rows = [len(self.marginal(t)[1]) for t, y in enumerate(self.ys) if not is_missing(y)]
        return sum(rows)

    def at(self, models: Sequence[Any], parts: Sequence[str] = TERMS) -> Array:
        """Return Q for each of the models, (len(models),); the first is that of the smoother.

        With some of the ``parts`` only their terms.
        """
        carrying, total = [as_carrying(model) for model in models], np.zeros(len(models))
        if "log_prior" in parts:
            x, w = self.marginal(0)
            priors = [model.prior() for model in carrying]
            support = Support.of(priors[0])
            total += [w @ support.log_mixture(prior, x) for prior in priors]
        for t, y in enumerate(self.ys):
            if t > 0 and "log_transition" in parts:
                total += self._transition(t - 1, carrying)
            if not is_missing(y) and "log_likelihood" in parts:
                total += self._likelihood(t, y, carrying)
        return total

    def marginal(self, t: int) -> tuple[Array, Array]:
        """Weighted states of one step."""
        return self.steps[t].points()

    def _likelihood(self, t: int, y: Any, models: Sequence[CarryingModel]) -> Array:
        (x, w), now = self.marginal(t), self.chain.beliefs[t].t
        carry, where = carry_at(self.chain, t, x), f"model.log_likelihood at t={now}"
        told = (model.log_likelihood(now, x, y, carry)[0] for model in models)
        return np.array([w @ check_log_likelihoods(log_l, x, where) for log_l in told])

    def _transition(self, t: int, models: Sequence[CarryingModel]) -> Array:
        b, pairs = self.chain.beliefs[t], self.pairs(t)
        carry = carry_at(self.chain, t, pairs.x)
        even = np.full(len(pairs.x), 1.0 / len(pairs.x))
        time = self.chain.beliefs[t + 1].time
        moving = [type(self.chain.models)(model).until(b, time) for model in models]
        laws = [propagate(model, b.t, pairs.x, even, carry) for model in moving]
        support = Support.of(laws[0])
        return np.array([pairs.w @ component_density(support, law, pairs) for law in laws])

    def pairs(self, t: int) -> Pairs:
        """Return weighted pairs (x_t, x_{t+1}) with the smoothed moments of all pairs."""
        step, after = self.chain.step(t), self.steps[t + 1]
        sums = step.contracted(*after.points(), self.chain.prune, by_component=True)
        used = np.flatnonzero(sums.weight > 0.0)
        w = sums.weight[used] / sums.weight.sum()
        mean, spread = sums.conditional()
        if step.displacement is None:
            x_next, w, origin = cubature(mean[used], spread[used], w)
            component = used[origin]
            x = step.x[component // step.each]
        else:
            d, gain = step.x.shape[1], step.displacement.gain
            x, within, _ = displaced_moments(step, sums, after.mean)
            joint = block_matrix(within, gain @ spread, spread)[used]
            both, w, origin = cubature(np.hstack([x, mean])[used], joint, w)
            component, x, x_next = used[origin], both[:, :d], both[:, d:]
        return Pairs(x, component % step.each, x_next, w, step.each > 1)


def component_density(support: Support, law: GaussianMixture, pairs: Pairs) -> Array:
    """Log-density of x_{t+1} and its component, given x_t, for each pair."""
    m = len(pairs.x)
    support.check(law)
    each = len(law) // m
    row = np.arange(m) * each + pairs.component
    shares = law.weights.reshape(m, each)
    share = shares[np.arange(m), pairs.component] / shares.sum(axis=1)
    S = law.matrices if law.matrices.ndim == 2 else law.matrices[row]
    with np.errstate(divide="ignore"):
        return np.asarray(support.log_density(pairs.x_next, law.means[row], S) + np.log(share))


def carry_at(chain: Chain, t: int, x: Array) -> Any:
    """Records of states of step t: those of a chart, None for plain models."""
    model, belief = chain.models.model, chain.beliefs[t]
    if not isinstance(model, Charted):
        return None
    reference = model.first_reference if t == 0 else reference_of(chain.beliefs[t - 1])
    following = gather(belief.carry.reference, np.zeros(len(x), np.intp))
    return ChartedCarry(model.chart.states(reference, x), following, None)
