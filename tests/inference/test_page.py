"""The page on smoothing and its example."""

import runpy

import numpy as np

from pages import ROOT, all_on_page


def test_the_code_on_the_page_runs(capsys):
    *_, scope = all_on_page("docs/smoothing.md")
    assert scope["paths"].shape == (100, 60, 1)
    assert (scope["low"] < scope["middle"]).all()
    assert (scope["middle"] < scope["high"]).all()
    assert (scope["window"].t, scope["total"].shape) == (49, (1,))
    assert np.isfinite(scope["score"].gradient).all()
    assert "SmoothingResult(60 steps, 1 dimensions)" in capsys.readouterr().out


def test_the_level_of_the_nile_is_the_exact_one():
    from matplotlib.figure import Figure

    scope = runpy.run_path(str(ROOT / "examples" / "smoothing.py"))
    assert scope["nile"](Figure().subplots()) < 0.05
