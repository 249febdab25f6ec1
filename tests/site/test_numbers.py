"""Numbers on pages are those of the records, or declared to have none."""

import json
import sys

import pytest

from pages import ROOT

sys.path.append(str(ROOT / "docs" / "quoted"))
import ledger
import marks
import renew
import tables
import unmarked
import values

PAGES = renew.texts()
PAGE = """
A table of 0.5 s and a mark.
<!-- table some -->
| a | 0.25 |

<!-- end of table -->

It has 0.25, but not 0.75<!-- claims: total -->, 12 ms nor `0.1`, $0.2$ or σ² = 0.3.
"""


@pytest.mark.parametrize("name", PAGES)
def test_pages_quote_the_records(name):
    assert renew.current(PAGES[name]) == PAGES[name], "run: make numbers"


@pytest.mark.parametrize("name", PAGES)
def test_numbers_without_a_record_are_declared(name):
    assert ledger.undeclared(name, PAGES[name]) == [], "see CONTRIBUTING.md, numbers on pages"


def test_unmarked_numbers_are_found():
    assert unmarked.unmarked(PAGE) == (["0.5", "12"], [])
    assert unmarked.unmarked("in 7 of 16 cells, all 9 ns or 3 of\nthe 4") == (["7", "9", "3"], [])
    table = "| a | b |\n|---|---|\n| 0.1 | 0.2 |\n"
    assert unmarked.unmarked(table) == ([], ["| a | b |"])
    assert unmarked.unmarked(unmarked.SETTINGS + table) == ([], [])


def test_numbers_are_renewed_where_they_are_marked():
    new = marks.renewed(PAGE, lambda source: [1234.5], lambda name: "| a | 7 |")
    assert "| a | 7 |\n\n<!-- end" in new
    assert "not 1200<!-- claims: total -->, 12 ms" in new.replace("1234", "1200")
    several = marks.renewed("1.5 (2.0 to 30)<!-- a: b -->", lambda source: [7.25, 0.1, 9.0], None)
    assert several == "7.3 (0.10 to 9.0)<!-- a: b -->"
    with pytest.raises(ValueError, match="2 numbers follows"):
        marks.renewed("only 1<!-- a: b -->", lambda source: [1, 2], None)


def test_sources_that_no_record_has_are_named():
    judged = json.loads((ROOT / "results" / "claims.json").read_text())
    assert values.values("claims: total") == [len(judged)]
    wrong = ("claim: no such claim / ratio", "bench: herding", "cell: second-look / x / 50")
    for source in (*wrong, "ratio: simulators / no such row / epidemic / n = 50"):
        with pytest.raises(KeyError, match="no record has"):
            values.values(source)
    with pytest.raises(KeyError, match="unknown source"):
        values.values("guess: 3")


def test_rows_are_named_by_as_many_cells_as_tell_them_apart():
    text = "| f | n | e |\n|---|---|---|\n| PF | 20 | 0.4 |\n| PF | 50 | 0.2 |\n| QMC | 50 | 0.1 |"
    assert list(values.rows_of(text)) == ["PF, 20", "PF, 50", "QMC"]


def test_ratios_of_rows_are_the_least_and_the_most():
    rows = values.rows_of(tables.table("simulators"))
    found = values.values("ratio: simulators / bootstrap / `noise_dim` / n = 50")
    pairs = [
        values.numbers_in(rows[f"{model}, bootstrap filter"]["n = 50"])[0]
        / values.numbers_in(rows[f"{model}, with `noise_dim`"]["n = 50"])[0]
        for model in ("odometry", "epidemic", "Student-t shocks")
    ]
    assert found == [min(pairs), max(pairs)]
    (single,) = values.values("ratio: simulators / epidemic, boot / epidemic, with / n = 50")
    assert single == pairs[1]


def test_kept_tables_say_how_they_were_printed_and_are_quoted():
    everything = "".join(PAGES.values())
    for file in tables.KEPT.glob("*.md"):
        assert file.read_text().startswith("<!-- "), file
        quoted = f"<!-- table {file.stem} -->", f": {file.stem} / "
        assert any(mark in everything for mark in quoted), file
