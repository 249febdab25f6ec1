"""The UAV experiment: its tasks, errors against hand calculation, claims on made-up records."""

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest

import skh
from skh.models.uav_navigation import survey_flight
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import run_tasks
from skh.reproduction.rule_wrappers import Observed, Whitened
from skh.reproduction.statistics import MissingError
from skh.reproduction.uav.claims import (
    best_with_few,
    end_ratio,
    errors,
    errors_accumulate,
    few_beat_many,
    few_beat_many_in_one_step,
    like_a_reference,
    placing_pays,
    time_per_step,
    whole,
)
from skh.reproduction.uav.figures import pictures
from skh.reproduction.uav.one_step import filtered, one_step_errors
from skh.reproduction.uav.tasks import Uav, true_flight
from small import UAV

pytestmark = pytest.mark.xdist_group("uav-study")  # one worker makes what all tests here read


@pytest.fixture(scope="module")
def records():
    return run_tasks(UAV)


def test_references_are_tasks_of_their_own():
    tasks = Uav().tasks()
    keys = [t.key for t in tasks]
    assert len(set(keys)) == len(keys) == 5 * 3 * 10 + 10 + 4 * 2 + 5
    assert sum(k.startswith("reference_0_") for k in keys) == 10
    assert replace(Uav(), runs=1, reference_runs=(1, 1)).tasks() == tasks[: 5 * 5]


def test_a_task_is_a_function_of_its_name(records):
    task = UAV.tasks()[2]
    seconds = {"seconds": 0.0, "rule_seconds": 0.0}
    again = [str(replace(r, **seconds)) for r in UAV.work(task)]
    first = [r for r in records if r.seed == task.seed]
    assert [str(replace(r, **seconds)) for r in first] == again


def test_each_run_records_its_positions_and_totals(records):
    of_run = [
        r for r in records if (r.model, r.rule, r.n, r.batch) == ("flight-1", "SKH-FW", 10, 1)
    ]
    assert [r.time for r in of_run[:-1]] == pytest.approx([0.15, 0.3, 0.45, 0.6])
    end = of_run[-1]
    assert isnan(end.time)
    assert (end.x, end.y, end.z) == (of_run[-2].x, of_run[-2].y, of_run[-2].z)
    assert 0 < end.rule_seconds < end.seconds
    assert end.m == UAV.search_points
    truth = true_flight("flight-1", UAV.T).poses.position[-1]
    assert of_run[-2].rmse == pytest.approx(np.linalg.norm([end.x, end.y, end.z] - truth))


def run(rule, n, batch, x, flight=0, time=nan):
    return Record(experiment="uav", model=f"flight-{flight}", rule=rule, n=n, batch=batch, seed=0,
                  x=x, y=0.0, z=0.0, time=time)  # fmt: skip


REFERENCES = [run("reference", 100_000, b, x) for b, x in enumerate((0.9, 1.0, 1.1))]


def test_errors_are_distances_to_the_mean_of_the_references():
    made = [*REFERENCES, run("PF", 50, 0, 3.0), run("PF", 50, 1, 0.5)]
    np.testing.assert_allclose(errors(made, rule="PF", n=50), [2.0, 0.5])
    np.testing.assert_allclose(errors(made, rule="reference"), [0.15, 0.0, 0.15], atol=1e-12)
    with pytest.raises(MissingError, match="two runs"):
        errors(made[:1], rule="reference")
    with pytest.raises(MissingError):
        errors(made[3:], rule="PF")


def flights(*cells):
    """Runs on flights with the references above; each cell is rule, N and the errors by flight."""
    made = []
    for flight in range(len(cells[0][2])):
        made += [replace(r, model=f"flight-{flight}") for r in REFERENCES]
        for rule, n, by_flight in cells:
            made += [run(rule, n, b, 1 + e, flight) for b, e in enumerate(by_flight[flight])]
    return made


def test_a_ratio_counts_flights_and_not_runs():
    other = [[1.0, -1.0] * 3, [1.0, -1.0] * 3]
    ours = [[0.5, -0.5] * 3, [0.25, -0.25] * 3]
    found = end_ratio(flights(("PF", 50, other), ("SKH-FW", 50, ours)), ("SKH-FW", 50), ("PF", 50))
    assert found.mean == pytest.approx(8**-0.5)
    assert found.batches == 2


