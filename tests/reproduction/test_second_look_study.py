"""Claims about a second look on made-up records, and small runs of every kind of task."""

from dataclasses import replace

import numpy as np
import pytest

import skh
from made import rows
from skh.reproduction.claim import judge
from skh.reproduction.second_look import EXPERIMENT, claims
from skh.reproduction.second_look.cases import BROAD, CASES, SOLVED_TWICE, Data, data_of, told
from skh.reproduction.second_look.equal_particles import equal_particles
from skh.reproduction.second_look.figures import pictures
from skh.reproduction.second_look.one_step import Watched, ellipse
from skh.reproduction.second_look.runs import Run
from skh.reproduction.second_look.tasks import (
    AGAIN,
    BOOTSTRAP,
    DEFAULT_AT,
    GUIDED,
    LOOKS,
    NOT_GUIDED,
    PLAIN,
    SecondLookStudy,
)
from skh.reproduction.statistics import MissingError, Ratio
from small import SECOND_LOOK


def errors(model, **of_rules):
    """Records of rules with the RMSE {n: error}, and a tenth of it as error of the evidence."""
    names = {"looks": LOOKS, "plain": PLAIN, "again": AGAIN, "random": BOOTSTRAP}
    found = []
    for name, error in of_rules.items():
        made = rows(names.get(name, name), error, field="rmse", model=model)
        found += [replace(r, log_evidence_error=-r.rmse / 10, steps=4) for r in made]
    return found


def test_a_ratio_is_below_a_limit_if_its_interval_is():
    assert claims.at_most(Ratio(0.5, 0.4, 0.6, 9), 0.6) is True
    assert claims.at_most(Ratio(0.5, 0.4, 0.6, 9), 0.55) is None
    assert claims.at_most(Ratio(0.5, 0.4, 0.6, 9), 0.3) is False
    assert claims.at_most(Ratio(0.5, np.nan, np.nan, 1), 0.6) is None


def test_cells_are_compared_with_their_limits():
    records = errors("lgss3", looks={20: 0.4, 50: 0.05}, plain={20: 1.0, 50: 1.0})
    limits = {("lgss3", 50): 0.1, ("lgss3", 20): 0.5}
    assert claims.within(records, limits=limits).holds is True
    bad = claims.within(records, limits={**limits, ("lgss3", 50): 0.01})
    assert bad.holds is False
    assert "LGSS, d = 3, N = 50: 0.05" in bad.measured
    with pytest.raises(MissingError):
        claims.within(records, limits={("lgss3", 100): 1.0})


def test_a_reference_that_is_not_exact_enough_is_mentioned():
    records = errors("laser", looks={50: 0.01}, plain={50: 1.0}, reference={0: 0.004})
    verdict = claims.within(records, limits={("laser", 50): 0.1})
    assert "error of the reference relative to that of a second look Laser" in verdict.measured
    assert "0.4" in verdict.measured
    exact = errors("laser", looks={50: 0.01}, plain={50: 1.0}, reference={0: 1e-6})
    assert "reference" not in claims.within(exact, limits={("laser", 50): 0.1}).measured


def test_no_single_data_set_may_be_lost():
    records = errors("range-bearing", looks={50: 0.001}, plain={50: 1.0})
    options = {"cells": [("range-bearing", 50)], "limit": 0.5}
    assert claims.in_every_data_set(records, **options).holds is True
    lost = [replace(r, rmse=0.7) if (r.rule, r.batch) == (LOOKS, 3) else r for r in records]
    assert claims.in_every_data_set(lost, **options).holds is False


def broad(ours, again=2.0):
    one = dict.fromkeys((20, 50), 1.0)
    return [
        r
        for model in BROAD
        for r in errors(
            model, looks=dict.fromkeys((20, 50), ours), plain=one, again={20: again, 50: 1.0}
        )
    ]


def test_nothing_may_be_lost_on_broad_likelihoods():
    assert claims.nothing_lost(broad(1.0), limit=1.03).holds is True
    bad = claims.nothing_lost(broad(1.1), limit=1.03)
    assert bad.holds is False
    assert "geometric mean over 14 cells 1.1" in bad.measured
    noisy = [replace(r, rmse=r.rmse * 1.5 ** (r.batch % 3)) for r in broad(1.0) if r.rule == LOOKS]
    plain = [r for r in broad(1.0) if r.rule != LOOKS]
    assert claims.nothing_lost(noisy + plain, limit=1.5).holds is None


