"""The command `skh`: its output, files and error messages."""

import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import skh
from skh.cli import app
from skh.reproduction.demo.tasks import Demo
from skh.reproduction.engine.executor import cluster
from skh.reproduction.engine.store import Store
from skh.reproduction.entry import Entry
from skh.reproduction.report import runner
from skh.reproduction.style import label
from small import SMALL


@pytest.fixture
def small(monkeypatch):
    """The command, with small experiments."""
    by_name = {e.name: e for e in SMALL}
    monkeypatch.setattr(Entry, "experiment", lambda entry, quick: by_name[entry.name])


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_demo_prints_a_table_and_draws_a_figure(tmp_path):
    options = ["--out", str(tmp_path / "new"), "--n", "5", "--batches", "1", "--steps", "3"]
    result = CliRunner().invoke(app, ["demo", *options])
    assert result.exit_code == 0, result.output
    places = [result.output.index(label(rule)) for rule in Demo().rules]
    assert places == sorted(places)  # the default rule is the first row
    assert (tmp_path / "new" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new" / "demo.png").stat().st_size > 20_000
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["demo.png"]


def test_the_command_runs_resumes_and_reports(small, tmp_path):
    first = invoke("mixture", "--quick", "--out", tmp_path, "--workers", 1)
    assert first.exit_code == 0, first.output
    assert "mixture: 12/12 tasks" in first.output
    assert first.output.count("drawing ") == 1
    assert first.output.index("drawing mixture") < first.output.index("writing report.html")
    assert "FCFW is best" in re.sub(r"\s+", " ", first.output)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("tasks/*.json")}
    assert invoke("mixture", "--quick", "--out", tmp_path).exit_code == 0
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("tasks/*.json")} == before
    assert invoke("all", "--out", tmp_path, "--report-only").exit_code == 0


def test_the_command_names_its_errors(small, tmp_path, monkeypatch):
    unknown = invoke("mixtures", "--out", tmp_path)
    assert unknown.exit_code == 2
    assert "not one of mixture" in unknown.output
    (tmp_path / "file").write_text("")
    unwritable = invoke("mixture", "--out", tmp_path / "file", "--workers", 1)
    assert unwritable.exit_code == 1
    assert "cannot write to" in unwritable.output
    good = tmp_path / "good"
    assert invoke("mixture", "--out", good, "--workers", 1).exit_code == 0
    cut = sorted(good.rglob("tasks/*.json"))[0]
    cut.write_bytes(cut.read_bytes()[:100])
    damaged = invoke("mixture", "--out", good, "--workers", 1)
    assert damaged.exit_code == 1
    assert "is damaged" in damaged.output
    cut.unlink()  # as the message says
    (good / "run.json").write_text("[]")
    for command in (["--report-only"], ["--workers", 1]):
        unexpected = invoke("mixture", "--out", good, *command)
        assert unexpected.exit_code == 1
        assert "run.json is damaged (it is [], not an object)" in unexpected.output
    (good / "run.json").unlink()
    assert invoke("mixture", "--out", good, "--workers", 1).exit_code == 0


@pytest.mark.filterwarnings("ignore")
def test_the_command_names_an_unreachable_scheduler(small, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setattr(runner, "cluster", lambda address: cluster(address, timeout=0.5))
    result = invoke("mixture", "--out", tmp_path, "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 1
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in result.output


def test_ctrl_c_says_how_to_continue(small, tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupt)
    result = invoke("mixture", "--out", tmp_path)
    assert result.exit_code == 130
    assert "the same command continues" in re.sub(r"\s+", " ", result.output)


TERMINATED = """
import sys
from dataclasses import replace
from skh.cli import app
from skh.reproduction.entry import Entry
from small import FILTERS
if __name__ == "__main__":
    Entry.experiment = lambda entry, quick: replace(FILTERS, batches=500)
    app(["reproduce", "synthetic", *sys.argv[1:]])
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGTERM")
@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_says_what_is_kept_and_how_to_continue(tmp_path, workers):
    """Also if the whole process group gets it, as in a batch system."""
    tests = str(Path(__file__).parent)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([tests, *sys.path]))
    process = subprocess.Popen(
        [sys.executable, "-c", TERMINATED, "--out", str(tmp_path), "--workers", str(workers)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not list(tmp_path.rglob("tasks/*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 143, errors
    said = f"Terminated. Finished tasks are in {tmp_path}; the same command continues."
    assert errors.strip() == said
    assert "synthetic: 0/3000 tasks" in output
    assert Store(tmp_path / "synthetic").read()
    assert not list(tmp_path.rglob("*.tmp"))


def test_the_handler_of_sigterm_is_restored(small, tmp_path, monkeypatch):
    def terminate(*arguments):
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(runner, "run", terminate)
    result = invoke("mixture", "--out", tmp_path)
    assert result.exit_code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_help_names_the_commands():
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    for command in ("run", "check", "compare", "localize", "demo", "reproduce"):
        assert command in result.output


def test_version_is_that_of_the_package():
    assert importlib.metadata.version("skh") == skh.__version__
    assert all(hasattr(skh, name) for name in skh.__all__)
