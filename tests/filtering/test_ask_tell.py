"""A step as a conversation: equal to `step` to the bit, cancelled, misused, and continued."""

import asyncio
import pickle
import threading
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import skh
from pages import in_docstring
from skh.filtering import plans
from skh.filtering.model_protocols import concatenate
from skh.filtering.plans import Look, OneLook, Placement, plan_of
from skh.geometry import SE2, Charted, states_of, wrap

NONLINEAR, LGSS, JMLS = skh.models.nonlinear_benchmark(), skh.models.lgss3(), skh.models.jmls()


class Robot:
    """Drives straight ahead and measures the bearing of a beacon at the origin."""

    def prior(self):
        return np.array([5.0, 0.0, 3.0]), 0.01 * np.eye(3)

    def transition(self, t, s):
        forward = np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), np.zeros(len(s))], axis=1)
        return s + 0.3 * forward, np.diag([0.01, 0.01, 0.1])

    def log_likelihood(self, t, s, y):
        return -0.5 * wrap(y - np.arctan2(-s[:, 1], -s[:, 0]) + s[:, 2]) ** 2 / 0.01


def cases():
    """Models with six observations each, the fourth of which is missing."""
    sources = {
        "plain": (NONLINEAR, NONLINEAR),
        "jump Markov": (JMLS, JMLS),
        "Rao-Blackwellized": (skh.rao_blackwellize(LGSS, [0]), LGSS),
    }
    for name, (model, source) in sources.items():
        ys = list(source.simulate(6, rng=0)[1])
        yield name, model, [*ys[:3], None, *ys[4:]]
    yield "charted", Charted(Robot(), SE2()), [0.1, 0.2, -0.1, None, 0.3, 0.1]


