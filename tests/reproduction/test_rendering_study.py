"""Claims about rendered images on made-up records in both directions, and a small run."""

from dataclasses import replace

import pytest

from made import rows
from skh.reproduction.claim import judge
from skh.reproduction.rendering import EXPERIMENT, claims
from skh.reproduction.rendering.figures import pictures
from skh.reproduction.rendering.tasks import FLIGHTS, LEARNED, Rendering, flight_log
from skh.reproduction.statistics import MissingError
from small import RENDERING


def errors(rule, of_n, **fixed):
    """Whole runs with the RMSE {n: error}, one seed per batch."""
    return [replace(r, seed=r.batch, steps=4) for r in rows(rule, of_n, field="rmse", **fixed)]


@pytest.mark.parametrize(("ours", "holds"), [(0.04, True), (0.08, False)])
def test_few_placed_particles_against_many_random_ones(ours, holds):
    records = errors("default", {50: ours}) + errors("PF", {2_000: 0.05})
    options = {"n": 50, "many": 2_000, "reference": False}
    assert claims.as_accurate(records, **options).holds is holds
    with pytest.raises(MissingError):
        claims.as_accurate(records, **options | {"many": 400})


@pytest.mark.parametrize(("ours", "holds"), [(0.01, True), (0.03, False)])
def test_distances_to_the_reference_decide_as_well(ours, holds):
    def moved(rule, n, away):
        whole = errors(rule, {n: 1.0})
        return whole + [replace(r, time=1.0, x=away * r.rmse, y=0.0) for r in whole]

    records = moved("default", 50, ours) + moved("PF", 2_000, 0.02) + moved("reference", 9, 0.0)
    options = {"n": 50, "many": 2_000, "reference": True}
    assert claims.as_accurate(records, **options).holds is holds


@pytest.mark.parametrize(("ours", "holds"), [(0.9, True), (1.1, False)])
def test_times_are_compared_with_a_tenth(ours, holds):
    records = [replace(r, seconds=ours) for r in errors("default", {50: 1.0})]
    records += [replace(r, seconds=10.0) for r in errors("PF", {2_000: 1.0})]
    assert claims.of_the_time(records, n=50, many=2_000, limit=0.1).holds is holds


@pytest.mark.parametrize(("ours", "holds"), [(0.9, True), (1.5, False)])
def test_no_size_may_be_worse_than_random_particles(ours, holds):
    records = errors("default", {30: ours, 50: 0.5}) + errors("PF", {30: 1.0, 50: 1.0})
    verdict = claims.never_worse(records, sizes=(30, 50))
    assert verdict.holds is holds
    assert "N=50: 0.5" in verdict.measured


@pytest.mark.parametrize(("seconds", "holds"), [(0.4, True), (0.1, False), (3.0, False)])
def test_a_likelihood_takes_milliseconds(seconds, holds):
    records = [
        replace(r, likelihood_seconds=seconds, likelihood_evaluations=200)
        for r in errors("PF", {50: 1.0})
    ]
    assert claims.dear(records, low=1.0, high=5.0).holds is holds


@pytest.fixture(scope="module")
def records():
    return [r for task in RENDERING.tasks() for r in RENDERING.work(task)]


def test_every_kind_of_task_has_its_records(records):
    runs = [r for r in records if r.time != r.time]
    assert {r.rule for r in runs} == {*Rendering().rules, *FLIGHTS, "reference"}
    assert {r.n for r in runs if r.rule == "PF"} == {20, 40}
    assert all(r.likelihood_evaluations <= r.n * r.steps for r in runs)
    learned = [r for r in runs if r.rule == LEARNED]
    assert len(learned) == 1
    assert learned[0].rmse > 0


def test_models_differ_in_what_they_tell():
    linearised, told, learned = (flight_log(2, (8, 6), kind) for kind in FLIGHTS.values())
    assert linearised.model.residuals is not None
    assert told.model.information is not None
    assert learned.model.information is learned.model.residuals is None
    assert (told.truth == learned.truth).all()
    assert (told.truth == linearised.truth).all()


def test_claims_and_figures_take_what_there_is(records):
    verdicts = judge("rendering", EXPERIMENT.claims, records)
    assert verdicts[0].verdict.holds is False  # tiny images are cheap
    assert all(v.verdict.holds is None for v in verdicts[1:])
    made = pictures(records)
    names = [picture.name for picture in made]
    assert names[:2] == ["rendering-seconds", "rendering-seeds"]
    assert names[-2:] == ["rendering-images", "rendering-path"]
    path = made[-1].figure
    path.canvas.draw()
    tops = [axis.title.get_window_extent().y1 for axis in path.axes]
    assert max(tops) <= path.bbox.y1  # titles are not cut off


def test_references_come_last_and_all_tasks_differ():
    tasks = Rendering().tasks()
    assert tasks[-1].cell[1] == "reference"
    number = 1 + 5 * (10 + 3 * 5) + 3 * 10 + 5 + 5 + 1
    assert len({task.key for task in tasks}) == len(tasks) == number
