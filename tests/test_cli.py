"""The command: a small demo leaves a table and a figure."""

import importlib.metadata

from typer.testing import CliRunner

import skh
from skh.cli import app
from skh.experiments.demo import DemoConfig, run
from skh.figures.style import label
from skh.tables import median


def test_demo_prints_a_table_and_draws_a_figure(tmp_path):
    options = ["--out", str(tmp_path / "new"), "--n", "5", "--batches", "1", "--steps", "3"]
    result = CliRunner().invoke(app, ["demo", *options])
    assert result.exit_code == 0, result.output
    for rule in DemoConfig().rules:
        assert label(rule) in result.output
    assert (tmp_path / "new" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new" / "demo.png").stat().st_size > 20_000


def test_demo_records_are_complete_and_reproducible():
    config = DemoConfig(n=(10, 20), batches=2, T=5, search_points=200, reference_particles=2_000)
    records, again = list(run(config)), list(run(config))
    assert len(records) == config.runs == 2 * 2 * 5
    for a, b in zip(records, again, strict=True):
        assert (a.rmse, a.mmd, a.log_evidence_error) == (b.rmse, b.mmd, b.log_evidence_error)
        assert a.rmse > 0
        assert a.mmd > 0
        assert a.seconds > 0
        assert 1 <= a.ess <= a.n_particles <= a.n
        assert a.likelihood_evaluations == round(5 * a.n_particles)
    assert list(dict.fromkeys(r.rule for r in records)) == list(config.rules)
    placed, drawn = ([r for r in records if r.rule == rule] for rule in ("SKH-FCFW", "PF"))
    assert median(placed, "mmd") < median(drawn, "mmd")


def test_help_names_the_commands():
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_version_is_that_of_the_package():
    assert importlib.metadata.version("skh") == skh.__version__
    assert all(hasattr(skh, name) for name in skh.__all__)
