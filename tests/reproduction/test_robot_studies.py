"""The studies of real logs: tasks on small made-up logs, scores, claims on made-up records."""

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
import typer
from scipy import stats

import made_up_logs
from pages import ROOT, on_page
from skh.cli import chosen, with_data
from skh.reproduction.catalogue import EXPERIMENTS
from skh.reproduction.engine.archive import write_archive
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import run_tasks
from skh.reproduction.mrclam.tasks import Mrclam, of_robot
from skh.reproduction.robots.claims import at_most, few_like_many, never_worse
from skh.reproduction.robots.figures import pictures_of
from skh.reproduction.robots.log import Log, normalised_squares
from skh.reproduction.robots.pages import MARKED, main
from skh.reproduction.robots.runs import filtered
from skh.reproduction.robots.statistics import moments, reference_errors, whole_runs
from skh.reproduction.robots.tables import tables
from skh.reproduction.starry_night.tasks import StarryNight, StarryNightSlam, known_map, unknown_map
from skh.reproduction.statistics import MissingError
from skh.reproduction.woods.tasks import Woods, in_the_woods
from skh.rules.sampling import Stratified

SMALL = {"n": (12, 16), "shown": 16, "seeds": 1, "shown_seeds": 2, "moments": 4, "pictured": 2}
SMALL |= {"rules": ("PF", "FCFW", "default"), "search_points": 50, "reference_particles": 60}
pytestmark = pytest.mark.xdist_group("robot-studies")  # one worker makes what all tests here read


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    made_up_logs.write_stereo_log(folder)
    made_up_logs.write_mrclam(folder)
    made_up_logs.write_woods(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKH_DATA", str(folder))
        yield folder
    for cached in (known_map, unknown_map, of_robot, in_the_woods):
        cached.cache_clear()


@pytest.fixture(scope="module")
def records(data):
    return run_tasks(Mrclam(**SMALL))


def test_missing_data_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SKH_DATA", str(tmp_path))
    for name in ("starry-night", "mrclam", "woods"):
        text = EXPERIMENTS[name].missing()
        assert text.startswith("data not found: ")
        assert str(tmp_path) in text
        assert "SKH_DATA" in text
    assert EXPERIMENTS["mixture"].missing() == ""


def test_present_data_are_found(data):
    assert [EXPERIMENTS[name].missing() for name in ("starry-night", "mrclam", "woods")] == [""] * 3


def test_the_tasks_are_all_rules_sizes_and_seeds():
    keys = [task.key for task in StarryNight().tasks()]
    assert len(set(keys)) == len(keys) == 1 + 2 + 5 * (10 + 3 * 5)
    assert sum("default_50" in key for key in keys) == 10
    assert sum("PF_200" in key for key in keys) == 5
    assert keys.index("known map_default_50_009") < keys.index("known map_PF_30_000")


@pytest.mark.parametrize(
    ("study", "limit"),
    [(StarryNight(), 0.1), (StarryNightSlam(), 0.3), (Mrclam(), 0.4), (Woods(every=5), 0.1)],
)
def test_logs_are_followed(data, study, limit):
    log = study.load(study.logs[0])
    result = filtered(log, Stratified(), 200, 0)
    states = getattr(result.mean_states, "position", result.mean_states)
    error = np.linalg.norm(states[:, : log.dimension] - log.truth, axis=1)
    assert np.sqrt(np.mean(error**2)) < limit


def test_each_run_records_its_errors_and_times(records):
    (run,) = [r for r in whole_runs(records) if (r.rule, r.n, r.batch) == ("default", 16, 1)]
    of_run = [r for r in moments(records) if r.seed == run.seed]
    assert len(of_run) == 4
    assert all(r.rmse >= 0 and r.xx > 0 for r in of_run)
    assert run.steps == 12
    assert 0 < run.rmse < 1
    assert run.nees > 0
    assert 0 < run.rule_seconds + run.likelihood_seconds < run.seconds
    assert all(r.m == 50 for r in records if r.rule == "FCFW")


def test_a_task_is_a_function_of_its_name(records):
    study = Mrclam(**SMALL)
    task = study.tasks()[-1]
    times = {"seconds": 0.0, "rule_seconds": 0.0, "likelihood_seconds": 0.0}
    again = [str(replace(r, **times)) for r in study.work(task)]
    assert again == [str(replace(r, **times)) for r in records if r.seed == task.seed]


def test_tables_and_figures_show_every_rule(records):
    text = tables(records)
    assert text.count("| PF |") == 2
    assert text.count("| reference |") == 1
    names = [picture.name for picture in pictures_of("mrclam", "MRCLAM", records)]
    assert names == [f"mrclam-robot-1-{k}" for k in ("seeds", "time", "n", "split", "path")]


def test_errors_are_normalised_by_the_covariance():
    rng = np.random.default_rng(0)
    S = np.array([[2.0, 0.6], [0.6, 0.5]])
    errors = rng.multivariate_normal([0, 0], S, 4000)
    found = normalised_squares(errors, np.broadcast_to(S, (4000, 2, 2)))
    assert stats.kstest(found, stats.chi2(2).cdf).pvalue > 0.01
    lost = normalised_squares(np.array([[1.0, 0.0]]), np.zeros((1, 2, 2)))
    np.testing.assert_allclose(lost, [1e8])  # in units of a tenth of a millimetre


def test_moments_have_a_known_truth():
    truth = np.zeros((10, 2))
    truth[[3, 9]] = nan
    log = Log(None, [None] * 10, np.arange(10.0), truth)
    assert log.scored().tolist() == [1, 2, 4, 5, 6, 7, 8]
    assert log.moments(2).tolist() == [5, 8] or log.moments(2).tolist() == [4, 8]
    assert len(log.moments(100)) == 7


def runs(rule, n, errors, nees=1.0):
    start = Record(experiment="e", model="log", rule=rule, n=n, batch=0, seed=0)
    return [
        replace(start, batch=k, seed=k, rmse=error, nees=nees) for k, error in enumerate(errors)
    ]


def test_a_limit_is_decided_by_the_seeds():
    where = {"log": "log", "field": "rmse", "rule": "default", "n": 50, "limit": 0.1}
    low, high = np.linspace(0.05, 0.06, 10), np.linspace(0.2, 0.3, 10)
    assert at_most(runs("default", 50, low), **where).holds is True
    assert at_most(runs("default", 50, high), **where).holds is False
    assert at_most(runs("default", 50, [*low[:5], *high[:5]]), **where).holds is None
    with pytest.raises(MissingError):
        at_most(runs("PF", 50, low), **where)


def test_never_worse_needs_every_size():
    where = {"log": "log", "field": "rmse", "rule": "default"}
    low, high = np.linspace(0.05, 0.06, 5), np.linspace(0.2, 0.3, 5)
    good = runs("default", 30, low) + runs("PF", 30, high)
    assert never_worse(good, **where).holds is True
    bad = good + runs("default", 50, high) + runs("PF", 50, low)
    assert never_worse(bad, **where).holds is False
    close = good + runs("default", 50, low + 1e-4) + runs("PF", 50, low)
    assert never_worse(close, **where).holds is None


def test_few_are_compared_with_the_references():
    where = {"log": "log", "field": "rmse", "rule": "default", "n": 50, "limit": 1.25}
    many = runs("reference", 20_000, [0.1, 0.1])
    assert few_like_many(many + runs("default", 50, [0.11] * 10), **where).holds is True
    assert few_like_many(many + runs("default", 50, [0.2] * 10), **where).holds is False


def test_distances_are_to_the_mean_of_the_references():
    def at(rule, seed, x, y):
        start = Record(experiment="e", model="log", rule=rule, n=9, batch=0, seed=seed)
        return replace(start, time=1.0, x=x, y=y)

    records = [at("reference", 0, 0.0, 0.0), at("reference", 1, 2.0, 0.0), at("PF", 2, 1.0, 3.0)]
    np.testing.assert_allclose(reference_errors(records, rule="PF"), [3.0])
    assert isnan(records[0].z)


def test_the_command_says_what_is_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SKH_DATA", str(tmp_path))
    with pytest.raises(typer.Exit):
        with_data(chosen("mrclam", quick=True), "mrclam")
    assert "error: data not found: mrclam/MRCLAM_Dataset7" in capsys.readouterr().err
    left = with_data(chosen("all", quick=True), "all")
    assert "mixture" in (names := {e.name for e in left})
    assert "mrclam" not in names
    assert "mrclam skipped: data not found" in capsys.readouterr().err


@pytest.mark.parametrize("page", ["docs/starry_night.md", "docs/mrclam.md"])
def test_examples_on_the_pages_of_logs_run(page):
    states = on_page(page)["result"].mean_states
    assert np.isfinite(getattr(states, "position", states)).all()


def test_pages_are_renewed_from_records(records, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- records of mrclam -->\nold\n<!-- end of records -->\nb\n")
    main(tmp_path, [page])  # no records there
    assert "\nold\n" in page.read_text()
    about = {"fingerprint": {"configuration": {}, "versions": {}}, "tasks": 1, "finished": 1}
    about |= {"machine": {"processor": "", "cores": ""}, "seconds": 1.0}
    write_archive(tmp_path, {"mrclam": (list(records), about)})
    main(tmp_path, [page])
    text = page.read_text()
    assert "\nold\n" not in text
    assert text.count("| default |") == 2
    assert "undecided" in text
    assert "renewed" in capsys.readouterr().out
    for name in ("starry_night", "mrclam"):
        assert MARKED.search((ROOT / "docs" / f"{name}.md").read_text())
