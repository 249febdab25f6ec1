"""Algorithm 2: a particle filter whose sampling step is any `Rule`.

With a random rule it is the bootstrap particle filter, with `QuasiMonteCarlo` sequential
quasi-Monte Carlo, with `FWQuad` sequential kernel herding.  Steps are numbered as in the paper.
"""

from __future__ import annotations

from collections.abc import Generator as Conversation
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.belief import Belief, Predicted, ancestors
from skh.filtering.carried_records import Particles, first_or_moved_records
from skh.filtering.clock import ModelOverTime, Time, as_time
from skh.filtering.continuation import check_continuation
from skh.filtering.conversation import (
    KEPT,
    Answer,
    Dialogue,
    Evaluated,
    OneAtATime,
    Question,
    Told,
    advance,
    evaluated,
    reweighted,
)
from skh.filtering.default_plan import default_plan
from skh.filtering.forecasts import Forecasts
from skh.filtering.likelihood_information import (
    LearnedInformation,
    learned_from,
    tells_information,
    with_step_information,
)
from skh.filtering.model_checks import hidden_moments, zero_likelihood
from skh.filtering.model_protocols import (
    CarryingModel,
    Model,
    as_carrying,
    prior_of,
    propagate,
    propagate_jointly,
    seeded,
)
from skh.filtering.notices import Watched
from skh.filtering.observations import fill_masked, is_missing
from skh.filtering.plans import Looks, Placement, Plan, plan_of
from skh.filtering.residual_form import approximate
from skh.filtering.restart import Restarting
from skh.filtering.saving import Saving
from skh.gaussians.predictive import Predictive
from skh.rules.base import Rule, checked_points


