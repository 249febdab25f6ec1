"""All examples run: the programs, and the code on pages and in module docstrings."""

import logging
import runpy

import numpy as np
import pytest

import skh
from pages import ROOT, all_on_page, in_docstring, on_page
from skh.filtering import model_protocols
from skh.frank_wolfe import iterate, reference
from skh.frank_wolfe.iterate import Iterate, Solution
from skh.frank_wolfe.steps import BlendedIterate
from skh.rules import base
from skh.trajectory import read_tum

EXAMPLES = ROOT / "examples"


PAGES = [
    *("README.md", "docs/rao_blackwell.md", "docs/ask_and_tell.md", "docs/parallel.md"),
    "docs/production.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_examples_on_pages_run(page, capsys):
    result = on_page(page)["result"]
    assert len(result.means) > 1
    assert np.isfinite(result.means).all()
    assert ("[" in capsys.readouterr().out) == (page != "docs/rao_blackwell.md")  # others print


def test_examples_in_docstrings_run():
    assert in_docstring(skh)["result"].means.shape == (100, 1)
    gain, rule = in_docstring(model_protocols)["RandomGain"](), in_docstring(base)["antithetic"]
    result = skh.particle_filter(gain, [0.5, 1.0, 0.8], rule, 51, rng=0)
    assert np.isfinite(result.means).all()


def test_steps_in_the_docstring_are_frank_wolfe():
    scope = in_docstring(iterate, Iterate=Iterate, Solution=Solution, BlendedIterate=BlendedIterate)
    p, kernel = skh.GaussianMixture([1, 2], [[0.0], [3.0]], 1.0), skh.GaussianKernel(0.5)
    x = skh.MonteCarlo()(p, 200, rng=0).x

    class Greedy:
        def start(self, target, n):
            return scope["Greedy"](target, n)

    points = skh.FWQuad(kernel, Greedy(), 200)(p, 15, rng=0)
    _, mmd2 = reference.fw_quad(kernel, p, x, 15, reference.herding)
    np.testing.assert_allclose(points.mmd_trace**2, mmd2, atol=1e-12)
    slow = skh.FWQuad(kernel, scope["SquareRoot"](), 200)(p, 15, rng=0)
    assert slow.mmd == pytest.approx(skh.mmd(kernel, p, slow.x, slow.w), abs=1e-9)


def test_the_code_on_the_page_of_numerical_errors_runs(capsys):
    scope = on_page("docs/numerical_error.md")
    assert scope["result"].numerical_error.n_check == 100
    assert scope["chosen"].numerical_error.overall <= 0.05
    assert "means off by about" in capsys.readouterr().out


def test_the_code_on_the_results_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger("skh")
    monkeypatch.setattr(logger, "handlers", list(logger.handlers))  # the page adds one
    scope = on_page("docs/results.md")
    assert isinstance(logger.handlers[-1], scope["Stop"])
    assert list(scope["table"].columns[:2]) == ["east_mean", "east_sd"]
    assert scope["residuals"].pit.shape == (30, 6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.csv", "run.png"]
    assert "FilterResult: 30 steps in 2 dimensions" in capsys.readouterr().out


def test_the_results_example_writes_a_table_and_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["results.py", "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "results.py"), run_name="__main__")
    assert (tmp_path / "run.csv").read_text().startswith("step,east_mean,east_sd,east_q0.05")
    sizes = [(tmp_path / name).stat().st_size for name in ("results.png", "residuals.png")]
    assert min(sizes) > 20_000
    assert "in 3 steps" in capsys.readouterr().out


def test_the_page_about_logs():
    (scope,) = all_on_page("docs/localize.md")
    assert scope["log"].scans.ranges.shape == (2, 3)
    assert scope["steps"].controls[0].x == pytest.approx(0.7)


def test_the_code_on_the_robotics_page_runs(capsys):
    located, mapped = (dict(scope) for scope in all_on_page("docs/robotics.md"))
    assert np.abs(located["errors"][3:]).max() < 0.15
    assert np.abs(mapped["means"] - mapped["eye"].landmarks).max() < 0.5
    assert "[" in capsys.readouterr().out


def test_the_code_on_the_uav_page_runs():
    scope = on_page("docs/uav.md")
    truth = scope["flight"].poses.position[-1]
    assert np.linalg.norm(scope["estimate"].position - truth) < 5


def test_the_asynchronous_example_evaluates_likelihoods_concurrently(capsys):
    example = runpy.run_path(str(EXAMPLES / "ask_tell.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert f"{example['N'] * example['T']} likelihoods" in printed
    assert float(printed.split()[1]) < 0.4


def test_filters_that_share_a_service_survive_its_outage(capsys):
    runpy.run_path(str(EXAMPLES / "asyncio_likelihood.py"), run_name="__main__")
    outage, error, requests = capsys.readouterr().out.splitlines()
    assert outage == "object 2: no answer to 3 requests at t=5, without it"
    assert float(error.split()[1]) < 0.6
    assert int(requests.split()[2]) > 9  # without an answer


def test_worked_example_gains_from_rao_blackwellization(tmp_path):
    """Errors fall by a third at equal N, in position and velocity, random and herded."""
    example = runpy.run_path(str(EXAMPLES / "range_bearing.py"))
    errors = example["study"]((100,), 6, 40, 10_000, 1_000, progress=False)
    median = {name: np.median(e[0], axis=0) for name, e in errors.items()}
    for rule in ("bootstrap", "SKH"):
        assert (median[f"Rao-Blackwellized, {rule}"] < 0.67 * median[f"plain, {rule}"]).all()
    example["figure"](errors, (100,), 10, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 20_000


def test_the_landmark_example_runs_and_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["landmarks.py", "--steps", "200", "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "landmarks.py"), run_name="__main__")
    table = [line.split() for line in capsys.readouterr().out.splitlines()[3:]]
    off = {row[0]: float(row[-1]) for row in table}
    assert 0 < off["smoothed"] < off["random"]
    assert (tmp_path / "landmarks.png").stat().st_size > 10_000


def test_a_lost_filter_is_seen_by_comparisons_and_not_by_single_steps():
    """On 15 drives; on 200 the example gives the numbers of `docs/robots.md`."""
    example = runpy.run_path(str(EXAMPLES / "lost.py"))
    early, late = example["MOMENTS"].values()
    start, ahead = example["START"], example["START"] + example["AHEAD"]
    _, right = example["study"](5, early, start, 0)
    _, lost = example["study"](5, early, ahead, 0)
    np.testing.assert_allclose(lost.mean((0, 2)), right.mean((0, 2)), rtol=0.03)  # the same law
    shares, right, lost = example["alarms"](15, late)
    assert lost[0] > right[0]  # a lost filter has the larger ESS
    low_ess, _, *telling, second_filter, elsewhere = (share for _, share in shares.values())
    assert low_ess == 0.0
    assert min(*telling, elsewhere) > 0.8
    assert second_filter < 0.5


def test_fifty_placed_particles_beat_two_hundred_random_ones_in_six_dimensions(tmp_path):
    """On 2 sets of 120 steps; on 6 of 300 the example gives the errors of `docs/uav.md`."""
    example = runpy.run_path(str(EXAMPLES / "smoothed.py"))

    def error(name, n):
        return np.mean([example["error"](6, example["RULES"][name], n, 120, s) for s in range(2)])

    smoothed = error("default rule, smoothed", 50)
    assert smoothed < 0.75 * error("PF", 200)
    assert smoothed < 0.75 * error("default rule", 50)
    errors = example["study"]((2,), (10, 20), 1, 12, progress=False)
    example["figure"](errors, (2,), (10, 20), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 20_000


def test_the_uav_example_runs_and_draws(tmp_path, monkeypatch, capsys):
    options = ["uav.py", "--steps", "60", "--n", "10", "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", options)
    runpy.run_path(str(EXAMPLES / "uav.py"), run_name="__main__")
    assert "ATE" in capsys.readouterr().out
    assert (tmp_path / "uav.png").stat().st_size > 10_000
    assert len(read_tum(tmp_path / "uav.txt")) == 60
