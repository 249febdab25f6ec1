"""The commands on small inputs: what they print, write and keep."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import skh
from skh.app import run as running
from skh.app.compare import Comparison, Line, compared, duration, in_words, needed_particles
from skh.app.read_table import read_table
from skh.app.scenario import read_scenario
from skh.app.sharpness import worth
from skh.app.table import Columns
from skh.app.template import TEMPLATE
from skh.app.trials import Cost, Measured, Reference, Series, Sizes, rms, run_reference
from skh.cli import app

MODEL = """
import numpy as np
import skh


def transition(t, x):
    return 0.9 * x, 0.1


def log_likelihood(t, x, y):
    return -0.5 * ((y[0] - x[:, 0]) / 0.3) ** 2


model = skh.model_from_functions(([0.0], 1.0), transition, log_likelihood)


def make_model(data, noise=0.3):
    steps = data["step"]
    return skh.model_from_functions(
        ([0.0], 1.0),
        lambda t, x: (x + steps[t], 0.1),
        lambda t, x, y: -0.5 * ((y[0] - x[:, 0]) / noise) ** 2,
    )
"""
T = 6


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # folders of models join it
    _, ys = skh.models.stochastic_volatility().simulate(T, rng=0)
    rows = [f"2024-01-{t + 1:02d},{y[0]!r},{t / 10}\n" for t, y in enumerate(ys.tolist())]
    rows[3] = "2024-01-04,,0.3\n"
    (tmp_path / "data.csv").write_text("date,y,step\n" + "".join(rows))
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def succeeds(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def observations(folder):
    return read_table(folder / "data.csv", Columns(("y",), "date")).values


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def untimed_rows(path):
    """The rows without the columns that the clock fills."""
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds")}
        for row in rows_of(path)
    ]


SMALL = ("--columns", "y", "--times", "date", "--n", "10", "--rule", "Stratified")


def test_run_gives_the_numbers_of_the_library(folder):
    """Table, figure and report of a built-in model; the seed is 0."""
    printed = succeeds("run", "stochastic_volatility", "data.csv", *SMALL)
    model = skh.models.stochastic_volatility()
    expected = skh.particle_filter(model, observations(folder), skh.Stratified(), 10, rng=0)
    assert f"log-evidence {expected.log_evidence:.2f}" in printed
    assert "6 steps of y, 1 without a measurement" in printed
    table = rows_of(folder / "run" / "table.csv")
    np.testing.assert_array_equal([float(r["x0_mean"]) for r in table], expected.means[:, 0])
    assert table[2]["time"].startswith("2024-01-03")
    assert (folder / "run" / "plot.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "run" / "run.html").read_text()
    assert "stochastic_volatility on data.csv" in page
    assert '"observedNames":["y"]' in page  # the column of the table
    assert sorted(p.name for p in (folder / "run").iterdir()) == [
        "plot.png",
        "run.html",
        "table.csv",
    ]
    for name in ("table.csv", "plot.png", "run.html"):
        assert f"run/{name}" in printed


def test_a_scenario_says_all_of_it(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "s.toml").write_text(
        '[model]\nuse = "counts"\nstates = ["log_rate"]\nparameters = {rate = 2, noise = 0.5}\n'
        '[data]\nfile = "../counts.parquet"\n'
        '[filter]\nrule = "systematic"\nn = 12\nseed = 3\nquantiles = [0.5]\n'
        '[outputs]\nfolder = "out"\ntable = "t.parquet"\nplot = ""\nreport = ""\n'
        'result = "all.npz"\n'
    )
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    from pyarrow import parquet

    parquet.write_table(pa.table({"y": [3, None, 1]}), folder / "counts.parquet")
    assert "log_rate" in succeeds("run", "sub/s.toml")
    frame = pd.read_parquet(folder / "sub" / "out" / "t.parquet")
    model = skh.models.counts(rate=2, noise=0.5)
    ys = np.array([[3.0], [np.nan], [1.0]])
    expected = skh.particle_filter(model, ys, skh.Systematic(), 12, rng=3, quantiles=[0.5])
    np.testing.assert_array_equal(frame["log_rate_mean"], expected.means[:, 0])
    np.testing.assert_array_equal(frame["log_rate_q0.5"], expected.quantiles[:, 0, 0])
    saved = skh.load_result(folder / "sub" / "out" / "all.npz")
    np.testing.assert_array_equal(saved.means, expected.means)
    assert sorted(p.name for p in (folder / "sub" / "out").iterdir()) == ["all.npz", "t.parquet"]


def test_options_come_before_the_scenario(folder):
    (folder / "s.toml").write_text(
        '[model]\nuse = "model.py"\n[data]\nfile = "data.csv"\n[filter]\nn = 500\n'
        '[outputs]\nplot = ""\nreport = ""\n'
    )
    succeeds("run", "s.toml", *SMALL, "--out", "elsewhere")
    assert {row["n_particles"] for row in rows_of(folder / "elsewhere" / "table.csv")} == {"10"}
    assert not (folder / "run").exists()


def test_a_function_makes_a_model_of_the_data_and_its_parameters(folder):
    (folder / "s.toml").write_text(
        '[model]\nuse = "model.py:make_model"\nparameters = {noise = 0.2}\n'
        '[data]\nfile = "data.csv"\ncolumns = "y"\ninputs = "step"\n'
        '[filter]\nn = 10\nrule = "Stratified"\n[outputs]\nplot = ""\nreport = ""\n'
    )
    succeeds("run", "s.toml")
    model = skh.model_from_functions(
        ([0.0], 1.0),
        lambda t, x: (x + t / 10, 0.1),
        lambda t, x, y: -0.5 * ((y[0] - x[:, 0]) / 0.2) ** 2,
    )
    expected = skh.particle_filter(model, observations(folder), skh.Stratified(), 10, rng=0)
    means = [float(row["x0_mean"]) for row in rows_of(folder / "run" / "table.csv")]
    np.testing.assert_allclose(means, expected.means[:, 0], rtol=1e-12)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_workers_give_the_same_numbers(folder, executor):
    options = ("--out", executor, "--executor", executor, "--workers", "2")
    quiet = '[outputs]\nplot = ""\nreport = ""\n'
    (folder / "s.toml").write_text(
        f'[model]\nuse = "model.py"\n[data]\nfile = "data.csv"\n[filter]\nchunk = 5\n{quiet}'
    )
    succeeds("run", "s.toml", *SMALL, *options)
    succeeds("run", "s.toml", *SMALL)
    one, two = (folder / where / "table.csv" for where in ("run", executor))
    assert [r["x0_mean"] for r in rows_of(one)] == [r["x0_mean"] for r in rows_of(two)]


def test_init_writes_a_scenario_that_is_valid(folder):
    assert succeeds("run", "--init") == TEMPLATE
    assert "skh run new.toml" in succeeds("run", "--init", "new.toml")
    scenario = read_scenario(folder / "new.toml")
    assert scenario.model.use == "stochastic_volatility"
    every_key = re.sub(r"(?m)^# (?=\w+ = )", "", (folder / "new.toml").read_text())
    (folder / "all.toml").write_text(every_key)
    everything = read_scenario(folder / "all.toml")
    shown = {
        "states",
        "columns",
        "inputs",
        "times",
        "missing",
        "timeout",
        "separator",
    }  # are examples
    assert everything.filter == type(scenario.filter)(timeout=60.0)
    assert everything.outputs == scenario.outputs
    assert shown <= set(re.findall(r"(?m)^(\w+) = ", every_key))


def test_separators_commas_and_missing_values(folder):
    (folder / "d.csv").write_text("t;a;b\n1;0,5;-999\n\n2;NA;1e3\n", encoding="utf-8-sig")
    wanted = Columns((), "t", ("-999",), None, ",")
    table = read_table(folder / "d.csv", wanted)
    np.testing.assert_array_equal(table.values, [[0.5, np.nan], [np.nan, 1000.0]])
    np.testing.assert_array_equal(table.times, [1.0, 2.0])
    assert table.lines == (2, 4)
    assert list(table.as_columns()) == ["t", "a", "b"]


def test_options_say_what_commas_and_odd_cells_mean(folder):
    (folder / "d.csv").write_text("t;a\n1;0,5\n2;-999\n3;n.a.\n4;1,5\n")
    reading = ("--columns", "a", "--times", "t", "--decimal", ",", "--missing", "n.a., -999")
    printed = succeeds("run", "stochastic_volatility", "d.csv", *reading, "--n", "10")
    assert "4 steps of a, 2 without a measurement" in printed
    model = skh.models.stochastic_volatility()
    expected = skh.particle_filter(model, [0.5, None, None, 1.5], n=10, rng=0)
    assert f"log-evidence {expected.log_evidence:.2f}" in printed
    assert "The model can be filtered." in succeeds(
        "check", "stochastic_volatility", "d.csv", *reading
    )


def test_ctrl_c_keeps_the_steps_before(folder, monkeypatch):
    def interrupted(model, ys, *args, **kwargs):
        error = KeyboardInterrupt()
        error.result = skh.particle_filter(model, ys[:2], skh.Stratified(), 5, rng=0)
        raise error

    monkeypatch.setattr(running, "particle_filter", interrupted)
    result = CliRunner().invoke(app, ["run", "model.py", "data.csv", *SMALL])
    assert result.exit_code == 130
    assert result.stderr == "Interrupted; the first 2 of 6 steps are in run/table.csv.\n"
    assert len(rows_of(folder / "run" / "table.csv")) == 2


SLOW = MODEL.replace(
    "def log_likelihood(t, x, y):\n", "def log_likelihood(t, x, y):\n    wait(t)\n"
)
WAIT = """
import time
from pathlib import Path


