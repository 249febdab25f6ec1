"""The conversation of a step: questions about log-likelihoods, and their answers.

A step of the filter yields a `Question` for each look of its plan and is sent an `Answer`.
`Dialogue` holds the step between two calls of the filter, `evaluated` puts its looks together.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from copy import deepcopy
from time import perf_counter
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np

from skh import _checks
from skh._numba.array_checks import first_not_below_infinity
from skh._numba.reweighting import set_reweighted
from skh._typing import Array, Indices
from skh.filtering.belief import Belief, Predicted, Seconds
from skh.filtering.model_checks import check_carry, check_likelihood, check_log_likelihoods
from skh.filtering.model_protocols import Carry, CarryingModel, concatenate, gather
from skh.filtering.plans import Look, Looks, Placement
from skh.gaussians.predictive import Predictive
from skh.rules.base import WeightedPoints, checked_points

KEPT: Any = object()  # records that an observation does not change


class Question:
    """Points at which the filter wants to know the log-likelihood of the observation of time ``t``.

    ``x`` (m, d) are the points, read-only.  ``carry`` holds their records before the observation,
    for models that carry records, else None.  ``look`` counts the questions of a step from 0.

    >>> import skh
    >>> pf = skh.ParticleFilter(skh.models.nonlinear_benchmark(), skh.Stratified(), 20, rng=0)
    >>> question = pf.ask()
    >>> question
    Question(t=0, look=0, x of shape (20, 1))
    >>> pf.tell(-0.5 * question.x[:, 0] ** 2) is None  # the step is complete
    True
    """

    __slots__ = ("_model", "carry", "look", "t", "x")

    def __init__(self, t: int, x: Array, carry: Carry, look: int, model: Any) -> None:
        self.t, self.x, self.carry, self.look, self._model = t, x, carry, look, model

    def __len__(self) -> int:
        """Number of points."""
        return len(self.x)

    def __repr__(self) -> str:
        return f"Question(t={self.t}, look={self.look}, x of shape {self.x.shape})"

    @property
    def states(self) -> Any:
        """The points as states (poses, say) of a `skh.geometry.Charted` model, else None."""
        states_of = getattr(self._model, "states_of", None)
        return states_of(self.carry) if states_of else None

    def answer(self, log_likelihood: Any, records: Carry = KEPT) -> Answer:
        """Validate an answer; without ``records`` the observation does not change them."""
        where = f"tell at t={self.t}"
        values = check_log_likelihoods(log_likelihood, self.x, where, "be given").copy()
        if records is KEPT:
            if self.carry is not None and getattr(self._model, "updates_records", True):
                raise TypeError(
                    f"{where} must be given the records after the observation, "
                    "tell(log_likelihood, records): this model carries records "
                    "(question.carry, if the observation does not change them)"
                )
            return Answer(values, self.carry)
        return Answer(values, check_carry(records, len(self.x), where, self.carry, "be given"))

    def answer_of_model(self, y: Any) -> Answer:
        """Answer by the model's likelihood of ``y``."""
        returned = self._model.log_likelihood(self.t, self.x, y, self.carry)
        where = f"model.log_likelihood at t={self.t}"
        values, records = check_likelihood(returned, self.carry, self.x, where)
        return Answer(values.copy(), records)  # a model may use its array again


class Answer(NamedTuple):
    """Log-likelihoods (m,) of the points of a question, and their records afterwards."""

    log_likelihood: Array
    carry: Carry


class Evaluated(NamedTuple):
    """Points of step 3 with their records and log-likelihoods, before reweighting."""

    points: WeightedPoints
    carry: Carry
    log_likelihood: Array
    n_evaluations: int
    log_correction: Array | None = None
    looks: tuple[Look, ...] = ()

    @property
    def prior_weights(self) -> Array:
        """Weights of the particles as a sample of the predictive mixture."""
        if self.log_correction is None:
            return self.points.w
        return reweighted(self.points.w, self.log_correction)[0]


def reweighted(w: Array, log_likelihood: Array) -> tuple[Array, float]:
    """Return ``w exp(log_likelihood)`` normalised, read-only, and the logarithm of its sum."""
    new = np.empty(len(w))
    log_sum = set_reweighted(new, w, log_likelihood)
    return _checks.sealed(new), log_sum


class OneAtATime:
    """A context that refuses a second user, from another thread or from within."""

    def __init__(self) -> None:
        self._users: dict[str, object] = {}

    def __enter__(self) -> Self:
        user = object()
        if self._users.setdefault("user", user) is not user:  # atomic, unlike a test and a store
            raise RuntimeError(
                "a step of this filter is under way, in another thread or in its own likelihood: "
                "use one ParticleFilter per thread"
            )
        return self

    def __exit__(self, *error: object) -> None:
        self._users.clear()


class Stopwatch:
    """What the time of a step is spent on, in seconds; plain attributes, since steps are short."""

    __slots__ = ("answers", "asked", "began", "likelihood", "rule")

    def __init__(self) -> None:
        self.began = self.asked = perf_counter()
        self.rule = self.likelihood = 0.0
        self.answers = 0

    def timed(self, choose: Callable[..., Predicted], *args: Any) -> Predicted:
        """Call a function that chooses points; its time is the rule's."""
        start = perf_counter()
        chosen = choose(*args)
        self.rule += perf_counter() - start
        return chosen

    def stopped(self) -> dict[str, Any]:
        """Return the fields of a belief that say how the step went."""
        rule, likelihood = self.rule, self.likelihood
        rest = perf_counter() - self.began - rule - likelihood
        return {"seconds": Seconds(rule, likelihood, rest), "n_looks": self.answers}