def test_few_beat_many_by_their_medians_on_all_flights():
    random = "PF", 200, [[5.0] * 5] * 3
    usually_worse = "default", 50, [[6.0, 6.0, 6.0, 0.5, 0.5]] * 3
    made = flights(random, usually_worse)  # although its geometric mean is 2.2
    assert few_beat_many(made, rule="default").holds is False
    made = flights(random, ("default", 50, [[1.0] * 5, [1.5] * 5, [1.2] * 5]))
    verdict = few_beat_many(made, rule="default")
    assert verdict.holds
    assert (verdict.statistics["default"], verdict.statistics["PF"]) == pytest.approx((1.2, 5))
    made = flights(random, ("default", 50, [[1.0] * 5, [8.0] * 5, [1.2] * 5]))
    assert few_beat_many(made, rule="default").holds is None


def test_best_with_few_must_be_below_all_others():
    worse = [(rule, 50, [[3.0], [3.1]]) for rule in ("PF", "QMC")]
    ours = "SKH-FW", 50, [[1.0], [1.0]]
    assert best_with_few(flights(*worse, ("SQMC", 50, [[2.0], [2.1]]), ours), rule="SKH-FW").holds
    better = "SQMC", 50, [[0.5], [0.52]]
    assert best_with_few(flights(*worse, better, ours), rule="SKH-FW").holds is False


def test_placing_must_pay_at_every_number_of_particles():
    few = ("smoothed PF", 50, [[3.0], [3.1]]), ("smoothed", 50, [[1.0], [1.0]])
    many = ("smoothed PF", 200, [[2.0], [2.1]]), ("smoothed", 200, [[0.5], [0.5]])
    assert placing_pays(flights(*few, *many)).holds
    assert few_beat_many(flights(*few, *many), rule="smoothed", rival="smoothed PF").holds
    level = many[0], ("smoothed", 200, [[2.1], [2.0]])
    assert placing_pays(flights(*few, *level)).holds is None


def test_a_filter_is_like_a_reference_if_it_is_among_them():
    """The largest distance of a reference to the mean of the others is 0.15."""

    def holds(*distances):
        made = [*REFERENCES, *(run("SKH-FW", 200, b, 1 + e) for b, e in enumerate(distances))]
        return like_a_reference(made, rule="SKH-FW").holds

    assert holds(*[0.1] * 9, 0.3)
    assert holds(*[0.3] * 9, 0.1) is False
    assert holds(*[0.1] * 6, *[0.3] * 4) is None
    assert holds(*[0.1] * 5) is None  # too few to tell
    with pytest.raises(MissingError, match="three runs"):
        like_a_reference([*REFERENCES[:2], run("SKH-FW", 200, 0, 1.0)], rule="SKH-FW")


def test_the_rule_must_be_as_fast_as_the_paper_s():
    def holds(seconds):
        cell = run("SKH-FW", 50, 0, 1.0)
        took = replace(cell, m=10_000, steps=100, seconds=seconds, rule_seconds=0.9 * seconds)
        return time_per_step([*REFERENCES, took]).holds

    assert holds(10.0)
    assert holds(20.0) is False


def test_constant_errors_do_not_accumulate():
    made = [replace(r, time=t) for r in REFERENCES for t in (1.0, 2.0, 3.0, 4.0)]
    grows = [*made, *(run("PF", 50, 0, 1 + t, time=t) for t in (1.0, 2.0, 3.0, 4.0))]
    stays = [*made, *(run("PF", 50, 0, 2.0, time=t) for t in (1.0, 2.0, 3.0, 4.0))]
    assert errors_accumulate(grows).holds
    assert errors_accumulate(stays).holds is False


def test_placed_particles_do_one_step_better_than_four_times_as_many_random_ones():
    """Ten times of one flight, the same mixtures of 50 components for all; M = 2,000."""
    flight = survey_flight(110, rng=11)
    few = {"SKH": replace(Uav(), search_points=2_000).rules()["SKH-FCFW"], "PF": skh.Stratified()}
    at = set(range(15, 110, 10))
    found = one_step_errors(flight.model, flight.observations, few, 50, at, 20_000, 0)

    def many(p, n, *, rng=None):
        return skh.Stratified()(p, 4 * n, rng=rng)

    more = one_step_errors(flight.model, flight.observations, {"PF": many}, 50, at, 20_000, 0)
    assert found["SKH"] < more["PF"] < found["PF"]


