"""The study of Wean Hall: claims on made-up records, tasks on the first steps of the logs."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from skh.reproduction.engine.record import Record
from skh.reproduction.robots.study import REFERENCE
from skh.reproduction.statistics import MissingError
from skh.reproduction.wean_hall import claims
from skh.reproduction.wean_hall.figures import anywhere, kidnapping
from skh.reproduction.wean_hall.starts import joined
from skh.reproduction.wean_hall.statistics import right
from skh.reproduction.wean_hall.tables import all_tables
from skh.reproduction.wean_hall.tasks import ANYWHERE, KIDNAPPED, KLD, OURS, STAYING, WeanHall

TIMES = np.arange(20.0)


def run(model, rule, seed, off, n=50, cost=1000):
    """A run whose position is off by a distance at each moment, and its record as a whole."""
    whole = Record(
        experiment="wean-hall",
        model=model,
        rule=rule,
        n=n,
        batch=seed,
        seed=seed,
        likelihood_evaluations=cost,
        **dict.fromkeys(("ess", "guided", "seconds", "rule_seconds"), 1.0),
        likelihood_seconds=0.1,
    )
    apart = np.broadcast_to(off, TIMES.shape)
    return [
        *(replace(whole, time=t, x=t + d, y=0.0) for t, d in zip(TIMES, apart, strict=True)),
        whole,
    ]


def tracked(log, default, pf):
    """References, and runs of the default and the PF with some distances to them."""
    found = run(log, REFERENCE, 0, 0.0, n=1000)
    for seed in range(8):
        for n in (30, 50):
            found += run(log, "default", seed, default * (1 + seed / 100), n)
            found += run(log, "PF", seed, pf * (1 + seed / 100), n)
    return found


def started(ours, rival, cost=(100, 400), model=f"{ANYWHERE}log 1", other=f"{KLD} 0.02"):
    """Ten starts by each of two filters, of which some are right."""
    found = run("log 1", REFERENCE, 0, 0.0, n=1000) + run("log 3", REFERENCE, 0, 0.0, n=1000)
    for seed in range(10):
        found += run(model, OURS, seed, 0.1 if seed < ours else 9.0, cost=cost[0])
        found += run(model, other, seed, 0.1 if seed < rival else 9.0, cost=cost[1])
    return found


@pytest.mark.parametrize(("default", "pf", "small", "better"), [
    (0.01, 0.05, True, True),
    (0.06, 0.05, False, False),
])  # fmt: skip
def test_tracking(default, pf, small, better):
    records = tracked("log 1", default, pf)
    assert claims.accurate(records, "log 1").holds is small
    assert claims.never_worse(records, "log 1").holds is better


@pytest.mark.parametrize(("ours", "rival", "cost", "holds"), [
    (9, 9, (100, 400), True),
    (8, 8, (100, 400), False),  # not often enough
    (9, 9, (200, 400), False),  # not cheap enough
    (9, 7, (100, 400), True),  # no rival is as good, and they cost more already
    (9, 7, (200, 400), False),
])  # fmt: skip
def test_starts_anywhere(ours, rival, cost, holds):
    assert claims.starts(started(ours, rival, cost), "log 1").holds is holds


@pytest.mark.parametrize(("found", "holds"), [(9, True), (8, False)])
def test_kidnapped(found, holds):
    records = started(found, 0, model=KIDNAPPED, other=STAYING)
    assert claims.found_again(records).holds is holds


def test_right_means_near_at_the_end():
    late = np.where(TIMES < 14, 9.0, 0.1)
    lost = np.where(TIMES < 18, 0.1, 9.0)
    records = run("log 1", REFERENCE, 0, 0.0, n=1000)
    for seed, off in enumerate((late, lost)):
        records += run(f"{ANYWHERE}log 1", OURS, seed, off)
    assert right(records, (f"{ANYWHERE}log 1", OURS, 50)).tolist() == [True, False]


def test_missing_records_are_named():
    for check in (partial(claims.starts, log="log 1"), claims.found_again):
        with pytest.raises(MissingError):
            check([])


def test_figures_and_tables():
    records = started(9, 5) + started(10, 0, model=KIDNAPPED, other=STAYING)
    records += tracked("log 1", 0.01, 0.05)
    assert anywhere(records).name == "wean-hall-anywhere"
    assert kidnapping(records).name == "wean-hall-kidnapped"
    text = all_tables(records)
    assert "| anywhere, log 1 | localiser | 50 | 9 of 10 | 100 | 100 |" in text
    assert "| kidnapped | localiser | 50 | 10 of 10 |" in text


def test_a_path_is_joined_without_a_step():
    path = np.random.default_rng(0).normal(size=(5, 3))
    end = np.array([1.0, 2.0, 0.5])
    moved = joined(end, path)
    assert np.allclose(moved[0], end)
    assert np.allclose(
        np.hypot(*np.diff(moved[:, :2], axis=0).T), np.hypot(*np.diff(path[:, :2], axis=0).T)
    )


def test_the_claim_has_as_many_seeds_as_the_figures():
    study = WeanHall()
    for n in (study.claimed, study.shown):
        cells = [task for task in study.tasks() if task.cell == ("log 1", "default", n)]
        assert len({task.seed for task in cells}) == len(cells) == 10


def test_tasks_on_the_first_steps():
    if missing := WeanHall.missing():
        pytest.skip(missing)
    study = replace(WeanHall.quick(), steps=6, moments=4, most=300, jump=(3, 2), kld=((0.05, 300),))
    kinds = {f"{ANYWHERE}log 1", KIDNAPPED}
    for task in [task for task in study.tasks() if task.cell[0] in kinds]:
        *moments, whole = study.work(task)
        assert 0 < len(moments) <= 4
        assert whole.likelihood_evaluations > 0
        assert all(np.isfinite([r.x, r.y]).all() for r in moments)
