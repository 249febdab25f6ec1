"""The pages on the command, followed literally on short files."""

import re
import sys

from typer.testing import CliRunner

from pages import ROOT
from skh.cli import app

PAGE = (ROOT / "docs" / "own_data.md").read_text()
RATES = """A service
Day YYYY/MM/DD Wdy GBP/USD
1 1997/01/02 Thu 0.50
2 1997/01/03 Fri 0.51
3 1997/01/06 Mon 0.50
4 1997/01/07 Tue 0.49
(C) a professor, somewhere
"""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_works_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    data = tmp_path / "site" / "particles" / "datasets"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("")
    (data / "GBP_vs_USD_9798.txt").write_text(RATES)
    for text in (*blocks("python"), *blocks("toml")):
        (tmp_path / re.match(r"# (\S+)", text)[1]).write_text(text)
    exec((tmp_path / "export.py").read_text(), {})
    assert (tmp_path / "returns.csv").read_text() == (
        "date,return\n1997-01-03,1.98026\n1997-01-06,-1.98026\n1997-01-07,-2.02027\n"
    )
    for line in re.findall(r"\$ skh (.*)", "".join(blocks("console"))):
        arguments = line.replace("--seconds 120", "--seconds 0.2 --repeats 2").split()
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"skh {line}: {result.output}"
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    files = {"plot.png", "run.html", "table.csv"}
    assert {f"gbpusd/{name}" for name in files | {"compare.png"}} <= written
    assert {f"student/{name}" for name in files} <= written


def test_the_ten_minutes_work_as_written(tmp_path, monkeypatch):
    """What the page shows is typed in; hidden cells are not."""
    page = (ROOT / "docs" / "tutorial.md").read_text()
    cells = re.findall(r"```\{code-cell\} ipython3\n(?!:tags:)(.*?)```", page, re.DOTALL)
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    check, run = re.findall(r"^\$ skh (.*)$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # folders of models join it
    scope = {}
    exec(cells[0], scope)
    (tmp_path / "model.py").write_text(program)
    printed = [CliRunner().invoke(app, line.split()) for line in (check, run)]
    assert [result.exit_code for result in printed] == [0, 0], printed
    assert "The model can be filtered." in printed[0].output
    assert "level" in printed[1].output  # the model's name of its state
    assert (tmp_path / "out" / "table.csv").read_text().startswith("step,time,level_mean,")
    for cell in cells[1:]:
        exec(cell, scope)
    assert len(scope["result"].means) == 120