def wait(t):
    if t == 3 and not Path("waiting").exists():
        Path("waiting").touch()
        time.sleep(60)
"""


def test_a_checkpoint_of_another_run_is_not_blamed_on_the_model(folder):
    (folder / "s.toml").write_text(
        '[model]\nuse = "model.py"\n[data]\nfile = "data.csv"\ncolumns = ["y"]\n'
        '[outputs]\nplot = ""\nreport = ""\ncheckpoint = "checkpoint.npz"\n'
    )
    succeeds("run", "s.toml", "--n", "5")
    result = CliRunner().invoke(app, ["run", "s.toml", "--n", "6"])
    assert result.exit_code == 2
    path = folder / "run" / "checkpoint.npz"
    assert result.output.startswith(f"error: {path} is of a run with n=5, got n=6: pass the same")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGTERM")
def test_python_m_skh_is_the_command_and_sigterm_says_what_is_kept(folder):
    (folder / "model.py").write_text(WAIT + SLOW)
    (folder / "data.csv").write_text("date,y\n" + "".join(f"{t},0.1\n" for t in range(6)))
    (folder / "s.toml").write_text(
        '[model]\nuse = "model.py"\n[data]\nfile = "data.csv"\n'
        '[outputs]\nplot = ""\nreport = ""\ncheckpoint = "checkpoint.npz"\n'
    )
    command = [sys.executable, "-m", "skh"]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    process = subprocess.Popen(
        [*command, "run", "s.toml", *SMALL],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (folder / "waiting").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 143, errors
    said = "Terminated; the first 3 of 6 steps are in run/table.csv; the same command continues."
    assert errors.strip().splitlines()[-1] == said
    stopped = rows_of(folder / "run" / "table.csv")
    assert len(stopped) == 3
    succeeds("run", "s.toml", *SMALL)
    continued = untimed_rows(folder / "run" / "table.csv")
    succeeds("run", "s.toml", *SMALL, "--out", "whole")
    assert continued == untimed_rows(folder / "whole" / "table.csv")
    assert rows_of(folder / "run" / "table.csv")[:3] == stopped


def test_version():
    assert succeeds("--version") == f"skh {skh.__version__}\n"


# --- check ---------------------------------------------------------------------------------------

LIKELIHOODS = {
    "random": (
        "return -0.5 * (y[0] - x[:, 0]) ** 2 + RNG.standard_normal(len(x))",
        r"WRONG  repeatable: the same call gave .*: does log_likelihood draw random numbers\?",
    ),
    "depends on other rows": (
        "v = -0.5 * (y[0] - x[:, 0]) ** 2\n    return v - v.max()",
        r"WRONG  rows: particle \d+ has .* among 16, .* alone: the likelihood of a row must not",
    ),
    "squeezes one row": (
        "v = np.squeeze(x)\n    return np.array([1.0 * len(v)] * len(v))",
        r"WRONG  rows: 16 particles work, one alone does not: raises TypeError",
    ),
    "writes into x": (
        "x[:, 0] -= y[0]\n    return -0.5 * x[:, 0] ** 2",
        r"WRONG  likelihood: raises ValueError: .*read-only",
    ),
    "NaN": (
        "return np.nan * x[:, 0]",
        r"WRONG  likelihood: log_likelihood must return numbers below \+inf, got nan",
    ),
    "shape": ("return x", r"WRONG  likelihood: log_likelihood must return shape \(16,\), one"),
    "raises": ("raise RuntimeError('no map')", "WRONG  likelihood: raises RuntimeError: no map"),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_check_says_what_is_wrong(folder, name):
    body, line = LIKELIHOODS[name]
    (folder / "model.py").write_text(
        "import numpy as np\nimport skh\n\nRNG = np.random.default_rng(0)\n\n\n"
        f"def likelihood(t, x, y):\n    {body}\n\n\n"
        "model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 0.1), likelihood)\n"
    )
    result = CliRunner().invoke(app, ["check", "model.py", "data.csv", "--columns", "y"])
    assert result.exit_code == 2, result.output
    assert re.search(line, result.output), result.output
    assert "1 wrong" in result.output
    assert not (folder / "run").exists()


def test_check_says_that_a_transition_has_the_wrong_shape(folder):
    (folder / "model.py").write_text(MODEL.replace("0.9 * x, 0.1", "0.9 * x[:, 0], 0.1"))
    result = CliRunner().invoke(app, ["check", "model.py"])
    assert result.exit_code == 2
    assert "WRONG  transition: model.transition at t=0 must return (means, cov" in result.output


def test_check_of_a_good_model(folder):
    printed = succeeds("check", "model.py", "data.csv", "--columns", "y", "--n", "8")
    assert "WRONG" not in printed
    for about in ("prior", "transition", "likelihood", "repeatable", "rows", "cost", "sharpness"):
        assert f"  {about}: " in printed
    assert "an observation keeps" in printed
    assert "placing 8 points takes" in printed
    alone = succeeds("check", "model.py")
    assert "note  likelihood: not tried: name a table with observations" in alone
    simulated = succeeds("check", "lgss3", "--n", "5")
    assert "ok  prior: a Gaussian in 3 dimensions" in simulated
    assert "sharpness" in simulated


@pytest.mark.parametrize(
    ("step", "share", "verdict", "words"),
    [
        (1.05, 0.5, "ok", "as good as 52 random particles, which take as long, but an observation"),
        (1.9, 0.9, "ok", "as good as 95 random particles, which take as long; use the default"),
        (10.0, 0.9, "ok", "as good as 500 random particles, which take as long, as is usual"),
        (1e5, 0.9, "note", "so cheap that many random particles may do as well"),
        (1e3, 1e-4, "ok", "but an observation keeps 0.0% of those; use the default"),
    ],
)
def test_whether_placing_pays(step, share, verdict, words):
    """A random particle takes 20 ms; 50 placed points take ``step`` seconds."""
    finding = worth(50, step, 0.02, share)
    assert finding.verdict == verdict
    assert words in finding.text


# --- compare -------------------------------------------------------------------------------------


def test_compare_prints_a_table_an_advice_and_draws_a_figure(folder):
    options = ("--columns", "y", "--n", "6", "--repeats", "2", "--seconds", "0.5")
    printed = re.sub(
        r"\s+", " ", succeeds("compare", "stochastic_volatility", "data.csv", *options)
    )
    for words in ("PF", "SQMC", "default", "With 6 likelihoods per step", "One likelihood takes"):
        assert words in printed
    assert re.search(r"Use (the default|SQMC|PF)", printed)
    assert (folder / "run" / "compare.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def timed(folder):
    """A model whose transition takes dt; between rows there is a day, 86,400 seconds."""
    moves = MODEL.replace("transition(t, x):", "transition(t, x, dt):", 1)
    moves = moves.replace("return 0.9 * x, 0.1", "assert dt == 86400\n    return 0.9 * x, 0.1", 1)
    (folder / "model.py").write_text(moves)
    return "model.py", "data.csv", "--columns", "y", "--times", "date", "--n", "6"


def test_check_of_a_model_that_takes_dt(timed):
    printed = succeeds("check", *timed)
    assert "ok  transition: a Gaussian for each particle" in printed
    assert "an observation keeps" in printed
    for without in (timed[:1], timed[:4]):
        result = CliRunner().invoke(app, ["check", *without])
        assert result.exit_code == 2
        assert "WRONG  transition: model.transition takes dt: name a table, and" in result.output


def test_check_of_a_model_that_takes_dt_on_one_row(timed, folder):
    (folder / "data.csv").write_text("date,y\n2024-01-01,0.3\n")
    model = (folder / "model.py").read_text().replace("    assert dt == 86400\n", "")
    (folder / "model.py").write_text(model)
    assert "ok  transition: a Gaussian for each particle" in succeeds("check", *timed)


def test_compare_with_a_model_that_takes_dt(timed):
    assert "Use " in succeeds("compare", *timed, "--repeats", "2", "--seconds", "0.5")


def test_the_reference_of_a_sharp_likelihood_is_placed():
    """The exact filter is the oracle: y = x + noise with standard deviation 0.003."""
    one = np.ones((1, 1))
    model = skh.models.LinearGaussian(0.9 * one, one, 0.1 * one, 1e-5 * one, np.zeros(1), one)
    _, ys = model.simulate(4, rng=0)
    exact, covariances, _ = skh.kalman_filter(model, ys)
    reference = run_reference(model, Series(ys), Sizes((10, 20, 40), 2, 4, 200))
    np.testing.assert_allclose(reference.sd[:, 0] ** 2, covariances[:, 0, 0], rtol=0.1)
    sd = np.sqrt(covariances[:, 0])
    assert rms(reference.means - exact, sd) < max(3 * reference.error, 0.01)
    wide = skh.models.stochastic_volatility()
    _, ys = wide.simulate(4, rng=0)
    series = Series(ys)
    coarse, fine = (
        run_reference(wide, series, Sizes((10, 20, 40), 2, 4, n)) for n in (200, 20_000)
    )
    assert fine.error < coarse.error / 10
    assert rms(coarse.means - fine.means, fine.sd) < 4 * coarse.error


def made_up(likelihood, placing, errors):
    """A comparison in which a PF step takes 10 microseconds beside the likelihoods."""
    measured = [
        Measured(name, n, error / n**0.5, Cost(n * likelihood, n * likelihood + others))
        for n in (50, 100)
        for name, error, others in zip(
            ("PF", "SQMC", "default"), errors, (1e-5, 1e-5, placing), strict=True
        )
    ]
    reference = Reference(np.zeros((1, 1)), np.ones((1, 1)), 1e-6, 10_000, None)
    large = Cost(10_000 * likelihood, 10_000 * likelihood + 1e-5)
    return compared(measured, 50, reference, large)


def test_the_break_even_is_where_the_times_are_equal():
    c = made_up(1e-6, 5e-3, (1.0, 1.0, 0.1))
    assert isinstance(c, Comparison)
    pf = c.rivals[0]
    assert pf.n == pytest.approx(5000)
    assert pf.break_even == pytest.approx((5e-3 - 1e-5) / (5000 - 50))
    assert c.seconds(pf.break_even) == pytest.approx(pf.seconds(pf.break_even))


def test_the_advice_depends_on_the_cost_of_a_likelihood():
    cheap, dear = (made_up(cost, 5e-3, (1.0, 0.9, 0.1)) for cost in (1e-8, 1e-3))
    assert cheap.best == "SQMC"
    assert in_words(cheap)[-1].startswith("Use SQMC with n = 4,000: as accurate, and ")
    assert dear.best == "default"
    assert in_words(dear)[-1].startswith("Use the default with n = 50: for the same accuracy")
    useless = made_up(1e-3, 5e-3, (1.0, 2.0, 1.5))
    assert useless.best == "PF"
    assert "is not more accurate here" in in_words(useless)[-1]
    assert "than PF in no case" in " ".join(in_words(useless))


def test_particles_needed_follow_the_measured_rate():
    sizes = [50, 100, 200]
    fast = [1.0 / n for n in sizes]
    assert needed_particles("SQMC", sizes, fast, 50, 0.001) == pytest.approx(1000)
    assert needed_particles("PF", [50], [0.1], 50, 0.05) == pytest.approx(200)
    assert needed_particles("PF", [50], [0.1], 50, 0.0) == np.inf
    assert Line.through({1: 3.0, 11: 5.0}).at(6) == pytest.approx(4.0)
    assert [duration(s) for s in (3e-9, 2.5e-5, 0.25, 250)] == ["3 ns", "25 µs", "250 ms", "250 s"]


def test_a_check_says_at_which_step_and_line_the_filter_failed(folder):
    (folder / "late.py").write_text(
        "import skh\n\n\ndef log_likelihood(t, x, y):\n    if t == 2:\n"
        "        raise ZeroDivisionError('late')\n    return -((y[0] - x[:, 0]) ** 2)\n\n\n"
        "model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 0.1), log_likelihood)\n"
    )
    result = CliRunner().invoke(app, ["check", "late.py", "data.csv", *SMALL[:4]])
    assert result.exit_code != 0
    assert "filter: at t=2 (data.csv:4): raises ZeroDivisionError: late" in result.output