def test_a_single_step_is_that_of_a_filter_even_where_records_are_moved():
    smoothed = skh.Smoothed(skh.Matched(skh.Stratified()))

    def at_last(p, n, *, rng=None):
        return smoothed(p, n, rng=7) if pf.t == 5 else skh.Stratified()(p, n, rng=rng)

    linear = skh.models.lgss3()
    _, ys = linear.simulate(6, rng=0)
    model = skh.rao_blackwellize(linear, [0, 1])
    pf = skh.ParticleFilter(model, at_last, 30, rng=0)
    for y in ys[:5]:
        belief = pf.step(y)
    p = pf.predict().with_information(belief.information.matrix)
    mean, sd = filtered(model, belief, ys[5], p, smoothed(p, 30, rng=7))
    after = pf.step(ys[5])
    np.testing.assert_allclose(mean, after.mean, rtol=1e-12)
    np.testing.assert_allclose(sd, np.sqrt(np.diag(after.covariance)), rtol=1e-12)


def test_figures_of_an_incomplete_run(records):
    assert pictures([r for r in records if r.rule != "reference"]) == []
    assert pictures([r for r in records if r.rule == "reference"]) == []
    begun = [r for r in records if r.model == "flight-0" and r.batch == 0]
    steps = [r for r in records if r.model == "one-step"]
    references = [r for r in records if r.rule == "reference"]
    assert pictures(references + steps) == []
    some = [p.name for p in pictures(references + steps + begun)]  # the other flight has no run yet
    assert some == ["uav", "uav-flights", "uav-step", "uav-above"]
    assert [p.name for p in pictures(begun)] == ["uav", "uav-flights", "uav-above"]
    assert [p.name for p in pictures(records)][2] == "uav-step"
    assert len(whole(begun)) == 1 + 2 * len(Uav().rules())


def test_single_steps_give_one_record_per_rule_and_n(records):
    steps = [r for r in records if r.model == "one-step"]
    assert len(steps) == 2 * 2 * len(Uav().rules())
    assert {r.batch for r in steps} == {0, 1}
    assert all(r.rmse > 0 for r in steps)


def test_few_beat_many_in_single_steps_if_they_do_on_all_flights():
    def verdict(few, many):
        cells = (("SKH-FW", 50, few), ("PF", 50, (2 * m for m in many)), ("PF", 200, many))
        return few_beat_many_in_one_step(
            [
                replace(run(rule, n, flight, 0.0), model="one-step", rmse=error)
                for rule, n, by_flight in cells
                for flight, error in enumerate(by_flight)
            ],
            rule="SKH-FW",
        )

    good = verdict([0.5, 0.55, 0.5], [1.0, 1.1, 1.0])
    assert good.holds is True
    assert good.statistics["worth"] == pytest.approx(50 * 4**2)
    assert verdict([1.5, 1.6, 1.5], [1.0, 1.1, 1.0]).holds is False
    assert verdict([0.5, 1.5, 0.9], [1.0, 1.0, 1.0]).holds is None


def test_a_whitened_rule_uses_the_mixture_covariance_as_its_metric():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(4, 3, 3))
    p = skh.GaussianMixture(rng.random(4), rng.normal(size=(4, 3)), B @ B.swapaxes(1, 2))
    kernel = skh.GaussianKernel(2.0, metric=p.covariance)
    points = Whitened(skh.FWQuad(skh.GaussianKernel(2.0), search_points=300))(p, 20, rng=0)
    assert points.mmd == pytest.approx(skh.mmd(kernel, p, points.x, points.w), abs=1e-9)
    assert points.mmd < 0.5 * skh.mmd(kernel, p, p.sample(20, rng=0)[0], np.full(20, 0.05))
    known = skh.GaussianMixture([1.0], [[1.0, 2.0]], 0.0)
    np.testing.assert_array_equal(Whitened(skh.Stratified())(known, 2, rng=0).x, [[1, 2], [1, 2]])


def test_figures_draw_records_and_filter_nothing(records, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a figure must not run a filter")

    monkeypatch.setattr(skh.ParticleFilter, "step", refuse)
    assert [p.name for p in pictures(records)][-1] == "uav-above"


def test_an_observed_rule_records_times_and_mmds():
    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    kernel, ticks = skh.GaussianKernel(1.0), iter(range(100))
    observed = Observed(skh.Stratified(), [kernel], clock=lambda: float(next(ticks)))
    points = [observed(p, 5, rng=k) for k in range(3)]
    assert observed.mmds == [[skh.mmd(kernel, p, q.x, q.w)] for q in points]
    assert (observed.seconds, observed.overhead) == (3.0, 3.0)
    np.testing.assert_array_equal(points[1].x, skh.Stratified()(p, 5, rng=1).x)
    wider = skh.GaussianMixture([1.0], [[0.0]], 2.0)
    exact = Observed(skh.Stratified(), [kernel], targets=[wider])
    q = exact(p, 5, rng=0)
    assert exact.mmds == [[skh.mmd(kernel, wider, q.x, q.w)]]
