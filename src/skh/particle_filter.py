"""Algorithm 2: the particle filter as a template whose sampling step is any `Rule`.

With a random rule it is the bootstrap particle filter, with `QuasiMonteCarlo` it is sequential
quasi-Monte Carlo, with `FWQuad` it is sequential kernel herding.  The steps are numbered as in the
paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from skh import _checks
from skh._checks import RNG, Array, Indices
from skh.belief import Belief, FilterResult, summary
from skh.mixture import GaussianMixture
from skh.model import (
    Carry,
    CarryingModel,
    Model,
    WithoutCarry,
    as_carrying,
    gather,
    predictive,
)
from skh.progress import progress_bar
from skh.rule import Rule, WeightedPoints

Progress = Callable[[int, int], None]


class ZeroLikelihoodError(ValueError):
    """All particles have likelihood zero; the filter is as it was before the step."""


@dataclass(frozen=True, eq=False)
class _Predicted:
    """The particles of a step before their observation: the output of step 3, with its baggage."""

    points: WeightedPoints
    ancestor: Indices
    carry: Carry


class ParticleFilter:
    """A particle filter for streams: feed one observation at a time to `step`.

    Parameters
    ----------
    model : Model or CarryingModel
    rule : Rule
        Turns each predictive mixture into weighted points (step 3 of Algorithm 2).
    n : int
        Number of particles asked of the rule.
    rng : Generator, int or None

    Examples
    --------
    >>> import skh
    >>> model = skh.models.nonlinear_benchmark()
    >>> pf = skh.ParticleFilter(model, skh.FWQuad(skh.GaussianKernel(0.1)), 50, rng=0)
    >>> belief = pf.step(1.3)
    >>> belief.mean.shape, belief.n_particles, pf.t
    ((1,), 50, 1)
    """

    def __init__(
        self, model: Model | CarryingModel, rule: Rule, n: int, *, rng: RNG = None
    ) -> None:
        self._model = as_carrying(model)
        if not callable(rule) or isinstance(rule, type):
            raise TypeError(f"rule must be a rule such as skh.Stratified(), got {rule!r}")
        self._rule = rule
        self._n = _checks.positive_int("n", n)
        self._rng = np.random.default_rng(rng)
        self._belief: Belief | None = None
        # Both are made when first needed and kept until an observation has been taken in, so that a
        # step that fails can be repeated with another observation as if nothing had happened.
        self._mixture: tuple[GaussianMixture, int] | None = None
        self._predicted: _Predicted | None = None

    @property
    def t(self) -> int:
        """Index of the next observation."""
        return 0 if self._belief is None else self._belief.t + 1

    @property
    def belief(self) -> Belief | None:
        """The filtering distribution after the last step, None before the first."""
        return self._belief

    def step(self, y: Any) -> Belief:
        """Take in the observation of time ``t`` (None or NaN: nothing was measured)."""
        predicted = self._predict_particles()
        belief = self._include(predicted, y)
        self._belief, self._mixture, self._predicted = belief, None, None
        return belief

    def predict(self, h: int = 1) -> GaussianMixture:
        """The distribution of the state ``h`` steps after the last observation.

        Exact given the particles for h = 1; further steps go through the rule.  Leaves the filter,
        its random numbers included, as it is.
        """
        h = _checks.positive_int("h", h)
        mixture, _ = self._predictive()
        if h == 1:
            return mixture
        predicted, rng = self._predict_particles(), deepcopy(self._rng)
        for t in range(self.t, self.t + h - 1):
            x = predicted.points.x
            mixture, each = self._propagate(t, x, predicted.points.w, predicted.carry)
            predicted = self._sample(t, mixture, each, x, predicted.carry, rng)
        return mixture

    # --- the steps of Algorithm 2 ----------------------------------------------------------------

    def _predictive(self) -> tuple[GaussianMixture, int]:
        """Step 1 or 5: the mixture from which the next particles are taken."""
        if self._mixture is None:
            b = self._belief
            if b is None:
                self._mixture = self._prior(), 1
            else:
                self._mixture = self._propagate(b.t, b.x, b.w, b.carry)
        return self._mixture

    def _prior(self) -> GaussianMixture:
        prior = self._model.prior()
        if not isinstance(prior, GaussianMixture):
            raise TypeError(f"model.prior() must return a GaussianMixture, got {prior!r}")
        return prior

    def _predict_particles(self) -> _Predicted:
        if self._predicted is None:
            mixture, each = self._predictive()
            b = self._belief
            if b is None:
                points = self._call_rule(mixture, self._rng)
                carry = self._model.initial_carry(points.x)
                self._predicted = _Predicted(points, points.component, carry)
            else:
                self._predicted = self._sample(b.t, mixture, each, b.x, b.carry, self._rng)
        return self._predicted

    def _sample(
        self,
        t: int,
        mixture: GaussianMixture,
        each: int,
        x: Array,
        carry: Carry,
        rng: np.random.Generator,
    ) -> _Predicted:
        """Step 3: particles of t + 1 from the mixture that those of t made."""
        points = self._call_rule(mixture, rng)
        ancestor = points.component if each == 1 else points.component // each
        if isinstance(self._model, WithoutCarry):
            return _Predicted(points, ancestor, None)
        moved = self._model.move(t, x[ancestor], gather(carry, ancestor), points.x)
        return _Predicted(points, ancestor, moved)

    def _call_rule(self, mixture: GaussianMixture, rng: np.random.Generator) -> WeightedPoints:
        points = self._rule(mixture, self._n, rng=rng)
        if not isinstance(points, WeightedPoints):
            raise TypeError(f"rule must return WeightedPoints, got {points!r}")
        return points

    def _include(self, predicted: _Predicted, y: Any) -> Belief:
        """Step 4: include the observation and normalise."""
        points, t, carry, evaluations = predicted.points, self.t, predicted.carry, 0
        log_w = _log(points.w)
        if not is_missing(y):
            log_likelihood, carry = self._weigh(t, points.x, y, carry)
            log_w += log_likelihood
            evaluations = len(points)
        top = log_w.max()
        if top == -np.inf:
            raise ZeroLikelihoodError(
                f"the likelihood of y at t={t} is zero at all {len(points)} particles; "
                "the filter is as it was before: repeat the step with another observation, or None"
            )
        log_w -= top
        w = np.exp(log_w, out=log_w)
        total = float(w.sum())
        w /= total
        increment = float(top) + log(total)
        return Belief(
            t=t,
            x=points.x,
            w=w,
            ancestor=predicted.ancestor,
            log_evidence_increment=increment if evaluations else 0.0,
            mmd=points.mmd,
            n_likelihood_evaluations=evaluations,
            carry=carry,
        )

    def _weigh(self, t: int, x: Array, y: Any, carry: Carry) -> tuple[Array, Carry]:
        values, carry = self._model.log_likelihood(t, x, y, carry)
        values = np.asarray(values, dtype=np.float64)
        where = f"model.log_likelihood at t={t}"
        if values.shape != (len(x),):
            raise ValueError(f"{where} must return shape ({len(x)},), got {values.shape}")
        bad = np.isnan(values) | (values == np.inf)
        if bad.any():
            i = int(bad.argmax())
            raise ValueError(
                f"{where} must return numbers below +inf, got {values[i]} for particle {i} "
                f"at x={x[i]}"
            )
        return values, carry

    def _propagate(self, t: int, x: Array, w: Array, carry: Carry) -> tuple[GaussianMixture, int]:
        """Step 5: propagate the approximation forward."""
        transition = self._model.transition(t, x, carry)
        try:
            mixture, each = predictive(transition, w)
            _checks.points("means", mixture.means, x.shape[1])
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"model.transition at t={t} must return (means, covariances) or a GaussianMixture "
                f"for the {len(x)} particles in {x.shape[1]} dimensions: {error}"
            ) from error
        return mixture, each


def _log(w: Array) -> Array:
    """Logarithms of weights, of which a rule may return zeros; of many equal ones, just one."""
    if len(w) > 1000 and w.min() == w.max():
        return np.full(w.shape, log(w[0]))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(w))


def is_missing(y: Any) -> bool:
    """Whether an observation says that nothing was measured: None, or nothing but NaN."""
    if y is None:
        return True
    values = np.asarray(y) if isinstance(y, (float, np.ndarray, np.floating, list, tuple)) else None
    return (
        values is not None
        and values.size > 0
        and values.dtype.kind == "f"
        and bool(np.isnan(values).all())
    )


def particle_filter(
    model: Model | CarryingModel,
    ys: Sequence[Any] | Array,
    rule: Rule,
    n: int,
    *,
    rng: RNG = None,
    quantiles: Sequence[float] = (),
    history: bool = False,
    progress: bool | Progress = False,
) -> FilterResult:
    """Filter a whole series of observations; the same numbers as `ParticleFilter` step by step.

    Parameters
    ----------
    model : Model or CarryingModel
    ys : sequence of observations
        Whatever ``model.log_likelihood`` takes; None or NaN where nothing was measured.
    rule : Rule
    n : int
        Number of particles asked of the rule at each step.
    rng : Generator, int or None
    quantiles : sequence of floats
        Levels of the filtered quantiles to keep.
    history : bool
        Keep the belief of each step, from which ``result.trajectories()`` reads paths.
    progress : bool or f(steps_done, steps_in_all)
        True shows a progress bar.

    Examples
    --------
    >>> import skh
    >>> model = skh.models.lgss3()
    >>> states, ys = model.simulate(20, rng=0)
    >>> result = skh.particle_filter(model, ys, skh.Stratified(), 100, rng=1)
    >>> result.means.shape, result.n_likelihood_evaluations.sum()
    ((20, 3), np.int64(2000))
    """
    if len(ys) == 0:
        raise ValueError("ys must hold at least one observation, got none")
    pf = ParticleFilter(model, rule, n, rng=rng)
    rows: list[dict[str, Any]] = []
    kept: list[Belief] = []
    with progress_bar(progress, "filtering") as report:
        for t, y in enumerate(ys):
            belief = pf.step(y)
            rows.append(summary(belief, quantiles))
            if history:
                kept.append(belief)
            report(t + 1, len(ys))
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return FilterResult(**columns, history=tuple(kept) if history else None)