def test_the_worst_pair_is_measured_against_another_seed():
    assert claims.no_worse_than_another_seed(broad(1.5, again=2.0)).holds is True
    assert claims.no_worse_than_another_seed(broad(3.0, again=2.0)).holds is False


def test_the_evidence_may_be_significantly_worse_nowhere():
    good = errors("lgss3", looks={20: 0.4}, plain={20: 1.0})
    assert claims.evidence(good).holds is True
    bad = good + errors("counts", looks={20: 1.4}, plain={20: 1.0})
    assert claims.evidence(bad).holds is False
    assert (
        "at most 1 in 1 of 2 cells, significantly above in Counts" in claims.evidence(bad).measured
    )
    open_ = [
        replace(r, log_evidence_error=r.log_evidence_error * 4 ** (-1) ** r.batch * 1.1)
        if (r.model, r.rule) == ("counts", LOOKS)
        else r
        for r in good + errors("counts", looks={20: 1.0}, plain={20: 1.0})
    ]
    assert claims.evidence(open_).holds is None


def test_times_are_relative_to_the_default_rule():
    def times(guided, not_guided):
        made = {GUIDED: guided, NOT_GUIDED: not_guided}
        made |= {DEFAULT_AT + kind: 1.0 for kind in made}
        return [
            r
            for rule, seconds in made.items()
            for r in rows(rule, {50: seconds}, field="rule_seconds", model="lgss3")
        ]

    good, bad = times(2.0, 1.1), times(3.0, 1.6)
    for kind, limit in ((GUIDED, 2.5), (NOT_GUIDED, 1.3)):
        assert claims.time_of_steps(good, kind=kind, limit=limit).holds is True
        assert claims.time_of_steps(bad, kind=kind, limit=limit).holds is False


def test_a_rival_must_be_beaten_everywhere():
    good = errors("radar", looks={20: 0.5, 50: 0.5}, plain={20: 1.0, 50: 1.0})
    options = {"models": ("radar", "laser"), "rival": PLAIN}
    assert claims.below_everywhere(good, **options).holds is True
    bad = good + errors("laser", looks={20: 1.5}, plain={20: 1.0})
    assert claims.below_everywhere(bad, **options).holds is False
    with pytest.raises(MissingError):
        claims.below_everywhere([], **options)


def test_evaluations_are_counted():
    made = [replace(r, likelihood_evaluations=80) for r in errors("lgss3", looks={20: 1.0})]
    assert claims.never_more_evaluations(made).holds is True
    more = [replace(r, likelihood_evaluations=81) for r in made]
    assert claims.never_more_evaluations(more).holds is False


def test_equal_particles_follow_the_power_law():
    random = {n: 10 * n**-0.5 for n in (1_000, 10_000, 100_000)}
    records = errors("radar", looks={20: 0.05, 50: 0.001}, random=random)
    inside, beyond = (equal_particles(records, "radar", n) for n in (20, 50))
    assert inside.particles == pytest.approx(40_000, rel=1e-6)
    assert "interpolated" in str(inside)
    assert beyond.particles == pytest.approx(1e8, rel=1e-6)
    assert "extrapolated, RMSE ~ N^-0.50" in str(beyond)
    cells = [("radar", 20)]
    assert claims.worth_many(records, cells=cells, limit=30_000).holds is True
    assert claims.worth_many(records, cells=cells, limit=50_000).holds is False
    with pytest.raises(MissingError):
        equal_particles([r for r in records if r.n < 10_000], "radar", 20)


def test_equal_particles_of_an_error_that_does_not_decrease():
    records = errors("radar", looks={20: 0.5}, random={1_000: 1.0, 10_000: 1.0})
    assert np.isfinite(equal_particles(records, "radar", 20).particles)


@pytest.fixture(scope="module")
def records():
    return [r for task in SECOND_LOOK.tasks() for r in SECOND_LOOK.work(task)]


