"""Algorithm 2: a particle filter whose sampling step is any `Rule`.

With a random rule it is the bootstrap particle filter, with `QuasiMonteCarlo` sequential
quasi-Monte Carlo, with `FWQuad` sequential kernel herding.  Steps are numbered as in the paper.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.random import Generator

from skh import _checks
from skh._numba.reweighting import reweighted
from skh._typing import RNG, Array
from skh.filtering.belief import (
    Belief,
    Predicted,
)
from skh.filtering.carried_records import move_records
from skh.filtering.likelihood_information import LearnedInformation, model_information
from skh.filtering.model_checks import check_carry, check_hidden_moments, check_likelihood
from skh.filtering.model_protocols import Carry, CarryingModel, Model, as_carrying, predictive
from skh.filtering.observations import fill_masked, is_missing
from skh.frank_wolfe.default import default_rule
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive
from skh.rules.base import Rule, checked_points, uses_information


class ZeroLikelihoodError(ValueError):
    """All particles have likelihood zero; the filter is left unchanged.

    >>> import skh
    >>> pf = skh.ParticleFilter(skh.models.nonlinear_benchmark(), skh.Stratified(), 10, rng=0)
    >>> try:
    ...     pf.step(1e200)
    ... except skh.ZeroLikelihoodError:
    ...     belief = pf.step(None)  # an outlier: go on without it
    """


class ParticleFilter:
    """A particle filter for streams: pass one observation at a time to `step`.

    ``rule`` (by default `default_rule()`) turns each predictive mixture into ``n`` weighted points,
    step 3 of Algorithm 2.  ``rng`` is a Generator, a seed or None.

    >>> import skh
    >>> model = skh.models.nonlinear_benchmark()
    >>> pf = skh.ParticleFilter(model, skh.FWQuad(skh.GaussianKernel(0.1)), 50, rng=0)
    >>> belief = pf.step(1.3)
    >>> belief.mean.shape, belief.n_particles, pf.t
    ((1,), 50, 1)
    """

    def __init__(
        self,
        model: Model | CarryingModel,
        rule: Rule | None = None,
        n: int = 100,
        *,
        rng: RNG = None,
    ) -> None:
        self._model = as_carrying(model)
        self._observation_metric = getattr(model, "observation_metric", None)
        self._rule = default_rule() if rule is None else rule
        _checks.rule("rule", self._rule)
        self._uses_information = uses_information(self._rule)
        self._n = _checks.positive_int("n", n)
        self._rng = _checks.generator(rng)
        self._belief: Belief | None = None
        self._next: Predictive | None = None  # computed when first needed
        self._user: dict[str, object] = {}  # the step under way

    @property
    def t(self) -> int:
        """Index of the next observation."""
        return 0 if self._belief is None else self._belief.t + 1

    @property
    def belief(self) -> Belief | None:
        """The filtering distribution after the last step, None before the first."""
        return self._belief

    @property
    def n(self) -> int:
        """Number of particles requested from the rule at the next step; may be set."""
        return self._n

    @n.setter
    def n(self, n: int) -> None:
        self._n = _checks.positive_int("n", n)

    def step(self, y: Any) -> Belief:
        """Process the observation of time ``t``; None or all NaN: nothing was measured."""
        ours = object()
        if self._user.setdefault("step", ours) is not ours:  # atomic, unlike a test and a store
            raise RuntimeError(
                "a step of this filter is under way, in another thread or in its own likelihood: "
                "use one ParticleFilter per thread"
            )
        random_state = self._rng.bit_generator.state
        try:
            self._belief, self._next = self._step(None if is_missing(y) else fill_masked(y)), None
        except BaseException:  # leave the filter unchanged
            self._rng.bit_generator.state = random_state
            raise
        finally:
            self._user.clear()
        return self._belief

    def predict(self, h: int = 1, *, joint: bool = False) -> Predictive:
        """Return the distribution of the state ``h`` steps after the last observation.

        Exact given the particles for h = 1; further steps use the rule.  ``joint`` predicts (x, z),
        for models with ``joint_transition``.  Does not change the filter or its random state.  For
        `skh.geometry.Charted` models it is in coordinates; see `skh.geometry.reference_of`.
        """
        h, joint = _checks.positive_int("h", h), _checks.boolean("joint", joint)
        if h == 1 and not joint:
            return self._predictive()
        propagate = self._propagate_jointly if joint else self._propagate
        return propagate(self.t + h - 2, self._particles_ahead(h - 1))

    def _particles_ahead(self, h: int) -> Belief | Predicted:
        """Return the particles ``h`` steps after the last observation."""
        if h == 0:
            if self._belief is None:
                raise ValueError("joint prediction needs a first step: there is no z before it")
            return self._belief
        rng = deepcopy(self._rng)
        particles = self._sample(self.t - 1, self._belief, self._predictive(), rng)
        for t in range(self.t, self.t + h - 1):
            particles = self._sample(t, particles, self._propagate(t, particles), rng)
        return particles

    # --- the steps of Algorithm 2 ---------------------------------------------------------------

    def _step(self, y: Any) -> Belief:
        """One iteration of Algorithm 2."""
        p = self._predictive()  # step 1 or 5
        # Without an observation there is no likelihood to resolve.
        information = None if y is None else self._information(p)
        if information is not None:
            p = p.with_information(information)
        particles = self._sample(self.t - 1, self._belief, p, self._rng)  # step 3
        return self._include(particles, y, information)  # step 4

    def _predictive(self) -> Predictive:
        """Step 1 or 5: the mixture that the next particles are taken from."""
        if self._next is None:
            b = self._belief
            self._next = self._prior() if b is None else self._propagate(b.t, b)
        return self._next

    def _prior(self) -> Predictive:
        """Step 1: the prior."""
        prior = self._model.prior()
        if not isinstance(prior, GaussianMixture):
            raise TypeError(f"model.prior() must return a GaussianMixture, got {prior!r}")
        return Predictive.of(prior)

    def _sample(
        self, t: int, old: Belief | Predicted | None, p: Predictive, rng: Generator
    ) -> Predicted:
        """Step 3: particles at t + 1 from ``p``, the mixture of the ``old`` ones (or prior)."""
        points = checked_points(self._rule(p, self._n, rng=rng), p).sealed()
        if old is None:
            carry = self._model.initial_carry(points.x)
            carry = check_carry(carry, len(points), "model.initial_carry")
        else:
            carry = move_records(self._model, t, old, points, p)
        ancestor = points.component // p.components_per_particle
        ancestor.setflags(write=False)
        return Predicted(points.x, points.w, ancestor, points.mmd, carry)

    def _information(self, p: Predictive) -> Array | None:
        """Information of the next observation, given or learned, if the rule uses it."""
        if not self._uses_information:
            return None
        if self._observation_metric is not None:
            return model_information(self._observation_metric, self.t, p)
        b = self._belief
        return None if b is None or b.information is None else b.information.matrix

    def _include(self, new: Predicted, y: Any, used: Array | None) -> Belief:
        """Step 4: reweight and normalise; ``used`` is the information that the rule had."""
        t, n, carry, evaluations = self.t, len(new.w), new.carry, 0
        information = None if self._belief is None else self._belief.information
        if y is None:
            log_likelihood = np.zeros(n)
        else:
            returned = self._model.log_likelihood(t, new.x, y, carry)
            where = f"model.log_likelihood at t={t}"
            log_likelihood, carry = check_likelihood(returned, carry, new.x, where)
            log_likelihood = log_likelihood.copy()  # a model may use its array again
            information = self._learn(new, log_likelihood, used)
            evaluations = n
        w, increment = reweighted(new.w, log_likelihood)
        w.setflags(write=False)
        if increment == -np.inf:
            raise ZeroLikelihoodError(
                f"the likelihood of y at t={t} is zero at all {n} particles: pass another "
                "observation, or None for no measurement (a ParticleFilter is left unchanged)"
            )
        return Belief(
            t=t,
            x=new.x,
            w=w,
            ancestor=new.ancestor,
            log_evidence_increment=increment if evaluations else 0.0,
            mmd=new.mmd,
            n_likelihood_evaluations=evaluations,
            carry=carry,
            z=self._hidden_moments(t, n, carry),
            information=information,
        )

    def _learn(
        self, new: Predicted, log_likelihood: Array, used: Array | None
    ) -> LearnedInformation:
        """Update the learned information; see `likelihood_information`."""
        before = None if self._belief is None else self._belief.information
        if before is None:
            return LearnedInformation(new.x, new.w, log_likelihood)
        learned = used if self._observation_metric is None else None
        return before.then(new.x, new.w, log_likelihood, pooled=learned)

    def _hidden_moments(self, t: int, n: int, carry: Carry) -> tuple[Array, Array] | None:
        if moments := getattr(self._model, "hidden_moments", None):
            return check_hidden_moments(moments(carry), n, f"model.hidden_moments at t={t}")
        return None

    def _propagate(self, t: int, old: Belief | Predicted) -> Predictive:
        """Step 5: propagate the particles through the transition."""
        n, d = old.x.shape
        transition = self._model.transition(t, old.x, old.carry)
        try:
            p = predictive(transition, old.w)
            if p.d != d:
                raise ValueError(f"means must have shape (n, {d}), got {p.means.shape}")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"model.transition at t={t} must return (means, covariances) or a GaussianMixture "
                f"for the {n} particles in {d} dimensions: {error}"
            ) from error
        return p

    def _propagate_jointly(self, t: int, old: Belief | Predicted) -> Predictive:
        joint = getattr(self._model, "joint_transition", None)
        if joint is None:
            raise TypeError("joint prediction needs a model with joint_transition(t, x, carry)")
        return predictive(joint(t, old.x, old.carry), old.w)