CASES = {name: (model, ys) for name, model, ys in cases()}
RULES = {
    "stratified": skh.Stratified(),
    "default": skh.default_rule(),
    "smoothed": skh.Smoothed(skh.Stratified()),
}
every_model = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def assert_same_belief(a, b, same_record=np.testing.assert_array_equal):
    """Compare all numbers of two beliefs to the bit, or records otherwise."""
    assert (a.t, a.n_likelihood_evaluations) == (b.t, b.n_likelihood_evaluations)
    assert a.log_evidence_increment == b.log_evidence_increment
    for name in ("x", "w", "ancestor", "mmd"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert_same_records(a.carry, b.carry, same_record)


def assert_same_records(a, b, same):
    assert type(a) is type(b)
    if isinstance(a, tuple):
        for one, other in zip(a, b, strict=True):
            assert_same_records(one, other, same)
    elif a is not None:
        same(a, b)


def converse(pf, model, y):
    """One step by `ask` and `tell`, with the model's likelihood."""
    question, looks = pf.ask(observed=y is not None), 0
    while question is not None:
        assert question.t == pf.t
        assert question.look == looks
        if isinstance(model, Charted):
            told = (model.model.log_likelihood(question.t, question.states, y),)
        elif question.carry is None:
            told = (model.log_likelihood(question.t, question.x, y),)
        else:
            told = model.log_likelihood(question.t, question.x, y, question.carry)
        question, looks = pf.tell(*told), looks + 1
    return pf.belief


@dataclass(frozen=True)
class InParts:
    """Evaluates the points of a rule in several looks, the last ones first."""

    rule: skh.Rule
    parts: int = 2
    uses_information = True

    def plan(self, p, n, *, rng):
        points = self.rule(p, n, rng=rng)
        backwards, looks = np.arange(len(points))[::-1], []
        for rows in np.array_split(backwards, min(self.parts, len(points))):
            w, shift = np.full(len(rows), 1 / len(rows)), points.shift
            if shift is not None:
                shift = type(shift)(shift.mean[rows], shift.root[rows])
            values = yield skh.WeightedPoints(
                points.x[rows], w, points.component[rows], shift=shift
            )
            assert values.shape == (len(rows),)
            o = np.exp(values - values.max())
            looks.append(Look(len(rows), o.sum() ** 2 / (o @ o), f"part {len(looks)}"))
        return Placement(points, backwards, None, tuple(looks))


@every_model
@every_rule
def test_a_conversation_equals_a_step_to_the_bit(case, rule):
    model, ys = case
    a, b = (skh.ParticleFilter(model, rule, 20, rng=3) for _ in range(2))
    for y in ys:
        assert_same_belief(a.step(y), converse(b, model, y))
    assert a._rng.bit_generator.state == b._rng.bit_generator.state


@every_model
@every_rule
@pytest.mark.parametrize("parts", [2, 5])
def test_evaluating_the_points_in_parts_changes_no_bit(case, rule, parts):
    model, ys = case
    whole = skh.particle_filter(model, ys, rule, 20, rng=3, history=True)
    split = skh.particle_filter(model, ys, InParts(rule, parts), 20, rng=3, history=True)
    for a, b in zip(whole.history, split.history, strict=True):
        # A reference is the mean of the rows of a look, which are other ones here.
        assert_same_belief(a, b, np.testing.assert_array_max_ulp)
    assert [len(looks) for looks in split.looks] == [parts, parts, parts, 0, parts, parts]
    assert [sum(look.n for look in looks) for looks in split.looks] == [
        *split.n_likelihood_evaluations
    ]
    assert split.looks[0] == split.history[0].looks
    assert np.isnan(split.looks[0][0].error)
    assert whole.looks == ((),) * 6


def test_the_plan_in_the_docstring_is_its_rule():
    scope = in_docstring(plans, dataclass=dataclass, Placement=Placement)
    plan = scope["TwoHalves"](skh.Stratified())
    ys = NONLINEAR.simulate(5, rng=0)[1]
    a, b = (skh.particle_filter(NONLINEAR, ys, rule, 9, rng=0) for rule in (plan, skh.Stratified()))
    np.testing.assert_array_equal(a.means, b.means)


def test_looks_that_disagree_about_a_track_end_it():
    """Tracks of the UAV model are the same for all particles of a step."""
    flight = skh.models.survey_flight(40, rng=0)
    result = skh.particle_filter(
        flight.model, flight.observations, InParts(skh.Stratified(), 5), 10, rng=0, history=True
    )
    records = [belief.carry.inner for belief in result.history]
    for r in records:
        np.testing.assert_array_equal(r.tracks, np.tile(r.tracks[0], (10, 1)))
    assert (records[-1].tracks >= 0).any()
    assert np.isfinite(result.means).all()
    apart = records[-1]._replace(tracks=records[-1].tracks + 100 * np.eye(10, 1, dtype=int))
    joined = flight.model.model.joined(apart)
    assert (joined.tracks == -1).all()
    np.testing.assert_array_equal(flight.model.model.joined(records[-1]).tracks, records[-1].tracks)


@dataclass(frozen=True)
class Corrected:
    """Points of a wider mixture, weighted back to the predictive one by a correction."""

    rule: skh.Rule
    uses_information = False

    def plan(self, p, n, *, rng):
        q = skh.GaussianMixture(p.weights, p.means, 4.0 * p.covariances)
        first, second = self.rule(q, n // 2, rng=rng), self.rule(q, n - n // 2, rng=rng)
        yield first
        yield second
        x, share = np.concatenate([first.x, second.x]), [n // 2 / n, 1 - n // 2 / n]
        w = np.concatenate([s * part.w for s, part in zip(share, (first, second), strict=True)])
        component = np.concatenate([first.component, second.component])
        points = skh.WeightedPoints(x, w, component)
        return Placement(points, None, log_density(p, x) - log_density(q, x))


def log_density(p, x):
    """Of a one-dimensional mixture."""
    variances = p.covariances.reshape(-1)
    exponents = -0.5 * (x - p.means[:, 0]) ** 2 / variances
    return np.log(np.exp(exponents) @ (p.weights * variances**-0.5))


def test_a_correction_of_the_weights_keeps_the_filter_exact():
    """Means of 20 runs against the Kalman filter, within three standard errors."""
    model = skh.models.LinearGaussian(
        *(np.array([[v]]) for v in (0.9, 1.0, 0.5, 0.3)), np.zeros(1), np.eye(1)
    )
    ys = model.simulate(8, rng=0)[1]
    exact = skh.kalman_filter(model, ys)
    plan = Corrected(skh.Stratified())
    runs = [skh.particle_filter(model, ys, plan, 401, rng=s) for s in range(20)]
    assert runs[0].n_likelihood_evaluations.tolist() == [401] * 8
    for found, expected in (
        (np.array([r.means[:, 0] for r in runs]), exact.means[:, 0]),
        (np.exp([r.log_evidence - exact.log_evidence for r in runs]), 1.0),
    ):
        assert (abs(found.mean(0) - expected) < 3 * found.std(0) / len(runs) ** 0.5).all()


# --- the state of a filter during a conversation -------------------------------------------------


@every_model
@pytest.mark.parametrize("looks", [0, 1, 2])
def test_a_cancelled_step_leaves_no_trace(case, looks):
    model, ys = case
    plan = InParts(skh.default_rule(), 3)
    calm, torn = (skh.ParticleFilter(model, plan, 20, rng=1) for _ in range(2))
    for y in ys:
        before, state = torn.belief, torn._rng.bit_generator.state
        question = torn.ask()
        for _ in range(looks):
            question = torn.tell(np.zeros(len(question)), question.carry)
        torn.cancel()
        assert torn.belief is before
        assert torn._rng.bit_generator.state == state
        assert_same_belief(calm.step(y), torn.step(y))


def test_cancelling_without_a_conversation_does_nothing():
    pf = skh.ParticleFilter(NONLINEAR, skh.Stratified(), 5, rng=0)
    pf.cancel()
    pf.step(0.1)
    pf.cancel()
    assert pf.t == 1


def test_an_open_conversation_shows_the_filter_before_the_step():
    pf = skh.ParticleFilter(NONLINEAR, skh.Stratified(), 20, rng=0)
    belief = pf.step(0.3)
    before = [pf.predict(h).means for h in (1, 2, 3)]
    question = pf.ask()
    assert pf.belief is belief
    assert (pf.t, pf.n, question.t) == (1, 20, 1)
    for h in (1, 2, 3):
        np.testing.assert_array_equal(pf.predict(h).means, before[h - 1])
    pf.n = 30
    assert len(question) == 20
    assert pf.tell(np.zeros(20)) is None
    assert pf.belief.n_particles == 20
    assert pf.step(0.2).n_particles == 30


def test_a_question_cannot_be_written_to():
    question = skh.ParticleFilter(LGSS, skh.Stratified(), 5, rng=0).ask()
    with pytest.raises(ValueError, match="read-only"):
        question.x[...] = 7
    assert question.states is None
    assert question.carry is None


def test_a_question_about_a_charted_model_has_states():
    model, ys = CASES["charted"]
    pf = skh.ParticleFilter(model, skh.Stratified(), 8, rng=0)
    pf.step(ys[0])
    question = pf.ask()
    states = question.states.copy()
    with pytest.raises(ValueError, match="read-only"):
        question.states[...] = 7
    pf.tell(np.zeros(8))
    np.testing.assert_array_equal(states_of(pf.belief), states)


def test_the_filter_keeps_no_array_that_it_was_told():
    rule = skh.default_rule()
    told, pf = np.zeros(20), skh.ParticleFilter(LGSS, rule, 20, rng=0)
    pf.ask()
    pf.tell(told)
    first = pf.predict().means.copy(), pf.belief.information.matrix
    told[:] = np.arange(20)
    again = skh.ParticleFilter(LGSS, rule, 20, rng=0)
    again.ask()
    again.tell([0.0] * 20)
    np.testing.assert_array_equal(first[0], again.predict().means)
    np.testing.assert_array_equal(first[1], again.belief.information.matrix)


@pytest.mark.parametrize("copy", [deepcopy, pickle.dumps])
def test_a_filter_is_not_copied_during_a_conversation(copy):
    pf = skh.ParticleFilter(NONLINEAR, skh.Stratified(), 5, rng=0)
    pf.ask()
    with pytest.raises(RuntimeError, match=r"pf\.cancel\(\)"):
        copy(pf)
    pf.cancel()
    copy(pf)


# --- misuse --------------------------------------------------------------------------------------


def test_only_one_conversation_at_a_time():
    pf = skh.ParticleFilter(NONLINEAR, skh.Stratified(), 5, rng=0)
    with pytest.raises(RuntimeError, match=r"call pf\.ask\(\) first"):
        pf.tell(np.zeros(5))
    pf.ask()
    for again in (pf.ask, lambda: pf.ask(observed=False), lambda: pf.step(0.3)):
        with pytest.raises(RuntimeError, match=r"pf\.cancel\(\)"):
            again()
    assert pf.tell(np.zeros(5)) is None  # the first is still open
    with pytest.raises(RuntimeError, match=r"call pf\.ask\(\) first"):
        pf.tell(np.zeros(5))
    assert pf.t == 1
    with pytest.raises(TypeError, match="observed must be True or False, got 'no'"):
        pf.ask(observed="no")


WRONG = {
    "shape": (np.zeros(4), r"tell at t=0 must be given shape \(5,\), .* got \(4,\)"),
    "NaN": ([0, 0, np.nan, 0, 0], "must be given numbers below .inf, got nan for particle 2"),
    "infinity": ([0, np.inf, 0, 0, 0], "must be given numbers below .inf, got inf for particle 1"),
    "text": (["a"] * 5, "must be given real numbers"),
    "ragged": ([[1], [1, 2]], "must be given an array of numbers"),
}


@pytest.mark.parametrize(("told", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_answer_leaves_the_question_open(told, message):
    a, b = (skh.ParticleFilter(NONLINEAR, skh.Stratified(), 5, rng=0) for _ in range(2))
    question = a.ask()
    with pytest.raises((TypeError, ValueError), match=message):
        a.tell(told)
    a.tell(NONLINEAR.log_likelihood(0, question.x, 0.5))
    assert_same_belief(a.belief, b.step(0.5))


def test_records_that_an_observation_changes_must_be_told():
    model, ys = CASES["Rao-Blackwellized"]
    a, b = (skh.ParticleFilter(model, skh.Stratified(), 5, rng=0) for _ in range(2))
    question = a.ask()
    values, records = model.log_likelihood(0, question.x, ys[0], question.carry)
    with pytest.raises(TypeError, match=r"tell\(log_likelihood, records\)"):
        a.tell(values)
    with pytest.raises(ValueError, match="must be given the records of the 5 particles, got None"):
        a.tell(values, None)
    with pytest.raises(ValueError, match="must be given records with one row for each of the 5"):
        a.tell(values, (records[0][:3], records[1][:3]))
    a.tell(values, records)
    assert_same_belief(a.belief, b.step(ys[0]))


def test_likelihood_zero_everywhere_ends_the_conversation():
    generator = np.random.default_rng(0)
    pf = skh.ParticleFilter(NONLINEAR, skh.Stratified(), 6, rng=generator)
    belief, state = pf.step(0.2), generator.bit_generator.state
    pf.ask()
    with pytest.raises(skh.ZeroLikelihoodError, match="t=1 is zero at all 6"):
        pf.tell(np.full(6, -np.inf))
    assert pf.belief is belief
    assert generator.bit_generator.state == state
    assert pf.ask() is not None


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, StopIteration])
def test_an_error_of_the_model_ends_the_step(error):
    """In its first step it fails in the likelihood, in its second in the transition."""
    failing = {"likelihood": True, "transition": False}

    def transition(t, x):
        if failing["transition"]:
            raise error
        return x, 1.0

    def log_likelihood(t, x, y):
        if failing["likelihood"]:
            raise error
        return np.zeros(len(x))

    model = skh.model_from_functions(([0.0], 1.0), transition, log_likelihood)
    generator = np.random.default_rng(0)
    pf = skh.ParticleFilter(model, skh.Stratified(), 5, rng=generator)
    expected = RuntimeError if error is StopIteration else error  # a generator says so
    for part in ("likelihood", "transition"):
        state = generator.bit_generator.state
        failing.update(likelihood=part == "likelihood", transition=part == "transition")
        with pytest.raises((expected, error)):
            pf.step(0.0)
        assert generator.bit_generator.state == state
        failing.update(likelihood=False, transition=False)
        pf.step(0.0)
    assert pf.t == 2


@dataclass(frozen=True)
class Wrong:
    """A plan that returns what it is given."""

    result: object
    rule: skh.Rule = skh.Stratified()
    uses_information = False

    def plan(self, p, n, *, rng):
        points = self.rule(p, n, rng=rng)
        yield points
        return self.result(points)


WRONG_PLANS = {
    "other points": (lambda p: Placement(skh.WeightedPoints(p.x + 1, p.w, p.component)), "asked"),
    "rows out of range": (
        lambda p: Placement(p, np.arange(5) + 1),
        r"rows of its points in 0\.\.4",
    ),
    "other rows": (lambda p: Placement(p, np.arange(5)[::-1]), "points that it asked about"),
    "too few rows": (lambda p: Placement(p, np.arange(4)), "5 points and 4 rows"),
    "NaN": (lambda p: Placement(p, None, np.full(5, np.nan)), "5 numbers below .inf, got nan at 0"),
    "shape": (lambda p: Placement(p, None, np.zeros(4)), r"numbers below .inf, got shape \(4,\)"),
    "nothing": (lambda p: None, "must return WeightedPoints"),
}


@pytest.mark.parametrize(("result", "message"), WRONG_PLANS.values(), ids=WRONG_PLANS)
def test_wrong_placements_are_refused(result, message):
    pf = skh.ParticleFilter(NONLINEAR, Wrong(result), 5, rng=0)
    state = pf._rng.bit_generator.state
    with pytest.raises((TypeError, ValueError), match=message):
        pf.step(0.3)
    assert pf._rng.bit_generator.state == state
    assert pf.step(None).n_particles == 5  # by the rule


def test_a_plan_must_ask():
    @dataclass(frozen=True)
    class Silent(Wrong):
        def plan(self, p, n, *, rng):
            return Placement(self.rule(p, n, rng=rng))
            yield

    pf = skh.ParticleFilter(NONLINEAR, Silent(None), 5, rng=0)
    with pytest.raises(ValueError, match="a plan must ask about at least one point"):
        pf.step(0.3)


def test_rules_and_plans_are_told_apart():
    rule, plan = skh.Stratified(), InParts(skh.Stratified())
    assert plan_of(rule) == OneLook(rule)
    assert plan_of(plan) is plan
    assert not OneLook(rule).uses_information
    assert OneLook(skh.default_rule()).uses_information
    with pytest.raises(TypeError, match="the class InParts: write InParts"):
        plan_of(InParts)
    with pytest.raises(TypeError, match="rule must be a rule such as"):
        skh.Matched(plan)


# --- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("busy", ["ask", "tell"])
def test_another_thread_is_refused_while_a_call_is_under_way(busy):
    """The plan waits inside `ask` or `tell` until all other calls were refused."""
    inside, refused = threading.Event(), threading.Event()

    def wait():
        inside.set()
        assert refused.wait(10)

    @dataclass(frozen=True)
    class Slow(InParts):
        def plan(self, p, n, *, rng):
            points = self.rule(p, n, rng=rng)
            if busy == "ask":
                wait()
            yield points
            if busy == "tell":
                wait()
            return Placement(points)

    pf, zeros = skh.ParticleFilter(NONLINEAR, Slow(skh.Stratified()), 5, rng=0), np.zeros(5)
    call = pf.ask if busy == "ask" else partial(pf.tell, zeros)
    if busy == "tell":
        pf.ask()
    thread = threading.Thread(target=call)
    thread.start()
    assert inside.wait(10)
    for other in (pf.ask, pf.cancel, partial(pf.tell, zeros), partial(pf.step, 0.3)):
        with pytest.raises(RuntimeError, match="use one ParticleFilter per thread"):
            other()
    refused.set()
    thread.join(10)
    if busy == "ask":
        pf.tell(zeros)
    assert pf.t == 1


def test_the_parts_of_a_conversation_may_run_in_several_threads():
    a, b = (skh.ParticleFilter(NONLINEAR, skh.Stratified(), 5, rng=0) for _ in range(2))

    async def step(y):
        question = await asyncio.to_thread(a.ask)
        values = await asyncio.to_thread(NONLINEAR.log_likelihood, 0, question.x, y)
        return await asyncio.to_thread(a.tell, values)

    assert asyncio.run(step(0.4)) is None
    assert_same_belief(a.belief, b.step(0.4))


# --- going on ------------------------------------------------------------------------------------


@every_model
@every_rule
def test_going_on_from_any_belief_gives_the_bits_of_the_whole_run(case, rule):
    model, ys = case
    generator, states = np.random.default_rng(4), []
    pf = skh.ParticleFilter(model, rule, 15, rng=generator)
    history = []
    for y in ys:
        history.append(pf.step(y))
        states.append(generator.bit_generator.state)
    for k in range(len(ys) - 1):
        again = np.random.default_rng()
        again.bit_generator.state = states[k]
        pf = skh.ParticleFilter(model, rule, 15, rng=again, belief=history[k])
        assert pf.t == k + 1
        assert pf.belief is history[k]
        for y, belief in zip(ys[k + 1 :], history[k + 1 :], strict=True):
            assert_same_belief(pf.step(y), belief)


def test_time_may_start_anywhere():
    """x_{t+1} = t without noise; the likelihood sees the time of its observation."""
    seen = []

    def log_likelihood(t, x, y):
        seen.append(t)
        return np.zeros(len(x))

    model = skh.model_from_functions(([0.0], 0.0), lambda t, x: (0 * x + t, 0.0), log_likelihood)
    pf = skh.ParticleFilter(model, skh.Stratified(), 3, rng=0, t=7)
    assert pf.t == 7
    np.testing.assert_allclose([pf.predict(h).mean[0] for h in (1, 2, 3)], [0, 7, 8])
    assert [pf.step(0.0).t, pf.step(0.0).t] == [7, 8]
    np.testing.assert_array_equal(pf.belief.x, 7)
    assert seen == [7, 8]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"t": -1}, ValueError, "t must be a non-negative integer, got -1"),
        ({"t": 1.5}, TypeError, "t must be a non-negative integer, got 1.5"),
        ({"t": True}, TypeError, "t must be a non-negative integer, got True"),
        ({"belief": "last"}, TypeError, "belief must be a Belief, such as pf.belief, got 'last'"),
        ({"belief": 0}, TypeError, "belief must be a Belief, such as pf.belief, got 0"),
    ],
)
def test_wrong_starts_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        skh.ParticleFilter(LGSS, skh.Stratified(), 5, **options)


