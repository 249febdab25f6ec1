"""``skh reproduce``: one command leaves a report that a browser shows."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from skh import cli, reproduce
from skh.experiments import fingerprint
from skh.experiments.engine import cluster, complete, local
from skh.experiments.results import archive, load, unpack
from skh.experiments.store import Store, StoreError
from small import MIXTURE, SMALL

PICTURES = {
    *("mixture", "search-points", "runtime", "break-even", "synthetic"),
    *("synthetic-lgss3", "synthetic-lgss15", "synthetic-jmls", "synthetic-nonlinear"),
    *("default", "uav", "uav-flights", "uav-step", "uav-above"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with all experiments, small, and their report."""
    out = tmp_path_factory.mktemp("made")
    reproduce.run(SMALL, out, reproduce.Where(1), Console(quiet=True))
    return out, *reproduce.report(out)


@pytest.fixture
def small(monkeypatch):
    """The command with small experiments."""
    monkeypatch.setattr(cli, "catalogue", lambda quick: {e.name: e for e in SMALL})


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["reproduce", *map(str, arguments)])


def test_every_file_is_written(made):
    out, results, judged = made
    assert {p.stem for p in (out / "figures").glob("*.png")} == PICTURES
    assert {p.stem for p in (out / "figures").glob("*.svg")} == PICTURES
    assert set(results) == {e.name for e in SMALL}
    assert all(r.complete for r in results.values())
    claims = json.loads((out / "claims.json").read_text())
    assert len(claims) == len(judged) > 20
    few = ("runtime", "default")  # some of their claims are about larger sizes
    assert "not enough records" not in str([c for c in claims if c["experiment"] not in few])
    table = (out / "claims.md").read_text()
    assert table.count("\n") == len(judged) + 2
    assert "“FCFW always performs best”" in table
    assert "“(not in the paper" not in table  # a remark is no quotation


def test_the_report_needs_nothing_else(made):
    page = (made[0] / "report.html").read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)
    assert "Not at the paper" in page
    for claim in made[2]:
        assert claim.outcome in page


def test_the_report_is_the_same_from_the_archive(made, tmp_path):
    out, results, judged = made
    archive(tmp_path, {"mixture": results["mixture"]})
    _, again = reproduce.report(tmp_path)
    assert [j.verdict for j in again] == [j.verdict for j in judged if j.experiment == "mixture"]
    assert (tmp_path / "figures/mixture.svg").read_text() == (
        out / "figures/mixture.svg"
    ).read_text()


def test_a_part_of_a_run_is_reported_with_what_is_missing(tmp_path):
    with local(1) as engine:
        complete(MIXTURE, tmp_path / "mixture", engine)
    for path in sorted((tmp_path / "mixture" / "tasks").iterdir())[4:]:
        path.unlink()
    results, _ = reproduce.report(tmp_path)
    assert "Unfinished: mixture, 4 of 12 tasks." in reproduce.notes(results)
    assert "Not run: search-points, runtime, synthetic, default, uav." in reproduce.notes(results)
    assert "8 are missing" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("experiment", SMALL, ids=lambda e: e.name)
def test_an_unfinished_run_goes_on_from_the_archive(made, tmp_path, experiment):
    """On another machine, say: nothing that is archived is computed again."""
    folder = made[0] / experiment.name
    copied = shutil.copytree(folder, tmp_path / "half" / experiment.name)
    left_out = sorted((copied / "tasks").glob("*.json"))[1]
    left_out.unlink()
    archive(tmp_path, load(tmp_path / "half", [experiment.name]))
    unpack(tmp_path, experiment)
    ours, theirs = Store(tmp_path / experiment.name), Store(folder)
    assert theirs.keys() - ours.keys() == {left_out.stem}
    assert ours.manifest() == theirs.manifest()
    assert list(map(repr, ours.read())) == list(map(repr, Store(copied).read()))


