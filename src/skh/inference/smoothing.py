r"""Forward filtering, backward smoothing: the past given all observations.

A filter's belief at time t knows :math:`y_{0:t}`.  Going back from the last one, each particle gets
the weight that it has given all observations (Doucet, Godsill and Andrieu, 2000):

.. math:: W_t^i = \sum_j W_{t+1}^j
    \frac{w_t^i f(x_{t+1}^j | x_t^i)}{\sum_l w_t^l f(x_{t+1}^j | x_t^l)}.

This takes :math:`N^2` transition densities per step and no likelihood.  Where the transitions are
narrow, particles are moved as well; see `skh.inference.backward`, which has one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.belief import Belief
from skh.filtering.clock import ModelOverTime
from skh.filtering.model_protocols import CarryingModel, Model, as_carrying
from skh.filtering.observations import as_series
from skh.filtering.plans import Plan
from skh.filtering.rao_blackwell import RaoBlackwellized
from skh.filtering.series import particle_filter
from skh.gaussians.linear_algebra import apply, symmetric, transpose
from skh.inference.backward import (
    TINY_WEIGHT,
    BackwardStep,
    Contracted,
    backward_step,
    check_markov,
)
from skh.inference.charted_states import mean_states
from skh.inference.hidden_linear import JointChain
from skh.inference.hidden_modes import ModesChain
from skh.inference.paths import draw_paths
from skh.inference.smoothing_result import SmoothedStep, SmoothingResult
from skh.models.jump_markov import JumpMarkov
from skh.rules.base import Rule


def smooth(
    model: Model | CarryingModel,
    ys: Iterable[Any],
    rule: Rule | Plan | None = None,
    n: int = 100,
    *,
    rng: RNG = None,
    times: Iterable[Any] | None = None,
    on_zero_likelihood: Literal["raise", "skip"] = "raise",
    regularize: bool = True,
    prune: float = 0.0,
    paths: int | None = None,
) -> SmoothingResult:
    """Filter a series of observations, then smooth; the arguments are those of `particle_filter`.

    For ``regularize``, ``prune`` and ``paths`` see `FilterResult.smooth`, which this calls.

    Examples
    --------
    >>> import skh
    >>> model = skh.models.lgss3()
    >>> states, ys = model.simulate(20, rng=0)
    >>> smoothed = skh.smooth(model, ys, n=50, rng=1)
    >>> smoothed.means.shape, smoothed.quantile([0.05, 0.95]).shape
    ((20, 3), (20, 2, 3))
    """
    ys, rng = as_series(ys), _checks.generator(rng)
    run = particle_filter(
        model,
        ys,
        rule,
        n,
        rng=rng,
        times=times,
        on_zero_likelihood=on_zero_likelihood,
        history=True,
    )
    return run.smooth(model, ys, regularize=regularize, prune=prune, paths=paths, rng=rng)


def smooth_history(
    history: Sequence[Belief] | None,
    model: Model | CarryingModel,
    ys: Iterable[Any] | None = None,
    *,
    regularize: bool = True,
    prune: float = 0.0,
    paths: int | None = None,
    rng: RNG = None,
    before: Belief | None = None,
) -> SmoothingResult:
    """Smooth the beliefs of a filter of ``model``; see `FilterResult.smooth`.

    ``before`` is the belief before the first, if that is not the first of the filter.
    """
    if history is None:
        raise ValueError("smoothing needs particle_filter(..., history=True)")
    regularize, prune = _checks.boolean("regularize", regularize), check_prune(prune)
    carrying, beliefs = as_carrying(model), tuple(history)
    models, d = ModelOverTime(carrying), beliefs[0].x.shape[1]
    if (given := carrying.prior().d) != d:
        raise ValueError(f"model must be that of the run, in {d} dimensions, got one in {given}")
    if isinstance(carrying, JumpMarkov):
        modes = ModesChain(carrying, beliefs, prune)
        return SmoothingResult.of(modes, tuple(modes.backward_pass()))
    if isinstance(carrying, RaoBlackwellized):
        m = 10 * len(beliefs[-1].w) if paths is None else _checks.positive_int("paths", paths)
        joint = JointChain(models, beliefs)
        return SmoothingResult.of(joint, joint.smoothed(m, ys, _checks.generator(rng)))
    check_markov(carrying)
    chain = Chain(models, beliefs, regularize, prune, before)
    return SmoothingResult.of(chain, tuple(backward_pass(chain)))


@dataclass(frozen=True, eq=False)
class Chain:
    """The beliefs of a filter and how to go back from each to the one before."""

    models: ModelOverTime
    beliefs: tuple[Belief, ...]
    regularize: bool = True
    prune: float = 0.0
    before: Belief | None = None  # the first one, if that is not the first of the filter

    def step(self, t: int) -> BackwardStep:
        """The step from belief t + 1 back to belief t, as indices of ``beliefs``."""
        return backward_step(self.models, self.beliefs[t], self.beliefs[t + 1], self.regularize)

    def paths(self, m: int, rng: np.random.Generator) -> Array:
        """Draw paths (m, T, d)."""
        return draw_paths(self, m, rng)

    def mean_states(self, steps: tuple[SmoothedStep, ...]) -> Any:
        """Mean states, for models in charts."""
        return mean_states(self.models.model, self.beliefs, steps, self.before)


def backward_pass(chain: Chain) -> list[SmoothedStep]:
    """Return the smoothed particles of all steps."""
    last = chain.beliefs[-1]
    steps = [SmoothedStep(last.x, last.w)]
    for t in range(len(chain.beliefs) - 2, -1, -1):
        after, step = steps[-1], chain.step(t)
        sums = step.contracted(*after.points(), chain.prune)
        steps.append(smoothed_step(step, sums, after))
    return steps[::-1]


def smoothed_step(step: BackwardStep, sums: Contracted, after: SmoothedStep) -> SmoothedStep:
    """Return the smoothed particles of time t, and the covariance with those of t + 1."""
    pruned = sums.pruned_pairs, sums.pruned_mass
    W = sums.weight / sums.weight.sum()
    if step.displacement is None:
        e_next = sums.first - W[:, None] * (after.mean - sums.origin)
        cross = e_next.T @ (step.x - W @ step.x)
        return SmoothedStep(step.x, W, None, cross, *pruned)
    x, within, cross = displaced_moments(step, sums, after.mean)
    if step.each > 1:
        W, x, within = merged(W, x, within, step.each)
    return SmoothedStep(x, W, within, cross, *pruned)


def displaced_moments(
    step: BackwardStep, sums: Contracted, mean_next: Array
) -> tuple[Array, Array, Array]:
    """Mean and covariance of x_t for each component, and Cov(x_{t+1}, x_t) of all together."""
    law, (towards, spread) = step.displacement, sums.conditional()
    assert law is not None
    x = law.base + apply(law.gain, towards - law.centre)
    inside = law.gain @ spread @ transpose(law.gain)
    within = inside + law.root @ transpose(law.root)
    w = sums.weight / sums.weight.sum()
    cross = (w[:, None] * (towards - mean_next)).T @ (x - w @ x)
    cross += np.einsum("k,kij,klj->il", w, spread, law.gain)
    return x, symmetric(within), cross


def merged(w: Array, x: Array, within: Array, each: int) -> tuple[Array, Array, Array]:
    """Merge ``each`` consecutive components into one with their mean and covariance."""
    d = x.shape[1]
    w, x, within = w.reshape(-1, each), x.reshape(-1, each, d), within.reshape(-1, each, d, d)
    total = np.maximum(w.sum(axis=1), TINY_WEIGHT)
    share = w / total[:, None]
    mean = np.einsum("ik,ikd->id", share, x)
    e = x - mean[:, None]
    covariance = np.einsum("ik,ikab->iab", share, within + e[..., :, None] * e[..., None, :])
    return w.sum(axis=1), mean, covariance


def check_smoothable(model: CarryingModel) -> None:
    """Raise TypeError for models that cannot be smoothed."""
    if not isinstance(model, JumpMarkov | RaoBlackwellized):
        check_markov(model)


def check_prune(prune: float) -> float:
    """Validate the backward weight below which pairs are pruned."""
    value = _checks.non_negative("prune", prune)
    if value >= 0.5:
        raise ValueError(f"prune must be a backward weight in [0, 0.5), got {prune!r}")
    return value
