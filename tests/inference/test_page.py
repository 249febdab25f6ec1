"""The page on smoothing and its example."""

import runpy
import sys

import numpy as np
import pytest

from pages import ROOT, all_on_page


def test_the_code_on_the_page_runs(capsys):
    *_, scope = all_on_page("docs/smoothing.md")
    assert scope["paths"].shape == (100, 60, 1)
    assert (scope["low"] < scope["middle"]).all()
    assert (scope["middle"] < scope["high"]).all()
    assert (scope["window"].t, scope["total"].shape) == (49, (1,))
    assert np.isfinite(scope["score"].gradient).all()
    assert "SmoothingResult(60 steps, 1 dimensions)" in capsys.readouterr().out


@pytest.fixture(scope="module")
def program():
    return runpy.run_path(str(ROOT / "examples" / "smoothing.py"))


def test_the_level_of_the_nile_is_the_exact_one(program):
    from matplotlib.figure import Figure

    assert program["nile"](Figure().subplots()) < 0.05


def test_the_fitted_variances_of_the_nile_are_the_exact_ones(program):
    fit, missed = program["fitted_nile"]()
    assert fit.converged
    assert abs(missed) < 0.02


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("volatility", ["--days", "25", "--draws", "10"], "second stage: sorted Sobol points"),
        ("population", ["--steps", "25"], "unlimited"),
        ("regimes", ["--steps", "12"], "off the exact means: 0."),
    ],
)
def test_programs_run(name, options, says, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--out", str(tmp_path), *options])
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    assert says in capsys.readouterr().out
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