def test_a_belief_of_another_model_is_refused():
    def belief(model, y):
        return skh.ParticleFilter(model, skh.Stratified(), 5, rng=0).step(y)

    plain = belief(LGSS, 0.3)
    with pytest.raises(ValueError, match="exclude each other: the step after this belief is t=1"):
        skh.ParticleFilter(LGSS, n=5, t=0, belief=plain)
    with pytest.raises(ValueError, match="belief must have dimension 1, as the model has, got 3"):
        skh.ParticleFilter(NONLINEAR, n=5, belief=plain)
    charted = CASES["charted"][0]
    with pytest.raises(ValueError, match="records that the model carries, a ChartedCarry, got"):
        skh.ParticleFilter(charted, n=5, belief=plain)
    robot = belief(charted, 0.1)
    with pytest.raises(ValueError, match="records that the model carries, a NoneType"):
        skh.ParticleFilter(LGSS, n=5, belief=robot)
    short = deepcopy(robot)
    short.__dict__["carry"] = robot.carry._replace(states=robot.carry.states[:3])
    with pytest.raises(ValueError, match=r"belief\.carry must be records with one row for each"):
        skh.ParticleFilter(charted, n=5, belief=short)


def test_a_belief_of_a_file_needs_the_records_of_the_model(tmp_path):
    model, path, rule = CASES["charted"][0], tmp_path / "result.npz", skh.Stratified()
    skh.particle_filter(model, [0.1, 0.2], rule, 5, rng=0, history=True).save(path)
    lookalike = skh.load_result(path).history[-1]
    with pytest.raises(ValueError, match=r"got a lookalike of ChartedCarry .*\(path, model\)$"):
        skh.ParticleFilter(model, n=5, belief=lookalike)
    belief = skh.load_result(path, model).history[-1]
    assert skh.ParticleFilter(model, rule, 5, rng=1, belief=belief).step(0.3).t == 2


def test_records_are_put_together_part_by_part():
    row = np.broadcast_to(np.arange(3.0), (2, 3))
    a = {"m": np.ones((2, 1)), "shared": row, "none": None, "pair": (np.zeros(2), np.ones(2))}
    b = {"m": np.zeros((3, 1)), "shared": row[:1].repeat(3, 0), "none": None}
    b["pair"] = (np.arange(3.0), np.arange(3.0))
    both = concatenate([a, b])
    np.testing.assert_array_equal(both["m"], [[1], [1], [0], [0], [0]])
    np.testing.assert_array_equal(both["pair"][0], [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(both["shared"], np.tile(np.arange(3.0), (5, 1)))
    assert both["none"] is None
    assert concatenate([row, row]).strides[0] == 0
    assert concatenate([row, row]).shape == (4, 3)
