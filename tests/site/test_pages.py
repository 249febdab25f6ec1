"""Pages of the site: each opens with a picture, is listed once, and its code runs."""

import re
import sys

import pytest

from pages import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))
import repository_pages

DOCS = ROOT / "docs"
FOUND = [page for page in DOCS.glob("**/*.md") if "_build" not in page.parts]
PAGES = {page.relative_to(DOCS).with_suffix("").as_posix(): page for page in sorted(FOUND)}
del PAGES["README"]  # for readers of the repository
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


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
