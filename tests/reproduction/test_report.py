"""The report: its files, its page in a browser, and archives to continue from."""

import io
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from skh.reproduction import style
from skh.reproduction.catalogue import STUDIES
from skh.reproduction.engine import fingerprint
from skh.reproduction.engine.executor import complete, local
from skh.reproduction.engine.results import archive, load, unpack
from skh.reproduction.engine.store import Store, StoreError
from skh.reproduction.report import runner
from skh.reproduction.report.drawing import _save_png
from skh.reproduction.report.writer import notes, write_report
from small import MIXTURE, SMALL

PICTURES = {
    *("mixture", "search-points", "runtime", "break-even", "synthetic"),
    *("synthetic-lgss3", "synthetic-lgss15", "synthetic-jmls", "synthetic-nonlinear"),
    *("default", "second-look", "second-look-particles", "second-look-step"),
    *("uav", "uav-flights", "uav-step", "uav-above"),
}


pytestmark = pytest.mark.xdist_group("report")  # one worker makes what all tests here read


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with all experiments, small, and their report."""
    out = tmp_path_factory.mktemp("made")
    runner.run(SMALL, out, runner.Where(1), Console(quiet=True))
    return out, *write_report(out)


def test_every_file_is_written(made):
    out, results, judged = made
    assert {p.stem for p in (out / "figures").glob("*.png")} == PICTURES
    assert {p.stem for p in (out / "figures").glob("*.svg")} == PICTURES
    assert set(results) == {e.name for e in SMALL}
    assert all(r.complete for r in results.values())
    claims = json.loads((out / "claims.json").read_text())
    assert len(claims) == len(judged) > 20
    few = ("runtime", "default", "second-look")  # some of their claims are about larger sizes
    assert "not enough records" not in str([c for c in claims if c["experiment"] not in few])
    table = (out / "claims.md").read_text()
    assert table.count("\n") == len(judged) + 2
    assert "“FCFW always performs best”" in table
    assert "“(not in the paper" not in table  # remarks are not quotations


def test_the_report_is_self_contained(made):
    page = (made[0] / "report.html").read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)
    assert "Not at the paper" in page
    for claim in made[2]:
        assert claim.outcome in page


def test_the_report_is_the_same_from_the_archive(made, tmp_path):
    out, results, judged = made
    archive(tmp_path, {"mixture": results["mixture"]})
    _, again = write_report(tmp_path)
    assert [j.verdict for j in again] == [j.verdict for j in judged if j.experiment == "mixture"]
    assert (tmp_path / "figures/mixture.svg").read_text() == (
        out / "figures/mixture.svg"
    ).read_text()


def test_a_partial_run_is_reported_with_its_gaps(tmp_path):
    with local(1) as engine:
        complete(MIXTURE, tmp_path / "mixture", engine)
    for path in sorted((tmp_path / "mixture" / "tasks").iterdir())[4:]:
        path.unlink()
    results, _ = write_report(tmp_path)
    assert "Unfinished: mixture, 4 of 12 tasks." in notes(results)
    others = ", ".join(entry.name for entry in STUDIES if entry.name != "mixture")
    assert f"Not run: {others}." in notes(results)
    assert "8 are missing" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("experiment", SMALL, ids=lambda e: e.name)
def test_an_unfinished_run_goes_on_from_the_archive(made, tmp_path, experiment):
    """Archived records are not computed again, for instance on another machine."""
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


def test_archived_records_of_other_code_are_neither_continued_nor_replaced(
    made, tmp_path, monkeypatch
):
    archive(tmp_path, {"mixture": made[1]["mixture"]})
    before = (tmp_path / "records.csv.gz").read_bytes()
    monkeypatch.setattr(fingerprint, "code_hash", lambda module: "another")
    with pytest.raises(StoreError, match=r"records.csv.gz holds records of another code"):
        runner.run([MIXTURE], tmp_path, runner.Where(1), Console(quiet=True))
    assert not (tmp_path / "mixture").exists()
    assert (tmp_path / "records.csv.gz").read_bytes() == before


def test_an_archive_that_was_cut_short_is_reported_and_completed(made, tmp_path):
    archive(tmp_path, {"mixture": made[1]["mixture"]})
    path = tmp_path / "records.csv.gz"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    copy = shutil.copytree(tmp_path, tmp_path / "copy")
    results, _ = write_report(copy)
    found = results["mixture"].finished
    assert 0 < found < 12
    assert f"Unfinished: mixture, {found} of 12 tasks." in notes(results)
    lost = f"records.csv.gz was cut short: {12 - found} tasks of mixture are lost."
    assert lost in notes(results)
    screen = Console(record=True, file=io.StringIO(), width=200)
    runner.run([MIXTURE], tmp_path, runner.Where(1), screen)
    assert f"{12 - found} tasks of mixture are lost and computed again" in screen.export_text()
    again = load(tmp_path, ["mixture"])["mixture"]
    assert again.complete
    without_times = {"seconds": 0.0, "rule_seconds": 0.0}
    assert [repr(replace(r, **without_times)) for r in again.records] == [
        repr(replace(r, **without_times)) for r in made[1]["mixture"].records
    ]


def test_figures_are_not_written_through_links(made, tmp_path):
    archive(tmp_path, {"mixture": made[1]["mixture"]})
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    (tmp_path / "figures").symlink_to(precious)
    with pytest.raises(StoreError, match="figures is a symbolic link"):
        write_report(tmp_path)
    (tmp_path / "figures").unlink()
    (tmp_path / "figures").mkdir()
    for ending in ("png", "svg"):
        (tmp_path / f"figures/mixture.{ending}").symlink_to(precious / "file")
    write_report(tmp_path)
    assert [path.name for path in precious.iterdir()] == ["file"]
    assert (precious / "file").read_text() == "kept"
    assert (tmp_path / "figures/mixture.png").read_bytes() == (
        made[0] / "figures/mixture.png"
    ).read_bytes()


def test_nothing_to_report_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="holds no records"):
        write_report(tmp_path)


# --- in a real browser ---------------------------------------------------------------------------

# Looks at the page as a reader would.
PROBE = """(async () => {
  const images = [...document.querySelectorAll("figure img")];
  await Promise.all(images.map(image => image.decode()));
  const head = document.querySelector("table.numbers th:nth-child(8)");
  const column = () => [...head.closest("table").tBodies[0].rows]
    .map(row => Number(row.children[7].dataset.value)).filter(x => !Number.isNaN(x));
  const is = (compare) => column().every((x, i, all) => i === 0 || compare(all[i - 1], x));
  head.querySelector("button").click();
  const up = is((a, b) => a <= b);
  head.querySelector("button").click();
  return {
    figures: images.filter(image => image.naturalWidth > 300).map(i => i.closest("figure").id),
    sorts: up && is((a, b) => a >= b),
    rows: document.querySelectorAll("table.claims tbody tr").length,
  };
})()"""


@pytest.mark.parametrize(("width", "phone"), [(1280, False), (390, True)])
def test_the_report_opens_in_a_browser(made, browser, width, phone):
    with browser.page(made[0] / "report.html", width, phone=phone) as page:
        seen = page.see(PROBE)
        assert page.fits()
    assert set(seen["figures"]) == {f"figure-{name}" for name in PICTURES}
    assert seen["sorts"]
    assert seen["rows"] == len(made[2])


def test_images_keep_their_colours(tmp_path):
    """128 colours are enough for lines, and not for a map of colours."""
    figure, axes = style.panels(1, 1)
    axes[0, 0].imshow(np.linspace(0, 1, 900).reshape(30, 30), cmap="RdBu")
    _save_png(style.Picture("map", "", figure), tmp_path)
    with Image.open(tmp_path / "map.png") as image:
        assert len(image.convert("RGB").getcolors(1 << 20)) > 200
