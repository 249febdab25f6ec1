"""Tables as people have them: semicolons, dates, commas, gaps, marks and a wrong measurement."""

import re
import runpy
import sys
from datetime import datetime, timedelta

import numpy as np
import pytest
from typer.testing import CliRunner

import skh
from pages import ROOT
from skh.app import InputError, read_observations
from skh.app.dates import as_date, formats_of, is_date
from skh.cli import app

GAUSSIAN = "stats.norm.logpdf(y[0], x[:, 0], NOISE)"  # in the model of the page
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
START, WRONG = datetime(2024, 1, 3, 6), 40  # the first time, and the row with an outlier
READING = ("--columns", "Temp °C", "--times", "Datum", "--missing", "-", "--decimal", ",")
DATES = ("--date-format", "%d.%m.%Y %H:%M")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The model of the tutorial, and a table that needs every option."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # folders of models join it
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "model.py").write_text(program.replace("= 20.0,", "= 6.0,"))
    rng = np.random.default_rng(0)
    values = 6 + np.cumsum(0.3 * rng.standard_normal(60)) + rng.standard_normal(60)
    cells = [f"{value:.1f}".replace(".", ",") for value in values]
    cells[20], cells[21], cells[WRONG] = "", "-", "85,0"
    days = [START + k * timedelta(days=1) for k in range(60)]
    rows = [f"{day:%d.%m.%Y %H:%M};{cell};" for day, cell in zip(days, cells, strict=True)]
    text = "\r\n".join(["Datum;Temp °C;Bemerkung", *rows]) + "\r\n"
    (tmp_path / "mine.csv").write_text(text, encoding="utf-8-sig", newline="")
    return tmp_path


def printed(*arguments):
    result = CliRunner().invoke(app, ["run", "model.py", "mine.csv", *arguments])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def levels(folder):
    table = np.genfromtxt(folder / "out" / "table.csv", delimiter=",", names=True)
    return table["level_mean"]


def test_options_read_an_untidy_table_and_a_note_names_the_wrong_row(folder):
    said = printed(*READING, *DATES, "--out", "out")
    assert "60 steps of Temp °C, 2 without a measurement" in said
    (note,) = re.findall(r"note: (.*)", said)
    wrong = START + WRONG * timedelta(days=1)
    line = f"mine.csv:{WRONG + 2} (Datum {wrong:%Y-%m-%dT%H:%M:%S}) is far less likely"
    assert note.startswith(line)
    assert levels(folder)[WRONG] > levels(folder)[WRONG - 1] + 5


def test_heavy_tails_ignore_the_wrong_row(folder):
    """By the change that the tutorial advises."""
    (heavy,) = re.findall(r"`(stats\.t\.logpdf\([^`]*\))`", PAGE)
    model = folder / "model.py"
    model.write_text(model.read_text().replace(GAUSSIAN, heavy))
    printed(*READING, *DATES, "--out", "out")
    assert abs(levels(folder)[WRONG] - levels(folder)[WRONG - 1]) < 1


def test_two_columns_measure_one_level(folder):
    """By the change that the tutorial advises; a cell of the first column is empty."""
    (both,) = re.findall(r"`(np\.nansum\([^`]*\))`", PAGE)
    (noise,) = re.findall(r"`(NOISE = \[[^`]*\])`", PAGE)
    text = (folder / "model.py").read_text().replace(GAUSSIAN, both)
    (folder / "model.py").write_text(
        f"import numpy as np\n{text}".replace("model =", f"{noise}\nmodel =", 1)
    )
    rows = "".join(f"{k},{'' if k == 5 else 6.0},9.0\n" for k in range(9))
    (folder / "mine.csv").write_text(f"day,inside,outside\n{rows}")
    printed("--columns", "inside,outside", "--out", "out")
    both, one = levels(folder)[4:6]
    assert both == pytest.approx(6.6, abs=0.1)  # weights of four and one
    assert one > both + 0.1


def test_a_column_without_a_name_is_called_by_its_place(folder):
    (folder / "mine.csv").write_text(",y\n2024-01-03,6\n2024-01-04,7\n")
    printed("--times", "column 1", "--out", "out")
    assert "2024-01-04" in (folder / "out" / "table.csv").read_text()


def test_further_marks_of_missing_cells_are_added_to_those_that_are_known(folder):
    (folder / "mine.csv").write_text("y\n6\n-\nn.a.\n")
    with pytest.raises(
        InputError, match=r"say --missing -,n\.a\., or .* missing = \['-', 'n\.a\.'\]"
    ):
        read_observations("mine.csv", missing="-")


def test_nothing_is_said_about_usual_rows(folder):
    text = (folder / "mine.csv").read_text(encoding="utf-8-sig")
    (folder / "mine.csv").write_text(text.replace("85,0", ""))
    assert "note:" not in printed(*READING, *DATES)


def test_nothing_is_usual_among_few_rows(folder):
    rows = (folder / "mine.csv").read_text(encoding="utf-8-sig").splitlines()
    few = [rows[0], *rows[WRONG - 3 : WRONG + 3]]
    (folder / "mine.csv").write_text("\n".join(few) + "\n")
    assert "note:" not in printed(*READING, *DATES)


def test_a_program_reads_what_the_command_reads(folder):
    printed(*READING, *DATES, "--out", "out")
    table = read_observations(
        "mine.csv", "Temp °C", "Datum", date_format=DATES[1], decimal=",", missing="-"
    )
    model = runpy.run_path("model.py")["model"]
    result = skh.particle_filter(model, table.values, n=50, rng=0, times=table.times)
    np.testing.assert_array_equal(result.means[:, 0], levels(folder))
    assert np.flatnonzero(np.isnan(table.values[:, 0])).tolist() == [20, 21]
    with pytest.raises(InputError, match=r"mine\.csv:1: there is no column 'Temp'"):
        read_observations("mine.csv", ["Temp"])


def test_numbers_are_dates_if_a_format_says_so(folder):
    (folder / "mine.csv").write_text("day,y\n20240103,6\n20240104,7\n")
    printed("--times", "day", "--date-format", "%Y%m%d", "--out", "out")
    assert "2024-01-04" in (folder / "out" / "table.csv").read_text()


def test_formats_of_dates_are_recognised():
    assert as_date("03.01.2024", "%d.%m.%Y") == np.datetime64("2024-01-03")
    assert as_date("2024-01-03T02:00:00+02:00") == np.datetime64("2024-01-03")
    assert formats_of("31/12/2024 23:59:59") == ["%d/%m/%Y %H:%M:%S"]
    assert [is_date(text) for text in ("2024/01/03", "3.1.24", "tuesday")] == [True, True, False]