def test_archived_records_of_other_code_are_neither_gone_on_with_nor_replaced(
    made, tmp_path, monkeypatch
):
    archive(tmp_path, {"mixture": made[1]["mixture"]})
    before = (tmp_path / "records.csv.gz").read_bytes()
    monkeypatch.setattr(fingerprint, "code_hash", lambda module: "another")
    with pytest.raises(StoreError, match=r"records.csv.gz holds records of another code"):
        reproduce.run([MIXTURE], tmp_path, reproduce.Where(1), Console(quiet=True))
    assert not (tmp_path / "mixture").exists()
    assert (tmp_path / "records.csv.gz").read_bytes() == before


def test_nothing_to_report_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="holds no records"):
        reproduce.report(tmp_path)


def test_the_command_runs_resumes_and_reports(small, tmp_path):
    first = invoke("mixture", "--quick", "--out", tmp_path, "--workers", 1)
    assert first.exit_code == 0, first.output
    assert "12/12 tasks" in first.output
    assert "FCFW is best" in re.sub(r"\s+", " ", first.output)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("tasks/*.json")}
    assert invoke("mixture", "--quick", "--out", tmp_path).exit_code == 0
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("tasks/*.json")} == before
    assert invoke("all", "--out", tmp_path, "--report-only").exit_code == 0


def test_the_command_names_its_errors(small, tmp_path, monkeypatch):
    unknown = invoke("mixtures", "--out", tmp_path)
    assert unknown.exit_code == 2
    assert "none of mixture" in unknown.output
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
    assert invoke("mixture", "--out", good, "--workers", 1).exit_code == 0


@pytest.mark.filterwarnings("ignore")
def test_the_command_names_an_unreachable_scheduler(small, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setattr(reproduce, "cluster", lambda address: cluster(address, timeout=0.5))
    result = invoke("mixture", "--out", tmp_path, "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 1
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in result.output


def test_ctrl_c_says_how_to_go_on(small, tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "run", interrupt)
    result = invoke("mixture", "--out", tmp_path)
    assert result.exit_code == 130
    assert "the same command goes on" in re.sub(r"\s+", " ", result.output)


def test_quick_and_full_are_the_same_experiments():
    quick, full = cli.catalogue(True), cli.catalogue(False)
    names = ["mixture", "search-points", "runtime", "synthetic", "default", "uav"]
    assert list(quick) == list(full) == names
    assert all(len(quick[name].tasks()) < len(full[name].tasks()) for name in full)
    synthetic = full["synthetic"]
    assert len(synthetic.tasks()) == 4 * 7 * 30
    assert replace(synthetic, batches=1).tasks() == synthetic.tasks()[:28]


# --- in a real browser ---------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--dump-dom"),
    "--virtual-time-budget=20000",
)
# Looks at the page as a reader would, and leaves what it saw in the page.
PROBE = """<script>
"use strict";
addEventListener("load", async () => {
  const images = [...document.querySelectorAll("figure img")];
  await Promise.all(images.map(image => image.decode()));
  const head = document.querySelector("table.numbers th:nth-child(8)");
  const column = () => [...head.closest("table").tBodies[0].rows]
    .map(row => Number(row.children[7].dataset.value)).filter(x => !Number.isNaN(x));
  const is = (compare) => column().every((x, i, all) => i === 0 || compare(all[i - 1], x));
  head.querySelector("button").click();
  const up = is((a, b) => a <= b);
  head.querySelector("button").click();
  const seen = {
    figures: images.filter(image => image.naturalWidth > 300).map(i => i.closest("figure").id),
    sorts: up && is((a, b) => a >= b),
    fits: document.documentElement.scrollWidth <= window.innerWidth,
    rows: document.querySelectorAll("table.claims tbody tr").length,
  };
  document.body.dataset.seen = JSON.stringify(seen);
});
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: the page was not opened")
@pytest.mark.parametrize("width", [1280, 500])  # the narrowest window that Chromium opens
def test_the_report_opens_in_a_browser(made, tmp_path, width):
    page, profile = tmp_path / "report.html", tmp_path / "profile"
    text = (made[0] / "report.html").read_text()
    page.write_text(text.replace("</body>", PROBE + "</body>"))
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={profile}",
            f"--window-size={width},900",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr
    seen = json.loads(found[1].replace("&quot;", '"'))
    assert set(seen["figures"]) == {f"figure-{name}" for name in PICTURES}
    assert seen["sorts"]
    assert seen["fits"]
    assert seen["rows"] == len(made[2])
