"""Pages of the site: each opens with a picture, is listed once, and its code runs."""

import ast
import re
import sys
from textwrap import dedent

import pytest

import skh
from pages import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))
import repository_pages

DOCS = ROOT / "docs"
FOUND = [page for page in DOCS.glob("**/*.md") if "_build" not in page.parts]
PAGES = {page.relative_to(DOCS).with_suffix("").as_posix(): page for page in sorted(FOUND)}
del PAGES["README"]  # for readers of the repository
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:(?: {4}.*)?\n)+")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_with_a_picture(name):
    text, _ = repository_pages.source_of(PAGES[name], PAGES[name].read_text())
    title = re.search(r"^# .*\n", text, re.MULTILINE)
    assert text[title.end() :].lstrip().startswith("!["), name


def test_every_page_is_in_the_table_of_contents_once():
    trees = re.findall(
        r"```\{toctree\}(.*?)```", "".join(p.read_text() for p in PAGES.values()), re.DOTALL
    )
    entries = [line for tree in trees for line in tree.split("\n\n", 1)[1].split()]
    listed = [entry if entry in PAGES else f"gallery/{entry}" for entry in entries]
    assert sorted(listed) == sorted(set(PAGES) - {"index"})


def test_the_list_for_readers_of_the_repository_has_every_page():
    text = (DOCS / "README.md").read_text()
    wrappers = {
        name for name, page in PAGES.items() if repository_pages.SHOWN.match(page.read_text())
    }
    listed = set(re.findall(r"\]\(((?:research/)?\w+)\.md\)", text))
    pages = {name for name in PAGES if not name.startswith("gallery/")}
    assert sorted(pages - wrappers - listed) == ["api", "index"]  # of the site


def test_links_to_programs_lead_to_their_pages():
    text = "[a](../examples/lost.py) [b](../Makefile)"
    pages = repository_pages.shown_pages()
    found = repository_pages.converted(text, DOCS, DOCS / "page.md", pages)
    assert found == "[a](gallery/lost.md) b (`Makefile`)"


def test_the_gallery_has_a_card_for_each_of_its_pages():
    text = (DOCS / "gallery.md").read_text()
    cards = re.findall(
        r"^:::{grid-item-card} .*\n:link: (\S+)\n:link-type: doc\n:img-top: (\S+)\n`(\S+)`\n:::$",
        text,
        re.MULTILINE,
    )
    assert len(cards) == text.count("grid-item-card")
    assert sorted(page for page, _, _ in cards) == [n for n in PAGES if n.startswith("gallery/")]
    programs = {f"examples/{file.name}" for file in ROOT.glob("examples/*.py")}
    assert {program for _, _, program in cards} == programs
    assert all((DOCS / picture).exists() for _, picture, _ in cards)


def test_code_of_every_page_is_run_by_a_test():
    """Cells run when the site is built; blocks of Python by tests that name their page."""
    tests = "".join(file.read_text() for file in ROOT.glob("tests/**/test_*.py"))
    texts = {f"docs/{name}.md": page.read_text() for name, page in PAGES.items()}
    names = [name for name, text in texts.items() if PYTHON.search(text) and "mystnb" not in text]
    assert len(names) > 20
    assert [name for name in names if f'"{name}"' not in tests] == []


def is_python(text):
    """Whether a text is Python that does something."""
    doing = (ast.Assign, ast.Call, ast.FunctionDef, ast.Import, ast.ImportFrom)
    try:
        return any(isinstance(node, doing) for node in ast.walk(ast.parse(dedent(text))))
    except SyntaxError:
        return False


def test_python_is_told_from_other_text():
    texts = ("    f(x)\n", "    skh run data.csv\n", "    date,return\n", "    import skh\n")
    assert [is_python(text) for text in texts] == [True, False, False, True]


@pytest.mark.parametrize("name", PAGES)
def test_python_is_fenced_so_that_it_runs(name):
    blocks = INDENTED.findall(FENCED.sub("", PAGES[name].read_text()))
    assert [block for block in blocks if is_python(block)] == []


@pytest.mark.parametrize(
    "page",
    [
        "docs/index.md",
        "docs/how_it_works.md",
        "docs/second_look.md",
        "docs/default_rule.md",
        "docs/wean_hall.md",
    ],
)
def test_blocks_of_further_pages_run(page, capsys):
    """Some of them go on from a model and its observations."""
    model = skh.models.range_bearing()
    scope = {"skh": skh, "model": model, "ys": model.simulate(5, rng=0)[1]}
    for code in PYTHON.findall((ROOT / page).read_text()):
        exec(code, scope)
    assert {"result", "points", "fix"} & set(scope)
    assert ("print" in code) == bool(capsys.readouterr().out)


def test_the_model_on_the_robots_page_is_that_of_its_example():
    (code,) = PYTHON.findall((ROOT / "docs/robots.md").read_text())
    example = (ROOT / "examples" / "landmarks.py").read_text().split()
    words = [word for word in code.split("prior =")[0].split("#")[0].split() if len(word) > 12]
    assert set(words) <= set(example)


def test_programs_on_the_page_of_your_own_data_run(tmp_path, monkeypatch):
    export, own = PYTHON.findall((ROOT / "docs/own_data.md").read_text())
    days = "\n".join(f"{k} 1997/01/0{k} Fri 1.{k}" for k in range(1, 6))
    (tmp_path / "particles" / "datasets").mkdir(parents=True)
    (tmp_path / "particles" / "__init__.py").touch()
    (tmp_path / "particles" / "datasets" / "GBP_vs_USD_9798.txt").write_text(f"head\n{days}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(export, {})
    lines = (tmp_path / "returns.csv").read_text().splitlines()
    assert lines[:2] == ["date,return", "1997-01-02,8.70114"]
    scope = {}
    exec(own, scope)
    ys = [[float(line.split(",")[1])] for line in lines[1:]]
    assert skh.particle_filter(scope["model"], ys, n=20, rng=0).means.shape == (4, 1)