class ParticleFilter(Forecasts, Watched, Restarting, Saving):
    """A particle filter for streams: pass one observation at a time to `step`.

    ``rule`` turns each predictive mixture into ``n`` weighted points, step 3 of Algorithm 2; or it
    is a plan (see `skh.filtering.plans`), by default `skh.default_plan`.  ``rng`` is a
    Generator, a seed or None.

    >>> import skh
    >>> model = skh.models.nonlinear_benchmark()
    >>> pf = skh.ParticleFilter(model, skh.FWQuad(skh.GaussianKernel(0.1)), 50, rng=0)
    >>> belief = pf.step(1.3)
    >>> belief.mean.shape, belief.n_particles, pf.t
    ((1,), 50, 1)

    To evaluate the likelihood yourself, ask where and tell the filter what it is:

    >>> question = pf.ask()
    >>> while question is not None:
    ...     question = pf.tell(-0.5 * (question.x[:, 0] - 1.0) ** 2)
    >>> pf.belief.t
    1

    The first observation is that of time ``t``, by default 0, and the model's prior is the
    distribution of its state.  Or go on from the ``belief`` of any filter of the same model:

    >>> skh.ParticleFilter(model, n=50, rng=1, belief=belief).step(0.2).t
    1
    """

    def __init__(
        self,
        model: Model | CarryingModel,
        rule: Rule | Plan | None = None,
        n: int = 100,
        *,
        rng: RNG = None,
        t: int | None = None,
        belief: Belief | None = None,
    ) -> None:
        self._model = as_carrying(model)
        self._informant = model if tells_information(model) else None
        self._plan = plan_of(default_plan() if rule is None else rule)
        self._uses_information = self._plan.uses_information
        self._n = _checks.positive_int("n", n)
        self._rng = _checks.generator(rng)
        self._first = 0 if t is None else _checks.time_index("t", t)
        self._models = ModelOverTime(self._model)
        self._next: tuple[CarryingModel, Predictive] | None = None  # computed when first needed
        self._alone = OneAtATime()
        self._dialogue = Dialogue(self._rng)
        self._belief: Belief | None = None
        if belief is not None:
            self._belief = check_continuation(belief, self._model, prior_of(self._model).d, t)

    @property
    def t(self) -> int:
        """Index of the next observation; of the one asked about while a step is under way."""
        return self._first if self._belief is None else self._belief.t + 1

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

    def step(self, y: Any, *, t: Any = None) -> Belief:
        """Process the next observation; None or all NaN: nothing was measured.

        ``t`` is when it was made, a number or a date (see `skh.filtering.clock`), if at all.
        """
        y = None if is_missing(y) else fill_masked(y)
        with self._alone:
            outcome = self._dialogue.begin(self._step(y is not None, as_time(t), y))
            try:
                while isinstance(outcome, Question):
                    outcome = self._dialogue.tell(outcome.answer_of_model(y))
            except BaseException:  # leave the filter unchanged
                self._dialogue.cancel()
                raise
            self._belief, self._next = outcome, None
        return outcome

    def ask(self, *, observed: bool = True, t: Any = None, y: Any = None) -> Question | None:
        """Begin the next step: return the points where its likelihood is needed.

        Without an observation (``observed=False``) there is no question: the step is complete.
        ``t`` is the time of the observation, as in `step`; ``y`` is for models that tell its
        ``information``, which is learned without it.
        """
        observed = _checks.boolean("observed", observed)
        with self._alone:
            return self._go_on(self._dialogue.begin(self._step(observed, as_time(t), y)))

    def tell(self, log_likelihood: ArrayLike, records: Any = KEPT) -> Question | None:
        """Answer the open question; return the next one, or None: the step is complete.

        ``log_likelihood`` has a number for each of its points, -inf allowed.  ``records`` are those
        after the observation, for models that carry records and change them then.  After an invalid
        answer the question stays open; any other error cancels the step.
        """
        with self._alone:
            question = self._dialogue.question
            if question is None:
                raise RuntimeError("there is no question to answer: call pf.ask() first")
            return self._go_on(self._dialogue.tell(question.answer(log_likelihood, records)))

    def cancel(self) -> None:
        """Cancel the step that `ask` began, if any: all is as before it."""
        with self._alone:
            self._dialogue.cancel()

    def _go_on(self, outcome: Question | Belief) -> Question | None:
        """Return a question; keep the belief of a complete step."""
        if isinstance(outcome, Question):
            return outcome
        self._belief, self._next = outcome, None
        return None

    def predict(self, h: int = 1, *, joint: bool = False, t: Any = None) -> Predictive:
        """Return the distribution of the state ``h`` steps after the last observation.

        Exact given the particles for h = 1; further steps use the rule.  ``joint`` predicts (x, z),
        for models with ``joint_transition``.  Does not change the filter.  In charts it is in
        coordinates (`skh.geometry.reference_of`); ``t`` is the time of the last of h equal steps.
        """
        h, joint = _checks.positive_int("h", h), _checks.boolean("joint", joint)
        model = self._models.ahead(self._belief, as_time(t), h)
        if h == 1 and not joint:
            return self._predictive(model)
        rng = self._dialogue.copied_rng()
        particles = self._particles_ahead(h - 1, model, rng)
        ahead, model = propagate_jointly if joint else propagate, seeded(model, rng)
        return ahead(model, self.t + h - 2, particles.x, particles.w, particles.carry)

    def _particles_ahead(self, h: int, model: CarryingModel, rng: Generator) -> Belief | Predicted:
        """Return the particles ``h`` steps after the last observation."""
        if h == 0:
            if self._belief is None:
                raise ValueError("joint prediction needs a first step: there is no z before it")
            return self._belief
        particles = self._sample(model, self.t - 1, self._belief, self._predictive(model), rng)
        for t in range(self.t, self.t + h - 1):
            p = propagate(seeded(model, rng), t, particles.x, particles.w, particles.carry)
            particles = self._sample(model, t, particles, p, rng)
        return particles

    # --- the steps of Algorithm 2 ---------------------------------------------------------------

    def _step(
        self, observed: bool, time: Time | None, y: Any = None
    ) -> Conversation[Question, Answer, Belief]:
        """One iteration of Algorithm 2; yields questions and is sent their answers."""
        t, model, watch = self.t, self._models.until(self._belief, time), self._dialogue.watch
        p = self._predictive(model)  # step 1 or 5
        if not observed:  # no likelihood to resolve
            drawn = watch.timed(self._sample, model, t - 1, self._belief, p, self._rng)  # step 3
            new = Evaluated(*drawn, np.zeros(len(drawn.points)), 0)
            return self._include(p, new, None, time)
        looks, learned = self._looks(p, y)  # step 3
        told: list[Told] = []
        while not isinstance(given := advance(looks, told, watch), Placement):
            points = checked_points(given, p).sealed()
            carry = first_or_moved_records(model, t - 1, self._belief, points, p)
            answer = yield Question(t, points.x, carry, len(told), self._model)
            told.append((given, points, answer))
        new = evaluated(given, told, p, self._model)
        return self._include(p, new, learned, time)  # step 4

    def _predictive(self, model: CarryingModel) -> Predictive:
        """Step 1 or 5: the mixture that the next particles are taken from."""
        if self._next is None or self._next[0] is not model:
            b, drawing = self._belief, seeded(model, self._rng)
            if b is None:
                self._next = model, prior_of(drawing)  # step 1
            else:
                self._next = model, propagate(drawing, b.t, b.x, b.w, b.carry)  # step 5
        return self._next[1]

    def _sample(
        self, model: CarryingModel, t: int, old: Particles, p: Predictive, rng: Generator
    ) -> Predicted:
        """Step 3 without an observation: particles at t + 1 from ``p``, by the rule."""
        points = checked_points(self._plan.rule(p, self._n, rng=rng), p).sealed()
        return Predicted(points, first_or_moved_records(model, t, old, points, p))

    def _looks(self, p: Predictive, y: Any) -> tuple[Looks, Array | None]:
        """Step 3: the looks of the plan, and the learned information that it uses, if any."""
        if not self._uses_information:
            return self._plan.plan(p, self._n, rng=self._rng), None
        of = self._informant, self.t, p, self._belief, y
        if approximation := approximate(*of, self._n, self._dialogue.watch):
            return approximation.looks(self._plan, p, self._n, self._rng), None
        p, learned = with_step_information(*of)
        return self._plan.plan(p, self._n, rng=self._rng), learned

    def _include(
        self, p: Predictive, new: Evaluated, used: Array | None, time: Time | None
    ) -> Belief:
        """Step 4: reweight and normalise; ``used`` is the learned information the rule had."""
        t, points, carry, log_likelihood = self.t, new.points, new.carry, new.log_likelihood
        if new.log_correction is not None:
            log_likelihood = log_likelihood + new.log_correction
        w, increment = reweighted(points.w, log_likelihood)
        if increment == -np.inf:
            raise zero_likelihood(t, len(w))
        belief = object.__new__(Belief)  # three times as fast as its __init__
        belief.__dict__.update(
            t=t,
            x=points.x,
            w=w,
            ancestor=ancestors(points, p),
            log_evidence_increment=increment if new.n_evaluations else 0.0,
            mmd=points.mmd,
            n_likelihood_evaluations=new.n_evaluations,
            carry=carry,
            z=hidden_moments(self._model, t, len(w), carry),
            information=self._learn(new, used),
            looks=new.looks,
            time=time,
        )
        self._watch(belief, p)
        return belief

    def _learn(self, new: Evaluated, used: Array | None) -> LearnedInformation | None:
        """Update the learned information; see `likelihood_information`."""
        before = getattr(self._belief, "information", None)
        if new.n_evaluations == 0:
            return before
        told = new.points.x, new.prior_weights, new.log_likelihood
        return learned_from(before, told, used)
