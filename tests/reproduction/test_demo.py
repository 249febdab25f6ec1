"""The demo: records, points of one distribution, and the figure of both."""

import matplotlib.image
import numpy as np
import pytest

from skh.reproduction.demo.figures import pictures
from skh.reproduction.demo.table import table_of
from skh.reproduction.demo.tasks import DENSITY, PLACED, Demo
from skh.reproduction.engine.executor import complete, local
from skh.reproduction.engine.task import run_tasks
from skh.reproduction.report.drawing import draw
from skh.reproduction.report.writer import notes, write_report
from skh.reproduction.statistics import median, select

SIZES = {"n": (10, 20), "n_random": (40,), "shown": 20, "batches": 2, "T": 5}
SMALL = Demo(**SIZES, search_points=200, reference_particles=2_000)


@pytest.fixture(scope="module")
def records():
    return run_tasks(SMALL)


def test_records_are_complete_and_reproducible(records):
    runs, again = (select(found, model="nonlinear") for found in (records, run_tasks(SMALL)))
    assert len(runs) == 2 * (2 * 5 + 2)
    for a, b in zip(runs, again, strict=True):
        assert (a.rmse, a.mmd, a.log_evidence_error) == (b.rmse, b.mmd, b.log_evidence_error)
        assert a.rmse > 0
        assert a.mmd > 0
        assert a.seconds > 0
        assert 1 <= a.ess <= a.n_particles <= a.n
        assert a.likelihood_evaluations == round(5 * a.n_particles)
    assert list(dict.fromkeys(r.rule for r in runs)) == list(SMALL.rules)
    assert next(iter(SMALL.rules)) == "default"
    assert {r.rule for r in runs if r.n == 40} == {"SQMC", "PF"}
    placed, drawn = (select(runs, rule=rule, n=(10, 20)) for rule in ("SKH-FCFW", "PF"))
    assert median(placed, "mmd") < median(drawn, "mmd")


def test_the_points_of_all_rules_represent_one_distribution(records):
    placed = select(records, model=PLACED)
    x, height = np.array([(r.x, r.y) for r in select(placed, rule=DENSITY)]).T
    share = height * (x[1] - x[0])
    assert 0.9 < share.sum() < 1 + 1e-6
    spread = np.sqrt(share @ (x - share @ x) ** 2)
    for rule in SMALL.rules:
        points, w = np.array([(r.x, r.y) for r in select(placed, rule=rule)]).T
        assert len(points) <= SMALL.shown
        assert w.sum() == pytest.approx(1)
        assert w @ points == pytest.approx(share @ x, abs=0.5 * spread)


def test_the_table_has_the_default_rule_first(records):
    table = table_of(records, 20)
    assert table.row_count == 5
    assert next(iter(table.columns[0].cells)) == "default rule"
    assert table.title == "Nonlinear benchmark, N = 20, T = 5, medians over 2 data sets"


def test_the_figure_is_drawn_from_records_alone(records, tmp_path):
    ((name, caption),) = draw("demo", records, tmp_path)
    assert name == "demo"
    assert "20 particles by each rule" in caption
    assert matplotlib.image.imread(tmp_path / "demo.png").shape[1] > 1_000
    assert pictures([r for r in records if r.model == PLACED]) == []
    assert pictures([r for r in records if r.model != PLACED]) == []


def test_the_demo_can_be_run_and_reported_like_a_study(tmp_path):
    with local(1) as engine:
        complete(SMALL, tmp_path / "demo", engine)
    results, judged = write_report(tmp_path)
    assert judged == []
    assert results["demo"].complete
    assert "demo" not in notes(results)[-1]  # which names what was not run
    assert (tmp_path / "figures" / "demo.svg").is_file()
