"""What the time of a step is spent on: rule, likelihood, rest."""

import time

import numpy as np
import pytest

import skh
from skh.filtering.belief import Seconds

PAUSE = 0.02  # seconds; a sleep is never shorter
MODEL = skh.models.nonlinear_benchmark()


class SlowRule:
    """Stratified points, after a pause."""

    def __call__(self, p, n, *, rng):
        time.sleep(PAUSE)
        return skh.Stratified()(p, n, rng=rng)


class SlowLikelihood:
    """The benchmark model with a pause in its likelihood, and another in its transition."""

    prior = staticmethod(MODEL.prior)

    def __init__(self, in_likelihood=0.0, in_transition=0.0):
        self.in_likelihood, self.in_transition = in_likelihood, in_transition

    def transition(self, t, x):
        time.sleep(self.in_transition)
        return MODEL.transition(t, x)

    def log_likelihood(self, t, x, y):
        time.sleep(self.in_likelihood)
        return MODEL.log_likelihood(t, x, y)


@pytest.mark.parametrize(
    ("part", "model", "rule"),
    [
        ("rule", MODEL, SlowRule()),
        ("likelihood", SlowLikelihood(in_likelihood=PAUSE), skh.Stratified()),
        ("rest", SlowLikelihood(in_transition=PAUSE), skh.Stratified()),
    ],
)
def test_a_pause_is_in_the_part_where_it_was_made(part, model, rule):
    start = time.perf_counter()
    result = skh.particle_filter(model, [0.1, 0.2, None, 0.4], rule, 10, rng=0)
    elapsed = time.perf_counter() - start
    slow = getattr(result.seconds, part)
    assert slow.shape == result.seconds.total.shape == (4,)
    expected = {"rule": [0, 1, 2, 3], "likelihood": [0, 1, 3], "rest": [1, 2, 3]}[part]
    assert (slow[expected] >= PAUSE).all()
    parts = np.array([result.seconds.rule, result.seconds.likelihood, result.seconds.rest])
    assert (parts > -1e-9).all()
    assert parts.sum() <= elapsed
    assert result.seconds.likelihood[2] == 0.0  # nothing was observed
    np.testing.assert_array_equal(result.n_looks, [1, 1, 0, 1])


def test_the_time_between_ask_and_tell_is_that_of_the_likelihood():
    pf = skh.ParticleFilter(MODEL, n=20, rng=0)
    question, asked = pf.ask(), 0
    while question is not None:
        time.sleep(PAUSE)
        asked += 1
        question = pf.tell(MODEL.log_likelihood(0, question.x, 0.3))
    assert pf.belief.n_looks == asked
    assert pf.belief.seconds.likelihood >= asked * PAUSE


def test_a_cancelled_step_leaves_no_time_behind():
    pf = skh.ParticleFilter(MODEL, skh.Stratified(), 20, rng=0)
    pf.ask()
    time.sleep(PAUSE)
    pf.cancel()
    start = time.perf_counter()
    belief = pf.step(0.3)
    assert belief.seconds.total <= time.perf_counter() - start


def test_looks_are_counted():
    model = skh.models.range_bearing()
    result = skh.particle_filter(model, model.simulate(4, rng=0)[1], n=20, rng=1)
    described = [len(looks) for looks in result.looks]
    np.testing.assert_array_equal(result.n_looks, described)


def test_a_belief_made_by_hand_has_no_seconds():
    one = np.ones(1)
    belief = skh.Belief(0, np.zeros((1, 1)), one, np.zeros(1, dtype=int), 0.0, np.nan, 0)
    assert belief.seconds is None
    assert belief.n_looks == 0
    assert Seconds(1, 2, 3).total == 6
