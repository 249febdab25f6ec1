"""All pages of the built site, opened in a browser: `make browse`, after `make docs`.

Nothing is written to the console, nothing is asked from elsewhere, no picture is missing, no page
is wider than a window or a phone, and links between pages lead to what they name.  The name of this
file keeps it out of `make test`, which builds no site.
"""

import os
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from time import sleep
from urllib.parse import unquote, urlsplit

import pytest

from pages import ROOT

SITE = Path(os.environ.get("SKH_SITE", ROOT / "docs" / "_build" / "html"))
PAGES = sorted(page for page in SITE.glob("**/*.html") if "_static" not in page.parts)
MISSING = "[...document.images].filter(i => i.loading !== 'lazy' && !i.naturalWidth).length"
FORMULAS = (
    "document.querySelectorAll('.math').length <= document.querySelectorAll('mjx-container').length"
)


class Links(HTMLParser):
    """Names that a page has, and what it refers to."""

    def __init__(self, page):
        super().__init__()
        self.names, self.targets = set(), set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.names |= {found.get("id"), found.get("name")}
        self.targets |= {found[key] for key in ("href", "src") if found.get(key)}


@cache
def links(page):
    return Links(page)


def leads_nowhere(page, target):
    address = urlsplit(target)
    if address.scheme or address.netloc:
        return False
    file = (page.parent / unquote(address.path)).resolve() if address.path else page
    known = address.fragment and file.suffix == ".html" and "_modules" not in page.parts
    return not file.exists() or (known and unquote(address.fragment) not in links(file).names)


def test_there_are_pages():
    assert len(PAGES) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SITE)))
def test_links_of_a_built_page_lead_somewhere(page):
    assert [target for target in links(page).targets if leads_nowhere(page, target)] == []


def test_figures_are_drawn_and_not_described():
    assert [page for page in PAGES if "&lt;Figure size" in page.read_text()] == []


@pytest.mark.parametrize(("width", "phone"), [(1280, False), (390, True)])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SITE)))
def test_a_page_fits_and_does_not_complain(page, width, phone, browser):
    with browser.page(page, width, 844, phone=phone) as opened:
        assert opened.fits()
        assert opened.see(MISSING) == 0
        if opened.see("typeof MathJax !== 'undefined'"):
            opened.see("MathJax.startup.promise.then(() => 1)")
            assert opened.see(FORMULAS)
            assert opened.fits()


def test_a_figure_opens_in_full_size(browser):
    opens = "document.querySelector('article a > img').parentElement.href"
    with browser.page(SITE / "when_it_pays.html", 390, 844, phone=True) as opened:
        assert Path(unquote(urlsplit(opened.see(opens)).path)).is_file()
        assert opened.see(opens).endswith("break-even.png")
        opened.see("setTimeout(() => document.querySelector('article a > img').click(), 50)")
        sleep(1.0)
        assert opened.see("location.href").endswith("break-even.png")
        assert opened.see("document.images[0].naturalWidth") > 1000


def test_long_names_break_in_tables_and_keep_their_letters(browser):
    name = "CombinedLinearGaussianTransitionModel([ConstantVelocity(q),"
    words = "[...document.querySelectorAll('article td code .pre')]"
    with browser.page(SITE / "coming_from.html", 390, 844, phone=True) as opened:
        (html,) = opened.see(
            f"{words}.filter(e => e.textContent === '{name}').map(e => e.innerHTML)"
        )
        assert html.replace("<wbr>", "") == name
        assert "Linear<wbr>Gaussian" in html
        tables = "[...document.querySelectorAll('article table')]"
        assert opened.see(f"{tables}.every(e => e.scrollWidth <= e.clientWidth)")


def test_search_finds_a_page(browser):
    with browser.page(SITE / "search.html") as opened:
        opened.see("DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false")  # no requests between files
        opened.see("Search.performSearch('smoothing')")
        opened.see("new Promise(done => setTimeout(done, 1500))")
        assert opened.see("document.querySelectorAll('#search-results li').length") > 3


def test_the_theme_can_be_dark(browser):
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for dark in (False, True):
        with browser.page(SITE / "index.html", dark=dark) as opened:
            seen.append(sum(map(int, opened.see(colour)[4:-1].split(","))))
    assert seen[1] < 150 < 600 < seen[0]