def test_every_kind_of_task_has_its_records(records):
    by_rule = {r.rule for r in records}
    assert by_rule >= {"PF", "SQMC", PLAIN, LOOKS, AGAIN, BOOTSTRAP, "reference"}
    looks = [r for r in records if r.rule == LOOKS]
    assert len(looks) == 3 * 2 * 2
    assert all(r.likelihood_evaluations <= r.n * r.steps for r in looks)
    assert max(r.guided for r in looks if r.model == "range-bearing") > 0.5
    assert all(np.isfinite(r.rmse) for r in looks)
    sharp = [r.rmse for r in records if (r.model, r.rule) == ("range-bearing", "reference")]
    assert max(sharp) < 1e-7


def test_claims_and_figures_take_what_there_is(records):
    verdicts = judge("second-look", EXPERIMENT.claims, records)
    assert len(verdicts) == len(EXPERIMENT.claims)
    assert any(v.verdict.holds for v in verdicts)
    names = ["second-look", "second-look-particles", "second-look-step"]
    assert [p.name for p in pictures(records)] == names
    some = [r for r in records if r.rule != BOOTSTRAP and not r.rule.startswith("step: ")]
    assert [p.name for p in pictures(some)] == ["second-look"]


def test_quick_has_every_kind_of_task():
    kinds = {task.cell[1:] for task in SecondLookStudy.quick().tasks()}
    assert kinds == {(), ("times",), ("bootstrap",), ("one-step",)}
    full = SecondLookStudy().tasks()
    assert len({task.key for task in full}) == len(full) == 21 * 30 + 4 * 3 + 13 * 3 + 1


def test_a_run_equals_the_filter():
    model = skh.models.lgss3()
    _, ys = model.simulate(5, rng=0)
    run = Run(model, skh.Stratified(), 20, 7).through(ys)
    result = skh.particle_filter(model, ys, skh.Stratified(), 20, rng=7)
    np.testing.assert_array_equal(run.means, result.means)
    assert run.log_evidence == pytest.approx(result.log_evidence, rel=1e-12)
    assert all(0 < own < all_ for own, all_ in zip(run.own_seconds, run.seconds, strict=True))


def test_a_told_model_is_the_same_model():
    plain = skh.models.lgss3()
    model = told(plain)
    _, ys = plain.simulate(5, rng=0)
    assert skh.kalman_filter(model, ys).log_evidence == skh.kalman_filter(plain, ys).log_evidence
    metric = model.observation_metric(0, np.zeros((1, 3)))
    np.testing.assert_allclose(metric, 10 * np.outer(plain.C, plain.C))


def test_references_differ_by_their_error_and_headings_wrap():
    runs = (np.zeros((2, 3)), 1.0), (np.full((2, 3), 0.2), 1.4)
    data = Data(CASES["laser"], None, np.zeros(2), runs)
    assert data.means_error == pytest.approx(0.1)
    assert data.evidence_error == pytest.approx(0.2)
    turned = data.means + np.array([0.0, 0.0, 2 * np.pi])
    assert data.rmse(turned) == pytest.approx(0.0, abs=1e-12)
    assert data_of("jmls", 0, 3).means_error == 0.0
    assert len(data_of("jmls", SOLVED_TWICE, 3).runs) == 1


def test_a_watched_plan_changes_nothing_and_an_ellipse_has_its_moments():
    model = skh.models.range_bearing()
    _, ys = model.simulate(4, rng=0)
    watched = Watched(skh.SecondLook())
    results = [skh.particle_filter(model, ys, r, 30, rng=1) for r in (watched, skh.SecondLook())]
    np.testing.assert_array_equal(results[0].means, results[1].means)
    assert sum(len(look) for look in watched.looks) == 30
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    contour = ellipse(np.array([1.0, 2.0]), S) - [1.0, 2.0]
    np.testing.assert_allclose((contour @ np.linalg.inv(S) * contour).sum(axis=1), 4.0)


def test_the_drawn_step_has_all_its_points(records):
    weights = [r.z for r in records if r.rule in ("step: pilot", "step: look")]
    assert len(weights) == 30
    assert sum(weights) == pytest.approx(1.0)
    assert {r.rule for r in records if r.rule.startswith("step: ")} == {
        *("step: predictive", "step: posterior", "step: surrogate"),
        *("step: pilot", "step: look"),
    }