class Dialogue:
    """The step of a filter that is under way, if any; an error ends it.

    A step is a generator that yields questions, is sent their answers and returns a belief.  Ended
    by an error or cancelled, it leaves the random state as it was before.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._step: Generator[Question, Any, Belief] | None = None
        self.random_state: Any = None  # before the step
        self.question: Question | None = None
        self.watch = Stopwatch()

    def begin(self, step: Generator[Question, Answer, Belief]) -> Question | Belief:
        """Begin a step; return its first question, or its belief if it has none."""
        if self._step is not None:
            self.refuse("another one")
        self._step, self.random_state = step, self._rng.bit_generator.state
        self.watch = Stopwatch()
        return self.tell(None)

    def tell(self, answer: Answer | None) -> Question | Belief:
        """Answer the question; return the next one, or the belief at the end of the step."""
        assert self._step is not None
        watch = self.watch
        if answer is not None:
            watch.likelihood += perf_counter() - watch.asked
            watch.answers += 1
        try:
            self.question = self._step.send(answer)
            watch.asked = perf_counter()
            return self.question
        except StopIteration as end:
            self._step = self.random_state = self.question = None
            belief: Belief = end.value
            belief.__dict__.update(watch.stopped())
            return belief
        except BaseException:
            self.cancel()
            raise

    def cancel(self) -> None:
        """End a step that is under way."""
        if self._step is not None:
            step, self._step, self.question = self._step, None, None
            self._rng.bit_generator.state, self.random_state = self.random_state, None
            step.close()

    def copied_rng(self) -> np.random.Generator:
        """Return a copy of the generator, as it was before the step that is under way."""
        rng = deepcopy(self._rng)
        if self._step is not None:
            rng.bit_generator.state = self.random_state
        return rng

    def refuse(self, what: str) -> NoReturn:
        """Raise RuntimeError: a step is under way."""
        raise RuntimeError(
            f"a step of this filter is under way: before {what}, finish it with pf.tell() or call "
            "pf.cancel()"
        )

    def __getstate__(self) -> dict[str, Any]:
        if self._step is not None:  # a generator cannot be copied
            self.refuse("a copy is made")
        return self.__dict__


# One look: the points as the plan gave them and as the filter has them, and the answer.
Told = tuple[WeightedPoints, WeightedPoints, Answer]


def advance(looks: Looks, told: Sequence[Told], watch: Stopwatch) -> WeightedPoints | Placement:
    """Return the points that a plan asks about next, or its placement at the end."""
    log_likelihood: Any = told[-1][2].log_likelihood if told else None  # None starts it
    start = perf_counter()
    try:
        given = looks.send(log_likelihood)
    except StopIteration as end:
        given = end.value  # checked by the caller
    watch.rule += perf_counter() - start
    return given


def evaluated(
    placement: Placement, told: Sequence[Told], p: Predictive, model: CarryingModel
) -> Evaluated:
    """Return the points of a placement with their records and log-likelihoods."""
    points, rows, correction, looks, n_others = placement
    if len(told) == 1 and points is told[0][0] and rows is None:  # the usual case, fast
        _, points, (log_likelihood, carry) = told[0]
        n = log_likelihood.size
    else:
        points, rows = _checked_placement(placement, [points for _, points, _ in told], p)
        values = np.concatenate([answer.log_likelihood for _, _, answer in told])
        log_likelihood, n = values[rows], values.size
        carry = _joined(model, [answer.carry for _, _, answer in told], rows)
    if correction is not None:
        correction = _checked_correction(correction, len(points))
    return Evaluated(points, carry, log_likelihood, n + n_others, correction, looks)


def _joined(model: CarryingModel, carries: Sequence[Carry], rows: Indices) -> Carry:
    """Return the records of several looks as those of the particles of one step."""
    carry, joined = gather(concatenate(carries), rows), getattr(model, "joined", None)
    return check_carry(joined(carry), len(rows), "model.joined", carry) if joined else carry


def _checked_placement(
    placement: Placement, told: Sequence[WeightedPoints], p: Predictive
) -> tuple[WeightedPoints, Indices]:
    """Validate that a plan places points it asked about; return them and their rows."""
    if not told:
        raise ValueError("a plan must ask about at least one point, got none")
    points = checked_points(placement.points, p).sealed()
    x = np.concatenate([look.x for look in told])
    component = np.concatenate([look.component for look in told])
    rows = np.arange(len(x)) if placement.rows is None else placement.rows
    rows = _checks.indices("a plan must return the rows of its points", rows, len(x))
    same = rows.shape == points.w.shape and np.array_equal(points.component, component[rows])
    if not same or not np.array_equal(points.x, x[rows]):
        raise ValueError(
            "a plan must return points that it asked about, with their components and rows: "
            f"got {len(points)} points and {len(rows)} rows that differ from those"
        )
    return points, rows


def _checked_correction(log_correction: Array, n: int) -> Array:
    """Validate the correction of log-likelihoods: n numbers below +inf."""
    values = np.asarray(_checks.floats("the log_correction of a plan", log_correction), order="C")
    if values.shape != (n,) or (i := first_not_below_infinity(values)) >= 0:
        got = f"shape {values.shape}" if values.shape != (n,) else f"{values[i]} at {i}"
        raise ValueError(f"the log_correction of a plan must be {n} numbers below +inf, got {got}")
    return values
